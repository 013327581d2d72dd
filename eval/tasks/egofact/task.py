"""EgoFact as a task: the paper's questions over rendered or found clips."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from eval.metrics.localization import event_shown, judged
from eval.metrics.scored import Measure, sample_field
from eval.reports.described import load_report
from eval.reports.spec import Section
from eval.task import Footage, Prepared, ProgressCallback, SolverSpec, Task, task_opener
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
from rag.errors import UsageError

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


def _judges(section: Section) -> Mapping[str, str]:
    """Who judged understanding, and on what."""
    models = {sample_field(each, "understood_by", "") for row in section.rows for each in row.samples}
    lines = [
        f"{model} holds the caption that the answer was read off for enough to answer (D.1)."
        for model in sorted(models - {""})
    ]
    return {"judges": " ".join(lines) or "by no model in these runs."}


SHARES: Mapping[str, Measure] = {letter: chose(letter) for letter in LETTERS}
"""Share of each letter (figure 5); with no answer they sum to 1."""
MEASURES: Mapping[str, Measure] = {
    "judged": judged,
    "event shown": event_shown,
    **SHARES,
    "facts (B, D, F)": chose_fact,
}
REPORT = load_report("eval.tasks.egofact", MEASURES, facts=_judges)


HARD_ABOUT = "396 questions over 400 clips in families, which differ in what is done"


class EgoFactTask(Task[Environment]):
    """`made`: what is rendered; None for files from elsewhere."""

    report = REPORT
    score_type = EgoFactScore
    solvers = SOLVERS
    measures: ClassVar[Mapping[str, Measure]] = {"facts chosen": chose_fact, **SHARES}

    def __init__(self, name: str, about: str, folder: Path | None, made: Workbench | None) -> None:
        self.name, self.about, self.folder, self.made = name, about, folder, made

    def solver(self, name: str) -> SolverSpec[Environment]:
        return solver_of(name)

    def prepare(self, settings: Settings, progress: ProgressCallback | None = None) -> Prepared[Environment]:
        if self.folder is None:
            raise UsageError(f"{self.name} needs --data DIR, the folder with videos.jsonl and queries.jsonl")
        return prepare_egofact(self.name, self.folder, self.made, settings, progress)

    def open_scorer(self, prepared: Prepared[Environment]) -> EgoFactScorer:
        library = prepared.environment.corpus.library
        settings = library.settings.reasoner.of_part("judge")
        if settings.kind != "embedded":
            return EgoFactScorer(library.engine.reasoner, settings.model or settings.kind)
        return EgoFactScorer()

    def footage(self, prepared: Prepared[Environment], name: str) -> Footage | None:
        corpus = prepared.environment.corpus
        clip = corpus.clips.get(name)
        return Footage(corpus.library, clip.video_id, clip.start, clip.end) if clip else None


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
