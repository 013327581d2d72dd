"""Video-BrowseComp: questions over a web of videos (Video-Browser, section 3), published or synthetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.task import Prepared, ProgressCallback, ScorerOptions
from eval.tasks.browsecomp.construction import FULL, MINI, QUESTIONS, build_browsecomp
from eval.tasks.browsecomp.dataset import BENCHMARK, BrowseQuestion, input_of, load_rows, query_of
from eval.tasks.browsecomp.report import REPORT
from eval.tasks.browsecomp.scorer import JUDGES, BrowseScore, BrowseScorer
from eval.tasks.browsecomp.solvers import VARIANTS, open_solver
from eval.tasks.jsonl import published_files, read_records
from eval.tasks.libraries import rendering
from eval.tasks.web_task import WebEnvironment, WebTask
from rag.agents.video_browser.records import BrowserSettings

if TYPE_CHECKING:
    from rag.settings import Settings


class BrowseCompTask(WebTask[BrowserSettings, BrowseQuestion]):
    """The registered task; see `WebTask`."""

    benchmark = BENCHMARK
    variants = VARIANTS
    report = REPORT
    score_type = BrowseScore
    judges = JUDGES
    query_of = staticmethod(query_of)
    input_of = staticmethod(input_of)
    open_solver = staticmethod(open_solver)

    @property
    def fixed_settings(self) -> Mapping[str, Any]:
        """Speech is read from the web's transcripts."""
        ocr = {} if self.shape is None else {"ocr.mode": "on" if self.shape.reads_screen else "off"}
        return {"asr.mode": "off", **ocr}

    def load(
        self, folder: Path, settings: Settings, progress: ProgressCallback | None
    ) -> tuple[Sequence[Path], Mapping[str, BrowseQuestion]]:
        if self.shape is None:
            paths = published_files(folder, BENCHMARK, ".jsonl")
            return paths, load_rows(paths)
        if not (folder / "manifest.json").is_file():
            build_browsecomp(folder, self.shape, settings.encoder, progress=rendering(progress))
        questions = read_records(folder / QUESTIONS, BrowseQuestion)
        return [folder / QUESTIONS], {question.question_id: question for question in questions}

    def open_scorer(self, prepared: Prepared[WebEnvironment], options: ScorerOptions) -> BrowseScorer:
        self.refuse(options)
        return BrowseScorer(prepared.environment.reasoner, prepared.gold, options.judge or "reasoner")


def open_workbench(data: Path | None = None) -> BrowseCompTask:
    """The synthetic benchmark at full size."""
    name = "browsecomp-workbench"
    about = "over 150 questions in three levels over a synthetic web of videos"
    return BrowseCompTask(name, about, data or Path(name), FULL)


def open_mini(data: Path | None = None) -> BrowseCompTask:
    """The synthetic benchmark for trying out."""
    name = "browsecomp-workbench-mini"
    about = "a handful of them over a small web, for trying out"
    return BrowseCompTask(name, about, data or Path(name), MINI)


def open_folder(data: Path | None = None) -> BrowseCompTask:
    """The published questions (`*.jsonl`) beside a `web` folder."""
    about = "Video-BrowseComp's published files over a web of one's own: --data DIR"
    return BrowseCompTask("browsecomp", about, data)
