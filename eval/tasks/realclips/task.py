"""Real footage as a task: videos and a file of queries, searched with the user's own settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from corpora.identity import file_sha256
from eval.metrics.localization import temporal_iou
from eval.metrics.scored import Measure, restricted
from eval.reports.described import load_report
from eval.runs.records import ClipWindow, Output, Query, Score
from eval.task import ExactScorer, Footage, Prepared, ProgressCallback, Task, task_settings
from eval.tasks.libraries import fingerprints
from eval.tasks.realclips.cases import ABSENT, FOUND, MOMENT, Case, inputs_of, read_cases
from eval.tasks.realclips.solvers import NO_WINDOWS, SOLVERS
from eval.tasks.videos import NamedVideos, find_videos, index_videos
from rag.errors import UsageError

if TYPE_CHECKING:
    from rag.settings import Settings

RIGHT_IOU = 0.5
"""IoU with the gold at which a window is right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipScore(Score):
    """Right: the first video is relevant; the first window reaches IoU 0.5; nothing is said to match."""

    rank: int = 0
    """Rank of the first relevant video, from 1; 0 where none is among the hits."""
    iou: float | None = None
    """IoU of the first window with the gold seconds; None for a system that only finds videos."""


@dataclass(frozen=True)
class ClipScorer(ExactScorer):
    """Exact; needs no judge."""

    gold: Mapping[str, Case]

    def score(self, query: Query, output: Output) -> Score:
        """Compare the videos or the first window of one output with the gold."""
        if query.family == ABSENT:
            return ClipScore(correct=not output.evidence.get("matched", True))
        if query.family == MOMENT and output.evidence.get(NO_WINDOWS):
            return ClipScore(correct=False)
        if query.family == MOMENT:
            iou = _first_iou(output.windows, query)
            return ClipScore(correct=iou >= RIGHT_IOU, iou=round(iou, 6))
        relevant = self.gold[query.query_id].relevant
        names = [clip.clip_id for clip in output.clips]
        rank = next((at for at, name in enumerate(names, start=1) if name in relevant), 0)
        return ClipScore(correct=rank == 1, rank=rank)


def _first_iou(windows: tuple[ClipWindow, ...], query: Query) -> float:
    first = next((one for one in windows if one.clip_id == query.video), None)
    return temporal_iou((first.start, first.end), query.window) if first else 0.0


def _of(family: str, measure: Callable[[Mapping[str, Any]], float | None]) -> Measure:
    """A measure of the evidence, of the queries of a family alone."""
    return restricted(
        lambda scored: measure(scored.sample.evidence), lambda scored: scored.query.family == family
    )


def _within(first: int) -> Measure:
    return _of(FOUND, lambda held: float(0 < held.get("rank", 0) <= first))


def _matched(family: str) -> Measure:
    """Whether anything was said to match; None of a system that does not say it."""
    return _of(family, lambda held: None if "matched" not in held else float(held["matched"]))


MEASURES: Mapping[str, Measure] = {
    "R@1": _within(1),
    "R@5": _within(5),
    "MRR": _of(FOUND, lambda held: 1 / held["rank"] if held.get("rank") else 0.0),
    f"R@1 IoU>={RIGHT_IOU}": _of(
        MOMENT, lambda held: float(held["iou"] >= RIGHT_IOU) if "iou" in held else None
    ),
    "mIoU": _of(MOMENT, lambda held: held.get("iou")),
    "present, matched": _matched(FOUND),
    "absent, matched": _matched(ABSENT),
}


class RealClipsTask(Task[NamedVideos]):
    """Videos and one file of queries below a folder; the library is made with the user's settings."""

    name = "realclips"
    about = (
        "real footage: which video shows it, when, and whether any does: --data DIR, videos and a JSON file"
    )
    report = load_report("eval.tasks.realclips", MEASURES)
    score_type = ClipScore
    solvers = SOLVERS
    measures: ClassVar[Mapping[str, Measure]] = MEASURES

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder

    def prepare(self, settings: Settings, progress: ProgressCallback | None = None) -> Prepared[NamedVideos]:
        folder = self.folder
        if folder is None or not folder.is_dir():
            where = "" if folder is None else f"{folder}: no such folder; "
            raise UsageError(
                f"{where}realclips needs --data DIR, the folder with the videos and a file of queries"
            )
        path, cases = read_cases(folder)
        chosen = task_settings(self.name, settings, folder / "library", {})
        found = find_videos(folder, {name: [name] for name in cases.files}, {})
        videos = index_videos(found, chosen, progress)
        queries = [case.asked(family) for family, held in cases.by_family.items() for case in held]
        return Prepared(
            queries=queries,
            inputs=inputs_of(cases),
            environment=NamedVideos(videos.library, videos.paths),
            dataset={path.name: file_sha256(path)},
            encoders=fingerprints(videos.library),
            gold={case.id: case for held in cases.by_family.values() for case in held},
            skipped=videos.skipped_queries(queries),
        )

    def open_scorer(self, prepared: Prepared[NamedVideos]) -> ClipScorer:
        return ClipScorer(prepared.gold)

    def footage(self, prepared: Prepared[NamedVideos], name: str) -> Footage | None:
        return prepared.environment.footage(name)


def open_folder(data: Path | None = None) -> RealClipsTask:
    """The function of the entry point."""
    return RealClipsTask(data)
