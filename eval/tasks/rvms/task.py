"""RVMS-Bench (RACLO): videos and their moments found by a vague memory of them, over a frozen web."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eval.runs.records import Query, TaskInput
from eval.task import Prepared, ScorerOptions, task_opener
from eval.tasks.libraries import FileCounter
from eval.tasks.rvms.construction import FULL, MINI, SAMPLES, build_rvms
from eval.tasks.rvms.dataset import BENCHMARK, TASKS, RvmsInput, RvmsSample, memory_texts, query_of, sample_of
from eval.tasks.rvms.report import REPORT
from eval.tasks.rvms.scorer import CLIP_SCORE, JUDGES, RvmsScore, RvmsScorer
from eval.tasks.rvms.solvers import VARIANTS, RacloSolver, give_target
from eval.tasks.web_task import Variant, WebEnvironment, WebTask
from rag.agents.raclo.records import RacloSettings

if TYPE_CHECKING:
    from rag.settings import Settings


class RvmsTask(WebTask[RacloSettings, RvmsSample]):
    """The registered task; see `WebTask`."""

    benchmark = BENCHMARK
    record_type, records_file = RvmsSample, SAMPLES
    variants = VARIANTS
    report = REPORT
    score_type = RvmsScore
    judges = JUDGES
    parse_row = staticmethod(sample_of)
    query_of = staticmethod(query_of)
    quota = dict.fromkeys(TASKS, 16)

    def stratum(self, record: RvmsSample) -> tuple[str, str]:
        return record.group, record.topic

    open_solver = staticmethod(RacloSolver)

    def addresses(self, record: RvmsSample) -> Sequence[str]:
        return [upload.url for upload in record.uploads]

    def build(self, folder: Path, settings: Settings, progress: FileCounter | None) -> None:  # noqa: ARG002 (of the base class)
        build_rvms(folder, self.shape, progress=progress)

    def input_of(self, record: RvmsSample) -> TaskInput:
        """What a solver sees of a sample."""
        return RvmsInput(record.sample_id, " ".join(memory_texts(record.memory)), memory=record.memory)

    def given(self, variant: Variant[RacloSettings]) -> Callable[[Query, TaskInput], TaskInput] | None:
        return give_target if variant.mode in ("oracle", "chance") else None

    def open_scorer(self, prepared: Prepared[WebEnvironment], options: ScorerOptions) -> RvmsScorer:
        self.refuse(options, threshold=True)
        judge = options.judge or "reasoner"
        threshold = CLIP_SCORE if options.threshold is None else options.threshold
        return RvmsScorer(prepared.environment, prepared.gold, judge, threshold)


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
