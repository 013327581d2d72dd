"""ShotFinder: one shot found in a web by its description and one constraint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.metrics.scored import Measure, Scored, correct, number, restricted, sample_field, tokens
from eval.reports.described import Rule, load_report
from eval.reports.tables import Column
from eval.task import Prepared, task_opener
from eval.tasks.shotfinder.dataset import (
    BENCHMARK,
    QUOTA,
    Place,
    ShotQuery,
    input_of,
    query_of,
    shot_query,
    stated,
)
from eval.tasks.shotfinder.scorer import STAGES, SearchScore, ShotScorer
from eval.tasks.shotfinder.solvers import VARIANTS, ShotFinderSolver, open_solver
from eval.tasks.web_task import SyntheticWeb, Variant, WebEnvironment, WebTask
from rag.agents.shotfinder.records import ShotSettings

if TYPE_CHECKING:
    from rag.web.catalogue import Catalogue

RULES = ("truth", "moment", "strict", "strict, any candidate", "lenient, any candidate", "clip")


def by_rule(name: str) -> Measure:
    """1 where that rule counts the sample as correct; None where the rule does not apply."""

    def measure(scored: Scored) -> float | None:
        verdict = sample_field(scored, "rules", {}).get(name)
        return None if verdict is None else float(verdict)

    return measure


def in_right_video(scored: Scored) -> float | None:
    """1 where the returned frame is in the right video; None without a ground-truth time."""
    if not scored.query.has_window:
        return None
    shot = sample_field(scored, "shot")
    return float(shot is not None and shot["video_id"] == scored.query.video)


def _stage(name: str) -> Measure:
    return lambda scored: float(sample_field(scored, "stage", "") == name)


MEASURES: Mapping[str, Measure | Column] = {
    **{name: by_rule(name) for name in RULES},
    **{stage: _stage(stage) for stage in STAGES},
    "in the right video": in_right_video,
    "hit within the shot, in the right video": restricted(correct, lambda one: in_right_video(one) == 1),
    "seconds from the shot, in the right video": Column(number("off_by"), decimals=2),
    "searches": Column(lambda scored: float(sample_field(scored, "searches", 1)), decimals=2),
    "videos": Column(lambda scored: float(len(scored.sample.clips)), decimals=2),
    "tokens": Column(tokens),
}


def _frames(verdict: str, truth: str) -> Rule:
    """Over every candidate's frame. `truth`: of the right shot, or `moment`, which ignores the constraint."""

    def judged(scored: Scored) -> Iterator[tuple[bool | None, bool | None]]:
        for frame in sample_field(scored, "judged", []):
            yield frame.get(verdict), frame.get(truth)

    return judged


REPORT = load_report(
    "eval.tasks.shotfinder",
    MEASURES,
    rules={
        "shot: verifier": _frames("strict", "truth"),
        "moment: verifier": _frames("strict", "moment"),
        "shot: CLIP at 0.7": _frames("by_clip", "truth"),
        "moment: CLIP at 0.7": _frames("by_clip", "moment"),
    },
)


class ShotFinderTask(WebTask[ShotSettings, ShotQuery]):
    """The registered task; see `WebTask`."""

    benchmark = BENCHMARK
    record_type, records_file = ShotQuery, "queries.jsonl"
    variants = VARIANTS
    report = REPORT
    score_type = SearchScore
    query_of = staticmethod(query_of)
    input_of = staticmethod(input_of)
    quota = QUOTA

    def stratum(self, record: ShotQuery) -> tuple[str, str]:
        return record.value or stated(record.constraints), record.topic

    def open_solver(
        self, variant: Variant[ShotSettings], environment: WebEnvironment, seed: int
    ) -> ShotFinderSolver:
        return open_solver(variant, environment, seed)

    def parse_row(self, fields: Any, fallback: str) -> ShotQuery:
        return shot_query(self.folder or Path(), fields, fallback)

    def addresses(self, record: ShotQuery) -> Sequence[str]:
        return record.gold.urls

    def with_contents(self, record: ShotQuery, catalogue: Catalogue) -> ShotQuery:
        """Content ids in place of file names."""
        ids = {entry.url: entry.content_id for entry in catalogue.videos}

        def held(place: Place) -> Place:
            return replace(place, video_id=ids[place.urls[0]])

        return replace(record, gold=held(record.gold), twins=tuple(map(held, record.twins)))

    def open_scorer(self, prepared: Prepared[WebEnvironment]) -> ShotScorer:
        return ShotScorer(prepared.environment, prepared.gold, self.folder or Path())


_DRAFTED = Path(__file__).with_name("workbench")
FULL = SyntheticWeb(_DRAFTED / "full")
"""Videos in families: of the colour, style, sound or resolution task two videos of the same stories. Each is
asked for the same shots, so that for every query there is a shot that fits the description as well and not
the constraint. A temporal video shows one story twice, and only the shots before and after differ."""
MINI = SyntheticWeb(_DRAFTED / "mini")
open_workbench = task_opener(
    ShotFinderTask,
    "shotfinder-workbench",
    "240 shots with one constraint each, over a synthetic web of short videos in families",
    FULL,
)
open_mini = task_opener(
    ShotFinderTask, "shotfinder-workbench-mini", "22 of them over a small web, for trying out", MINI
)


def open_folder(data: Path | None = None, balanced: str = "") -> ShotFinderTask:
    """Published rows over a web of one's own. `balanced`: a seed, for the 140 queries of figure 4."""
    about = (
        "ShotFinder's published rows over a web of one's own: --data DIR; shotfinder:balanced=SEED takes 140 "
        "of them, as figure 4"
    )
    return ShotFinderTask("shotfinder", about, data, balanced=balanced)
