"""Long videos' own measures, and figure 2 of VideoDetective; `report.toml` has the tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.metrics.scored import Measure, Scored, correct, number, restricted, sample_field, tokens
from eval.metrics.tables import estimate
from eval.reports.described import load_report
from eval.reports.drawing import draw_bars
from eval.reports.spec import Row, Section
from eval.reports.tables import Column
from eval.tasks.longvideo.solvers import SUFFIXES

OURS, UNIFORM = "video-detective", "uniform"
POLICIES = {"anchor": "anchor", "next best": "retry", "neighbour": "neighbour", "gap": "gap"}
"""Of an observation, by the name that the table shows."""

Looks = Sequence[Mapping[str, Any]]


def _spent(scored: Scored) -> float | None:
    return tokens(scored) if scored.sample.tokens else None


def _tokens_of(kind: str) -> Measure:
    return restricted(lambda scored: scored.sample.tokens.get(kind), lambda one: bool(one.sample.tokens))


def _of_moment(name: str) -> Measure:
    """A boolean field, of the questions that one moment decides: not of counts, nor without known times."""
    return restricted(
        number(name),
        lambda one: bool(one.sample.tokens) and one.query.family != "count" and one.query.has_window,
    )


def _of_looks(counted: Callable[[Looks], int]) -> Column:
    """A count over the observations of a question, of the systems that make them."""

    def measure(scored: Scored) -> float | None:
        looks = sample_field(scored, "looks")
        return float(counted(looks)) if isinstance(looks, list) else None

    return Column(measure, decimals=1)


def _under(policy: str) -> Column:
    return _of_looks(lambda looks: sum(look["policy"] == policy for look in looks))


MEASURES: Mapping[str, Measure | Column] = {
    "tokens": Column(_spent),
    "prompt tokens": Column(_tokens_of("prompt")),
    "image tokens": Column(_tokens_of("image")),
    "calls": Column(restricted(number("calls"), lambda one: bool(one.sample.tokens))),
    "moment shown": _of_moment("gold_shown"),
    "words read": _of_moment("gold_read"),
    "observations": _of_looks(len),
    **{name: _under(policy) for name, policy in POLICIES.items()},
    "confirmed": _of_looks(lambda looks: sum(len(look["confirmed"]) for look in looks)),
    "uniform frames": restricted(
        lambda scored: float(bool(sample_field(scored, "fallback"))),
        lambda one: isinstance(sample_field(one, "looks"), list),
    ),
}


def _draw_backbones(section: Section, path: Path, title: str) -> list[str]:
    """Direct inference and VideoDetective (the paper's preset, else ours) of the same model and frames."""
    held: dict[str, dict[str, Row]] = {}
    for row in section.rows:
        frames, model = row.settings.get("frames"), row.settings.get("reasoner")
        held.setdefault(f"{model}, {frames} frames", {})[row.system.partition("@")[0]] = row
    found = {
        name: (rows.get(UNIFORM), rows.get(OURS + SUFFIXES["paper"]) or rows.get(OURS))
        for name, rows in held.items()
    }
    pairs = {name: (direct, ours) for name, (direct, ours) in found.items() if direct and ours}
    if not pairs:
        return []
    series = {
        "direct inference": [estimate(correct, direct.samples) for direct, _ in pairs.values()],
        "VideoDetective": [estimate(correct, ours.samples) for _, ours in pairs.values()],
    }
    return draw_bars(path, title, [(list(pairs), {"": series})], label="% right")


REPORT = load_report("eval.tasks.longvideo", MEASURES, figures={"figure2_backbones": _draw_backbones})
