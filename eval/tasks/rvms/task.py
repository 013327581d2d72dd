"""RVMS-Bench (RACLO): videos and their moments found by a vague memory of them, over a frozen web."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from eval.metrics.intervals import Estimate
from eval.metrics.pairing import Paired, compare
from eval.metrics.scored import Measure, Scored, correct, number, restricted, sample_field
from eval.reports.described import Rule, load_report
from eval.reports.spec import Section
from eval.reports.tables import Column
from eval.runs.records import Query, TaskInput
from eval.task import Prepared, task_opener
from eval.tasks.rvms.dataset import BENCHMARK, TASKS, RvmsInput, RvmsSample, memory_texts, query_of, sample_of
from eval.tasks.rvms.scorer import CLIP_SCORE, STAGES, RvmsScore, RvmsScorer
from eval.tasks.rvms.solvers import VARIANTS, RacloSolver, give_target
from eval.tasks.web_task import SyntheticWeb, Variant, WebEnvironment, WebTask
from rag.agents.raclo.records import RacloSettings

if TYPE_CHECKING:
    from rag.web.catalogue import Catalogue

FULL_CUES = "GKTA"
CUED = ("raclo", "raclo-stored")
"""The systems whose cues are compared: of a control or an ablation the comparison means nothing."""
COMPARED: Mapping[str, Measure] = {
    "rule": number("rule"),
    "content": number("content"),
    "frame": number("frame"),
    "event": number("on_event"),
    "found": correct,
}


def median_error(samples: Sequence[Scored]) -> Estimate | None:
    """Median seconds between moment and key time over candidates that show the video; without an interval."""
    timed = [one for one in samples if sample_field(one, "error") is not None]
    clusters = len({one.query.cluster for one in timed})
    errors = [float(sample_field(one, "error")) for one in timed]
    return Estimate(median(errors), len(errors), clusters, None, None) if errors else None


def _stage(name: str) -> Measure:
    return lambda scored: float(sample_field(scored, "error_stage", "") == name)


MEASURES: Mapping[str, Measure | Column] = {
    **COMPARED,
    "model+rule": number("model_rule"),
    "shot": number("in_shot"),
    "answer's video": restricted(number("answer_true"), lambda scored: "K" in scored.query.family),
    "answer's shot": number("in_shot_answer"),
    "median error, s": Column(number("error"), "amount", 1, median_error),
    **{stage: _stage(stage) for stage in STAGES},
}
"""Any candidate may meet a measure, unless its name says that it is of the answer."""


def _candidates(verdict: Callable[[Mapping[str, Any]], bool | None], truth: str) -> Rule:
    """Every candidate's verdict, and its truth; None where it cannot be decided."""

    def judged(scored: Scored) -> Iterator[tuple[bool | None, bool | None]]:
        for candidate in sample_field(scored, "candidates", ()):
            yield verdict(candidate), candidate[truth]

    return judged


def _by_score(name: str) -> Callable[[Mapping[str, Any]], bool | None]:
    return lambda candidate: None if candidate[name] is None else candidate[name] >= CLIP_SCORE


RULES: Mapping[str, Rule] = {
    "video: model": _candidates(lambda candidate: candidate["model"], "true"),
    "video: CLIP score": _candidates(_by_score("video_score"), "true"),
    "moment: model": _candidates(lambda candidate: candidate["frame"], "in_shot"),
    "moment: CLIP score": _candidates(_by_score("frame_score"), "in_shot"),
}


def _cues(section: Section) -> Mapping[tuple[str, ...], Paired]:
    """All cues against single ones, on the same moments."""
    pairs: dict[tuple[str, ...], Paired] = {}
    for row in section.rows:
        for other in ("G", "K") if row.system in CUED else ():
            ours, theirs = (_by_moment(row.samples, task) for task in (FULL_CUES, other))
            for name, measure in COMPARED.items():
                pair = compare(ours, theirs, measure)
                if pair is not None:
                    pairs[f"{row.label}, {FULL_CUES}", f"{row.label}, {other}", name] = replace(
                        pair, unpaired=0
                    )
    return pairs


def _by_moment(samples: Sequence[Scored], task: str) -> list[Scored]:
    """The samples of a task, with the moment in place of the query."""
    return [
        replace(one, query=replace(one.query, query_id=str(sample_field(one, "moment_id"))))
        for one in samples
        if one.query.family == task
    ]


REPORT = load_report("eval.tasks.rvms", MEASURES, rules=RULES, pairs={"cues": _cues})


class RvmsTask(WebTask[RacloSettings, RvmsSample]):
    """The registered task; see `WebTask`."""

    benchmark = BENCHMARK
    record_type, records_file = RvmsSample, "samples.jsonl"
    variants = VARIANTS
    report = REPORT
    score_type = RvmsScore
    parse_row = staticmethod(sample_of)
    query_of = staticmethod(query_of)
    quota = dict.fromkeys(TASKS, 16)

    def stratum(self, record: RvmsSample) -> tuple[str, str]:
        return record.group, record.topic

    open_solver = staticmethod(RacloSolver)

    def addresses(self, record: RvmsSample) -> Sequence[str]:
        return [upload.url for upload in record.uploads]

    def with_contents(self, record: RvmsSample, catalogue: Catalogue) -> RvmsSample:
        by_url = {entry.url: entry for entry in catalogue.videos}
        uploads = tuple(replace(one, video_id=by_url[one.url].content_id) for one in record.uploads)
        return replace(record, uploads=uploads)

    def input_of(self, record: RvmsSample) -> TaskInput:
        """What a solver sees of a sample."""
        return RvmsInput(record.sample_id, " ".join(memory_texts(record.memory)), memory=record.memory)

    def given(self, variant: Variant[RacloSettings]) -> Callable[[Query, TaskInput], TaskInput] | None:
        return give_target if variant.mode in ("oracle", "chance") else None

    def open_scorer(self, prepared: Prepared[WebEnvironment]) -> RvmsScorer:
        return RvmsScorer(prepared.environment, prepared.gold)


_DRAFTED = Path(__file__).with_name("workbench")
FULL = SyntheticWeb(_DRAFTED / "full")
"""A target video has an occasion and a detail, stated in its description and remembered in other words.
Other videos share one of them, so that no search for a single fact leads to one video alone."""
MINI = SyntheticWeb(_DRAFTED / "mini")
open_workbench = task_opener(
    RvmsTask,
    "rvms-workbench",
    "432 queries by memory for 48 moments of 16 synthetic videos, under nine sets of cues",
    FULL,
)
open_mini = task_opener(RvmsTask, "rvms-workbench-mini", "18 of them over a small web, for trying out", MINI)


def open_folder(data: Path | None = None, balanced: str = "") -> RvmsTask:
    """Published rows over a web of one's own. `balanced`: a seed, for a tenth of them, as in figure 4."""
    about = (
        "RVMS-Bench's published rows over a web of one's own: --data DIR; rvms:balanced=SEED takes 144 of "
        "them, as figure 4"
    )
    return RvmsTask("rvms", about, data, balanced=balanced)
