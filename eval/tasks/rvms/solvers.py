"""A system on queries by memory: one run each, checked against the truth, and told as a sample."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from eval.runs.records import ClipScore, Query, Sample
from eval.tasks.rvms.controls import (
    chance_run,
    failed_run,
    metadata_run,
    oracle_run,
)
from eval.tasks.rvms.errors import error_of, moment_found, target_rank
from eval.tasks.rvms.records import RvmsSample
from eval.tasks.rvms.scorer import Checked, Checker, verdict_of
from eval.tasks.rvms.systems import Way
from rag.agents.raclo.agent import run_raclo
from rag.agents.raclo.records import RacloRun
from rag.agents.raclo.settings import RacloSettings
from rag.agents.runtime.frame_source import FrameSource
from rag.errors import BudgetSpent, FileProblem, ReasonerUnreachable, ReplyInvalid, WebError
from rag.reasoners.roles import Memory, Reasoner
from rag.reasoners.token_counting import with_token_counts

if TYPE_CHECKING:
    from rag.web import MockWeb


def told(memory: Memory) -> str:
    """All cues that are told, one behind the other."""
    parts = (memory.global_impression, memory.key_moment, memory.before, memory.after, memory.auditory_memory)
    return " ".join(part for part in parts if part)


def query_of(sample: RvmsSample) -> Query:
    """As the evaluation asks it: open; the family is the task, the gold window the true shot."""
    gold = sample.uploads[0].video_id or sample.url
    asked = sample.shot if sample.asks_moment and sample.shot is not None else (0.0, 0.0)
    return Query(
        query_id=sample.sample_id,
        text=told(sample.memory),
        options=(),
        answer=sample.url,
        family=sample.task,
        video=gold,
        cluster=gold,
        window=asked,
        order=(),
        seen=sample.event if sample.asks_moment else None,
    )


@dataclass
class RacloSolver:
    """A `System`. Every query meets the web as its first visitor.

    `answer` raises `ReasonerUnreachable` where the reasoner is gone: an outage is no wrong answer, and a
    run of the evaluation goes on where it stopped.
    """

    name: str
    chosen: RacloSettings
    way: Way
    samples: Mapping[str, RvmsSample]
    web: MockWeb
    reasoner: Reasoner
    second: Reasoner | None
    frame_source: FrameSource
    seed: int

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            **asdict(self.chosen),
            "way": self.way,
            "web": self.web.fingerprint,
            "reasoner": self.reasoner.fingerprint,
            "second": "" if self.second is None else self.second.fingerprint,
            "tokens": with_token_counts(self.reasoner)[1],
        }

    def answer(self, query: Query) -> Sample:
        sample = self.samples[query.query_id]
        run = self._run(sample)
        if run.failure == ReasonerUnreachable.__name__:
            raise ReasonerUnreachable(
                f"{query.query_id}: the reasoner went silent, so this query is not answered wrongly but "
                "not at all; the same command goes on here"
            )
        checked = [self._checker.check(sample, candidate) for candidate in run.candidates]
        verdict = verdict_of(sample, checked, run.chosen)
        found = bool(verdict["answer_true"]) and moment_found(sample, verdict) is not False
        return Sample(
            query_id=query.query_id,
            family=query.family,
            video=query.video,
            cluster=query.cluster,
            choice=None,
            correct=found,
            unshuffled_choice=None,
            confidence=0.0 if run.answer is None else run.answer.fit,
            clips=_ranked(run),
            gold_window_found=_window(run, checked),
            evidence=self._evidence(sample, run, checked, verdict),
            tokens={"all": run.tokens},
            parse_failure="ReplyInvalid" in run.failures,
            timings=dict(run.timings),
        )

    def _run(self, sample: RvmsSample) -> RacloRun:
        memory, web = sample.memory, self.web.session()
        try:
            if self.way == "metadata":
                return metadata_run(self._counted, memory, web, self.chosen)
            if self.way == "oracle":
                return oracle_run(self._counted, memory, web, self.frame_source, sample.url, self.chosen)
            if self.way == "chance":
                digest = hashlib.sha256(f"{self.seed} {sample.sample_id}".encode()).digest()
                return chance_run(memory, web, sample.url, int.from_bytes(digest[:8], "big") / 2**64)
        except (ReplyInvalid, BudgetSpent, WebError, FileProblem) as error:
            # As the agent has it: what cannot be read or had costs a query, not the run.
            return failed_run(memory, error, self._counted.usage())
        return run_raclo(memory, web, self._counted, self.frame_source, self.chosen, second=self.second)

    def _evidence(
        self, sample: RvmsSample, run: RacloRun, checked: list[Checked], verdict: Mapping[str, Any]
    ) -> dict[str, Any]:
        answer = run.answer
        return {
            **verdict,
            "moment_id": sample.moment_id,
            "group": sample.group,
            "topic": sample.topic,
            "changes": list(sample.changes),
            "matched": run.matched,
            "chosen": run.chosen,
            "answer": "" if answer is None else answer.url,
            "answer_time": None if answer is None or answer.moment is None else answer.moment.time,
            "candidates": [one.line() for one in checked],
            "queries": list(run.queries),
            "target_rank": target_rank(run, sample),
            "searches": run.searches,
            "failure": run.failure,
            "failures": list(run.failures),
            "error_stage": error_of(sample, run, checked, verdict),
        }

    @cached_property
    def _counted(self) -> Reasoner:
        return with_token_counts(self.reasoner)[0]

    @cached_property
    def _checker(self) -> Checker:
        return Checker(self.web, self.frame_source, self.reasoner, self.second)


def _ranked(run: RacloRun) -> tuple[ClipScore, ...]:
    """The chosen candidate, then the others as they were found."""
    first = [] if run.answer is None else [run.answer]
    ordered = first + [one for at, one in enumerate(run.candidates) if at != run.chosen]
    return tuple(ClipScore(one.video_id or one.url, 1 / rank) for rank, one in enumerate(ordered, start=1))


def _window(run: RacloRun, checked: list[Checked]) -> tuple[float, float] | None:
    """What was localized inside the original itself; a copy has another clock."""
    for candidate, one in zip(run.candidates, checked, strict=True):
        if one.rule and candidate.moment is not None:
            return candidate.moment.start, candidate.moment.end
    return None
