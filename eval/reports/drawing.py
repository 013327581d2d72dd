"""Pictures whose bytes depend on nothing but what is drawn: one style, no date, no version, no settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.metrics.estimate import Estimate
from rag.errors import ExtraMissing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "draw", "grouped_bars", "percent_axis"]

COLOURS = ("#7a869a", "#d9730d", "#2f7ed8", "#3c9d6b", "#8e5bb5", "#c2475a")
"""Told apart in grey too; without localization grey, with it orange."""


def draw(path: Path, size: tuple[float, float], paint: Callable[[Figure], None]) -> None:
    """Paint a figure of `size` inches and write it as PNG, whole or not at all.

    The user's matplotlibrc is left out of it. Raises `ExtraMissing` without
    matplotlib.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure as NewFigure
    except ImportError as error:
        raise ExtraMissing(
            "matplotlib not installed; pip install 'offline-video-rag[eval]' brings it"
        ) from error
    with mpl.rc_context(mpl.rcParamsDefault):
        mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
        figure = NewFigure(figsize=size, dpi=120, layout="constrained")
        paint(figure)
        draft = path.with_name(f"{path.name}.part")
        figure.savefig(draft, format="png", metadata={"Software": None})
    os.replace(draft, path)


def percent_axis(axes: Axes, label: str = "%") -> None:
    axes.set_ylim(0, 100)
    axes.set_ylabel(label)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def grouped_bars(axes: Axes, groups: Sequence[str], series: Mapping[str, Sequence[Estimate | None]]) -> None:
    """Bars of each series side by side at each group, in percent, with their intervals."""
    width = 0.8 / max(1, len(series))
    for number, (label, estimates) in enumerate(series.items()):
        at, heights, errors = [], [], []
        for place, estimate in enumerate(estimates):
            if estimate is not None:
                at.append(place + (number - (len(series) - 1) / 2) * width)
                heights.append(100 * estimate.value)
                errors.append(_reach(estimate))
        whiskers: Any = [[low for low, _ in errors], [high for _, high in errors]]
        axes.bar(
            at,
            heights,
            width * 0.92,
            label=label,
            color=COLOURS[number % len(COLOURS)],
            yerr=whiskers if at else None,
            error_kw={"elinewidth": 0.8, "capsize": 2},
        )
    axes.set_xticks(range(len(groups)), groups)
    percent_axis(axes)


def _reach(estimate: Estimate) -> tuple[float, float]:
    """How far the interval goes down and up from the value, in percent."""
    if estimate.low is None or estimate.high is None:
        return 0.0, 0.0
    return (
        100 * max(0.0, estimate.value - estimate.low),
        100 * max(0.0, estimate.high - estimate.value),
    )
