"""Video-BrowseComp: questions over a web of videos (Video-Browser, section 3), published or synthetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.task import Prepared, ScorerOptions, task_opener
from eval.tasks.browsecomp.construction import FULL, MINI, QUESTIONS, build_browsecomp
from eval.tasks.browsecomp.dataset import BENCHMARK, BrowseQuestion, input_of, query_of, question_of
from eval.tasks.browsecomp.report import REPORT
from eval.tasks.browsecomp.scorer import JUDGES, BrowseScore, BrowseScorer
from eval.tasks.browsecomp.solvers import VARIANTS, VideoBrowserSolver
from eval.tasks.libraries import FileCounter
from eval.tasks.web_task import WebEnvironment, WebTask
from rag.agents.video_browser.records import BrowserSettings

if TYPE_CHECKING:
    from rag.settings import Settings


class BrowseCompTask(WebTask[BrowserSettings, BrowseQuestion]):
    """The registered task; see `WebTask`."""

    benchmark = BENCHMARK
    record_type, records_file = BrowseQuestion, QUESTIONS
    variants = VARIANTS
    report = REPORT
    score_type = BrowseScore
    judges = JUDGES
    parse_row = staticmethod(question_of)
    query_of = staticmethod(query_of)
    input_of = staticmethod(input_of)
    open_solver = staticmethod(VideoBrowserSolver)

    @property
    def fixed_settings(self) -> Mapping[str, Any]:
        """As of the base class, with text on the screen of rendered videos where questions need it."""
        if self.shape is None:
            return {}
        return {"asr.mode": "off", "ocr.mode": "on" if self.shape.reads_screen else "off"}

    def addresses(self, record: BrowseQuestion) -> Sequence[str]:
        return [url for source in record.evidence for url in source.urls]

    def build(self, folder: Path, settings: Settings, progress: FileCounter | None) -> None:
        build_browsecomp(folder, self.shape, settings.encoder, progress=progress)

    def open_scorer(self, prepared: Prepared[WebEnvironment], options: ScorerOptions) -> BrowseScorer:
        self.refuse(options)
        return BrowseScorer(prepared.environment.reasoner, prepared.gold, options.judge or "reasoner")


open_workbench = task_opener(
    BrowseCompTask,
    "browsecomp-workbench",
    "over 150 questions in three levels over a synthetic web of videos",
    FULL,
)
open_mini = task_opener(
    BrowseCompTask, "browsecomp-workbench-mini", "a handful of them over a small web, for trying out", MINI
)
open_folder = task_opener(
    BrowseCompTask, "browsecomp", "Video-BrowseComp's published files over a web of one's own: --data DIR"
)
