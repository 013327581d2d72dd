"""EgoFact as a task: the paper's questions over rendered or found clips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from eval.metrics.intervals import Estimate
from eval.metrics.localization import event_shown, judged
from eval.metrics.scored import Measure, Scored, sample_field
from eval.metrics.tables import estimate
from eval.reports.described import load_report
from eval.reports.spec import Section
from eval.runs.records import ClipWindow, Explanation, Query
from eval.task import Prepared, ProgressCallback, SolverSpec, Task, task_opener
from eval.tasks.egofact.dataset import (
    HARD,
    HARD_DEV,
    HARD_MINI,
    MINI_SIZE,
    PAPER_SIZE,
    Workbench,
    prepare_egofact,
)
from eval.tasks.egofact.scorer import EgoFactScore, EgoFactScorer
from eval.tasks.egofact.solvers.registry import SOLVERS, Environment, solver_of
from eval.tasks.libraries import window_frames
from rag.errors import UsageError
from rag.questions import parse_question
from rag.reasoners.roles.anchor_event import ANCHOR_EVENT

if TYPE_CHECKING:
    from rag.settings import Settings

LETTERS = "ABCDEF"
"""Before shuffling; F is the right option (section 2.2)."""
FACTS = "BDF"


def chose(letters: str) -> Measure:
    """1 where one of `letters` was chosen, in the paper's order.

    There A, C and E of a two-hop query are counter-facts, and B, D and F facts. Counted over two-hop queries
    whose gold passage was retrieved; no answer is none of the letters. Options are shown shuffled, so that a
    liking for a position does not show here.
    """
    return lambda scored: (
        float((scored.sample.unshuffled_choice or "-") in letters) if scored.passage_found else None
    )


chose_fact = chose(FACTS)


def letter_shares(samples: Sequence[Scored]) -> dict[str, Estimate | None]:
    """Share of each letter (figure 5); they sum to 1 less no answer."""
    return {letter: estimate(chose(letter), samples) for letter in LETTERS}


def _judges(section: Section) -> Mapping[str, str]:
    """Who judged understanding, and on what."""
    models = {sample_field(each, "understood_by", "") for row in section.rows for each in row.samples}
    lines = [
        f"{model} holds the caption that the answer was read off for enough to answer (D.1)."
        for model in sorted(models - {""})
    ]
    return {"judges": " ".join(lines) or "by no model in these runs."}


MEASURES: Mapping[str, Measure] = {
    "judged": judged,
    "event shown": event_shown,
    **{letter: chose(letter) for letter in LETTERS},
    "facts (B, D, F)": chose_fact,
}
REPORT = load_report("eval.tasks.egofact", MEASURES, facts=_judges)


HARD_ABOUT = "396 questions over 400 clips in families, which differ in what is done"


class EgoFactTask(Task[Environment]):
    """`made`: what is rendered; None for files from elsewhere."""

    report = REPORT
    score_type = EgoFactScore
    judges: ClassVar[Mapping[str, str]] = {
        "model": "the judge model: whether the caption that was read says enough to answer"
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

    def open_scorer(self, prepared: Prepared[Environment], judge: str | None = None) -> EgoFactScorer:
        self.check_judge(judge)
        library = prepared.environment.corpus.library
        settings = library.settings.reasoner.of_part("judge")
        if settings.kind != "embedded":
            return EgoFactScorer(library.engine.reasoner, settings.model or settings.kind)
        if judge is not None:
            raise UsageError(f"{self.name}: judge {judge!r} is a language model; set reasoner.kind")
        return EgoFactScorer()

    def results(self, samples: Sequence[Scored]) -> Mapping[str, Any]:
        return {"letters": letter_shares(samples)}

    def explain(
        self, prepared: Prepared[Environment], query: Query, windows: Sequence[ClipWindow], frames: int
    ) -> Explanation:
        corpus = prepared.environment.corpus
        engine = corpus.library.engine
        question = parse_question(query.text, query.options, query.query_id)
        anchor = engine.reasoner.run(ANCHOR_EVENT, question)
        event = anchor.target or anchor.description
        stored = corpus.frames[query.video]
        similarity = stored.vectors.astype(np.float64) @ corpus.vector(event).astype(np.float64)
        shown = tuple(
            window_frames(corpus.library, corpus.path(corpus.clips[window.clip_id]), window, frames)
            for window in windows
        )
        return Explanation(stored.times, similarity.round(6), tuple(windows), shown, event)


open_workbench = task_opener(
    EgoFactTask,
    "egofact-workbench",
    "396 questions of one and two hops over 127 rendered clips and their passages",
    PAPER_SIZE,
)
open_mini = task_opener(
    EgoFactTask, "egofact-workbench-mini", "a tenth of egofact-workbench, for trying out", MINI_SIZE
)
open_hard = task_opener(EgoFactTask, "egofact-workbench-hard", f"{HARD_ABOUT}, test split", HARD)
open_hard_dev = task_opener(EgoFactTask, "egofact-workbench-hard-dev", f"{HARD_ABOUT}, dev split", HARD_DEV)
open_hard_mini = task_opener(
    EgoFactTask,
    "egofact-workbench-hard-mini",
    "two small families of egofact-workbench-hard, for trying out",
    HARD_MINI,
)
open_folder = task_opener(
    EgoFactTask, "egofact", "files of the same format from elsewhere, as of Ego4D and WikiHow: --data DIR"
)
