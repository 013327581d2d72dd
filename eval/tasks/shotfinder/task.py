"""ShotFinder: one shot found in a web by its description and one constraint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.reports.failures import Failure
from eval.runs.records import Query, Sample
from eval.task import Prepared, ProgressCallback, ScorerOptions
from eval.tasks.jsonl import published_files, read_records
from eval.tasks.libraries import rendering
from eval.tasks.shotfinder.construction import FULL, MINI, QUERIES, build_shotfinder
from eval.tasks.shotfinder.dataset import BENCHMARK, ShotQuery, input_of, load_rows, query_of
from eval.tasks.shotfinder.report import REPORT
from eval.tasks.shotfinder.scorer import (
    CLIP_THRESHOLD,
    JUDGES,
    FrameStore,
    SearchScore,
    ShotScorer,
    failure_of,
)
from eval.tasks.shotfinder.solvers import VARIANTS, open_solver
from eval.tasks.web_task import WebEnvironment, WebTask
from rag.agents.shotfinder.records import ShotSettings

if TYPE_CHECKING:
    from rag.settings import Settings


class ShotFinderTask(WebTask[ShotSettings, ShotQuery]):
    """The registered task; see `WebTask`."""

    benchmark = BENCHMARK
    variants = VARIANTS
    report = REPORT
    score_type = SearchScore
    judges = JUDGES
    query_of = staticmethod(query_of)
    input_of = staticmethod(input_of)
    open_solver = staticmethod(open_solver)

    @property
    def fixed_settings(self) -> Mapping[str, Any]:
        """Rendered videos have neither speech nor text on the screen."""
        return {"asr.mode": "off", "ocr.mode": "off"} if self.shape else {}

    def load(
        self,
        folder: Path,
        settings: Settings,  # noqa: ARG002 (the protocol's)
        progress: ProgressCallback | None,
    ) -> tuple[Sequence[Path], Mapping[str, ShotQuery]]:
        if self.shape is None:
            paths = published_files(folder, BENCHMARK, ".jsonl", ".json")
            return paths, load_rows(paths, folder)
        if not (folder / "manifest.json").is_file():
            build_shotfinder(folder, self.shape, progress=rendering(progress))
        queries = read_records(folder / QUERIES, ShotQuery)
        return [folder / QUERIES], {query.query_id: query for query in queries}

    def open_scorer(self, prepared: Prepared[WebEnvironment], options: ScorerOptions) -> ShotScorer:
        self.refuse(options, threshold=True)
        environment = prepared.environment
        frames = FrameStore(environment.library, environment.reasoner.reads_pixels, environment.encoder)
        return ShotScorer(
            environment,
            prepared.gold,
            frames,
            self.folder or Path(),
            options.judge or "reasoner",
            CLIP_THRESHOLD if options.threshold is None else options.threshold,
        )

    def failure(self, prepared: Prepared[WebEnvironment], query: Query, sample: Sample) -> Failure | None:
        return failure_of(prepared.gold[query.query_id], sample, prepared.environment.path_of)


def open_workbench(data: Path | None = None) -> ShotFinderTask:
    """The synthetic benchmark at full size."""
    name = "shotfinder-workbench"
    about = "240 shots with one constraint each, over a synthetic web of short videos in families"
    return ShotFinderTask(name, about, data or Path(name), FULL)


def open_mini(data: Path | None = None) -> ShotFinderTask:
    """The synthetic benchmark for trying out."""
    name = "shotfinder-workbench-mini"
    return ShotFinderTask(name, "22 of them over a small web, for trying out", data or Path(name), MINI)


def open_folder(data: Path | None = None) -> ShotFinderTask:
    """The published rows (`*.json`, `*.jsonl`) with `images`, beside a `web` folder."""
    return ShotFinderTask(
        "shotfinder", "ShotFinder's published rows over a web of one's own: --data DIR", data
    )
