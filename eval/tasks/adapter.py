"""Temporary: the four tasks that still have the `Benchmark`/`System` protocol, as `Task` objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from corpora.records import Frames
from eval.reports.failures import Failure
from eval.reports.spec import ReportSpec
from eval.runs.progress import FileCounter, ProgressCallback
from eval.runs.progress import indexing as _indexing
from eval.runs.progress import rendering as _rendering
from eval.runs.records import ClipWindow, Explanation, Output, Query, Sample, Score, make_sample
from eval.task import Prepared, Scorer, ScorerOptions, SolverSpec, Task
from rag.settings import Settings

_PROGRESS: ContextVar[ProgressCallback | None] = ContextVar("progress", default=None)


class System(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    def answer(self, query: Query) -> Sample: ...


def drawing() -> FileCounter | None:
    return _rendering(_PROGRESS.get())


def indexing() -> FileCounter | None:
    return _indexing(_PROGRESS.get())


@contextmanager
def watched(say: ProgressCallback | None) -> Iterator[None]:
    token = _PROGRESS.set(say)
    try:
        yield
    finally:
        _PROGRESS.reset(token)


def sample_of(query: Query, choice: str | None, **fields: Any) -> Sample:
    own = {name: fields.pop(name) for name in ("gold_frames",) if name in fields}
    output = Output(choice=choice, frames_read={query.video: own.get("gold_frames", ())}, **fields)
    return make_sample(query, output, Score(choice == query.answer))


@dataclass
class StoredSolver:
    system: System
    answered: dict[str, Sample]

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.system.settings

    def solve(self, asked: Query) -> Output:
        sample = self.system.answer(asked)
        self.answered[asked.query_id] = sample
        return Output(
            choice=sample.choice,
            scores=sample.scores,
            confidence=sample.confidence,
            clips=sample.clips,
            passages=sample.passages,
            windows=sample.windows,
            frames_read={sample.video: sample.gold_frames},
            evidence=sample.evidence,
            tokens=sample.tokens,
            parse_failure=sample.parse_failure,
            timings=sample.timings,
        )

    def localize(self, asked: Query, clip_id: str) -> tuple[float, float] | None:  # noqa: ARG002
        return self.answered[asked.query_id].gold_window_found


@dataclass
class StoredScorer:
    answered: dict[str, Sample]
    settings: Mapping[str, Any]

    def score(self, query: Query, output: Output) -> Score:  # noqa: ARG002
        return Score(self.answered[query.query_id].correct)


class LegacyTask(Task[Any]):
    def __init__(self, benchmark: Any, report: ReportSpec, about: str) -> None:
        self.benchmark = benchmark
        self.name = benchmark.name
        self.folder = benchmark.place
        self.report = report
        self.about = about
        self.answered: dict[str, Sample] = {}

    @property
    def solvers(self) -> Mapping[str, SolverSpec[Any]]:
        return {name: self._spec(name, about) for name, about in self.benchmark.systems().items()}

    def solver(self, name: str) -> SolverSpec[Any]:
        return self.solvers.get(name) or self._spec(name, "")

    def _spec(self, name: str, about: str) -> SolverSpec[Any]:
        return SolverSpec(about, partial(self._open, name), given=lambda query, _: query)  # type: ignore[arg-type,return-value]

    def _open(self, name: str, _: Any, seed: int) -> StoredSolver:
        return StoredSolver(self.benchmark.open_system(name, seed), self.answered)

    def prepare(self, settings: Settings, progress: ProgressCallback | None = None) -> Prepared[Any]:  # noqa: ARG002
        with watched(progress):
            queries = tuple(self.benchmark.queries)
            return Prepared(
                queries,
                {query.query_id: query for query in queries},
                self.benchmark,
                self.benchmark.dataset,
                self.benchmark.encoders,
            )

    def open_scorer(self, prepared: Prepared[Any], options: ScorerOptions) -> Scorer:  # noqa: ARG002
        self.refuse(options)
        return StoredScorer(self.answered, {})

    def explain(
        self,
        prepared: Prepared[Any],  # noqa: ARG002
        query: Query,
        windows: Sequence[ClipWindow],
        frames: int,
    ) -> Explanation:
        found: Explanation = self.benchmark.explain(query.query_id, windows, frames)
        return found

    def failure(self, prepared: Prepared[Any], query: Query, sample: Sample) -> Failure | None:
        if not hasattr(self.benchmark, "failure"):
            return super().failure(prepared, query, sample)
        found: Failure | None = self.benchmark.failure(query, sample)
        return found

    def frame_reader(self, prepared: Prepared[Any]) -> Callable[[str, Any], Frames]:  # noqa: ARG002
        reader: Callable[[str, Any], Frames] = self.benchmark.read_frames
        return reader


def legacy(
    opening: Callable[[Path | None], Any], report: ReportSpec, about: str
) -> Callable[[Path | None], LegacyTask]:
    def opened(data: Path | None = None) -> LegacyTask:
        return LegacyTask(opening(data), report, about)

    return opened
