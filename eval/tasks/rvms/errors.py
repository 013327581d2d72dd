"""Where a failed sample went wrong, by rule (RACLO, section 4.5 and appendix G).

generator   no search has the video among its first results: the memory was read wrongly or in part
retriever   one has, but none of its uploads was taken: too few were looked at, or it could not be had
verifier    it was a candidate, and another one was chosen
localizer   it was chosen, and its moment lies more than 2 s beside the event

The first that applies. A sample fails where the answer, recognized or guessed, is no upload of the video,
or where its moment is not on the event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from eval.reports.failures import Failure, Shown
from eval.runs.records import Sample
from eval.tasks.rvms.records import RvmsSample
from rag.agents.raclo.records import RacloRun
from rag.web.catalogue import address

if TYPE_CHECKING:
    from eval.tasks.rvms.scorer import Checked

STAGES = ("generator", "retriever", "verifier", "localizer")


def target_rank(run: RacloRun, sample: RvmsSample) -> int | None:
    """The best rank of any upload of the video in any search, from 1; None where no search has it."""
    wanted = {address(upload.url) for upload in sample.uploads}
    ranks = [
        rank
        for step in run.steps
        if step.kind == "search"
        for rank, result in enumerate(step.data["results"], start=1)
        if address(result["url"]) in wanted
    ]
    return min(ranks, default=None)


def error_of(
    sample: RvmsSample, run: RacloRun, checked: Sequence[Checked], verdict: Mapping[str, Any]
) -> str:
    """One of `STAGES`; empty where nothing failed."""
    if not any(one.true for one in checked):
        return "retriever" if target_rank(run, sample) is not None else "generator"
    if not verdict["answer_true"]:
        return "verifier"
    return "localizer" if moment_found(sample, verdict) is False else ""


def moment_found(sample: RvmsSample, verdict: Mapping[str, Any]) -> bool | None:
    """Whether the answer's moment is the one: on the event, else, where its time is not known, by the judge
    of frames; None where no moment is asked for."""
    found: bool | None = verdict["on_event_answer"] if sample.event is not None else verdict["frame_answer"]
    return found


def failure_of(asked: RvmsSample, sample: Sample, stage: str, file_of: Callable[[str], str]) -> Failure:
    """`file_of`: the file at an address, or nothing."""
    evidence, memory = sample.evidence, asked.memory
    cues = {
        "the whole": memory.global_impression,
        "the moment": memory.key_moment,
        "before": memory.before,
        "after": memory.after,
        "heard": memory.auditory_memory,
    }
    told = {label: text for label, text in cues.items() if text}
    told["misremembered"] = "; ".join(asked.changes) or "nothing"
    told["searches"] = "; ".join(evidence["queries"]) or "none"
    told["the video"] = asked.url
    told["the answer"] = str(evidence["answer"]) or "none"
    shown = []
    if asked.key_time is not None and (true := file_of(asked.url)):
        shown.append(Shown("the true moment", true, asked.key_time))
    time, answer = evidence["answer_time"], str(evidence["answer"])
    if answer and (found := file_of(answer)):
        where = "the moment that was named" if time is not None else "of the video that was named"
        shown.append(Shown(where, found, 0.0 if time is None else float(time)))
    return Failure(stage, told, tuple(shown))
