"""ShotFinder's own measures, and its verdicts against the truth; `report.toml` has the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from eval.metrics.scored import Measure, Scored, correct, number, restricted, sample_field, tokens
from eval.reports.described import Rule, load_report
from eval.reports.tables import Column
from eval.tasks.shotfinder.scorer import STAGES

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
