"""EgoFact as a task: the paper's questions over rendered or found clips, and before their filter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from eval.metrics.scored import Measure, Scored
from eval.runs.progress import ProgressCallback
from eval.runs.records import ClipWindow, Explanation, Query
from eval.task import Prepared, ScorerOptions, SolverSpec, Task
from eval.tasks.egofact.dataset import MINI_SIZE, PAPER_SIZE, Workbench, prepare_egofact
from eval.tasks.egofact.letters import chose_fact, letter_shares
from eval.tasks.egofact.records import EgoFactInput
from eval.tasks.egofact.report import REPORT
from eval.tasks.egofact.scorer import EgoFactScore, EgoFactScorer
from eval.tasks.egofact.solvers.captions import SURE
from eval.tasks.egofact.solvers.finding import Asked
from eval.tasks.egofact.solvers.registry import CONTROLS, SOLVERS, Environment, solver_of
from eval.tasks.egofact.unfiltered import prepare_unfiltered
from rag.errors import UsageError
from rag.library import Library

if TYPE_CHECKING:
    from corpora.records import Frames
    from eval.reports.failures import ReadFrames
    from rag.settings import Settings


class EgoFactTask(Task[Environment]):
    """`made`: what is rendered; None for files from elsewhere."""

    report = REPORT
    score_type = EgoFactScore
    judges: ClassVar[Mapping[str, str]] = {
        "captions": "captions of the frames that were read, held against the event asked for"
    }
    measures: ClassVar[Mapping[str, Measure]] = {"facts chosen": chose_fact}

    def __init__(self, name: str, about: str, folder: Path | None, made: Workbench | None) -> None:
        self.name, self.about, self.folder, self.made = name, about, folder, made

    @property
    def solvers(self) -> Mapping[str, SolverSpec[Environment]]:
        return SOLVERS

    def solver(self, name: str) -> SolverSpec[Environment]:
        return solver_of(name)

    def prepare(self, settings: Settings, progress: ProgressCallback | None = None) -> Prepared[Environment]:
        if self.folder is None:
            raise UsageError(f"{self.name} needs --data DIR, the folder with videos.jsonl and queries.jsonl")
        return prepare_egofact(self.name, self.folder, self.made, settings, progress)

    def open_scorer(self, prepared: Prepared[Environment], options: ScorerOptions) -> EgoFactScorer:
        self.refuse(options, threshold=True)
        threshold = SURE if options.threshold is None else options.threshold
        return EgoFactScorer(prepared.environment.captioner, threshold)

    def results(self, samples: Sequence[Scored]) -> Mapping[str, Any]:
        return {"letters": letter_shares(samples)}

    def explain(
        self, prepared: Prepared[Environment], query: Query, windows: Sequence[ClipWindow], frames: int
    ) -> Explanation:
        corpus = prepared.environment.corpus
        asked = Asked.of(corpus, EgoFactInput(query.query_id, query.text, query.options))
        stored = corpus.frames[query.video]
        fits = stored.vectors.astype(np.float64) @ corpus.vector(asked.event).astype(np.float64)
        paths = [corpus.path(corpus.clips[window.clip_id]) for window in windows]
        shown = [
            frames_of(corpus.library, path, window, frames)
            for path, window in zip(paths, windows, strict=True)
        ]
        return Explanation(
            stored.times, fits.round(6), tuple(windows), tuple(shown), tuple(paths), asked.event
        )

    def frame_reader(self, prepared: Prepared[Environment]) -> ReadFrames:
        return prepared.environment.corpus.library.read_frames


class UnfilteredTask(EgoFactTask):
    """The controls alone: no video is rendered."""

    judges: ClassVar[Mapping[str, str]] = {}

    @property
    def solvers(self) -> Mapping[str, SolverSpec[Environment]]:
        return {name: SOLVERS[name] for name in CONTROLS}

    def solver(self, name: str) -> SolverSpec[Environment]:
        if name not in CONTROLS:
            raise UsageError(f"{self.name} renders no videos; it has {', '.join(CONTROLS)}")
        return SOLVERS[name]

    def prepare(self, settings: Settings, progress: ProgressCallback | None = None) -> Prepared[Environment]:  # noqa: ARG002 (nothing takes long)
        assert self.folder is not None, "it has a default place"
        return prepare_unfiltered(self.name, self.folder, self.made or PAPER_SIZE, settings)

    def open_scorer(self, prepared: Prepared[Environment], options: ScorerOptions) -> EgoFactScorer:  # noqa: ARG002 (no judge)
        self.refuse(options)
        return EgoFactScorer(None)

    def explain(
        self,
        prepared: Prepared[Environment],  # noqa: ARG002 (of the task)
        query: Query,
        windows: Sequence[ClipWindow],  # noqa: ARG002 (as above)
        frames: int,  # noqa: ARG002 (as above)
    ) -> Explanation:
        raise UsageError(f"{self.name} renders no videos, so {query.query_id} cannot be shown")


def frames_of(library: Library, path: str, window: ClipWindow, count: int) -> Frames:
    """`count` frames of a window: the middles of as many equal parts."""
    step = (window.end - window.start) / count
    return library.read_frames(path, np.round(window.start + step * (np.arange(count) + 0.5), 6))


def open_workbench(data: Path | None = None) -> EgoFactTask:
    name, about = (
        "egofact-workbench",
        "396 questions of one and two hops over 127 rendered clips and their passages",
    )
    return EgoFactTask(name, about, data or Path(name), PAPER_SIZE)


def open_mini(data: Path | None = None) -> EgoFactTask:
    name, about = "egofact-workbench-mini", "a tenth of egofact-workbench, for trying out"
    return EgoFactTask(name, about, data or Path(name), MINI_SIZE)


def open_unfiltered(data: Path | None = None) -> EgoFactTask:
    """All candidates of five worlds of the paper's size."""
    name = "egofact-workbench-unfiltered"
    about = "its questions and those of four other seeds before the non-triviality filter, for the controls"
    return UnfilteredTask(name, about, data or Path(name), PAPER_SIZE)


def open_folder(data: Path | None = None) -> EgoFactTask:
    """Files of the same format from elsewhere: Ego4D clips and WikiHow passages of one's own."""
    about = "files of the same format from elsewhere, as of Ego4D and WikiHow: --data DIR"
    return EgoFactTask("egofact", about, data, None)
