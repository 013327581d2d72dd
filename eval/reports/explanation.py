"""One sample as a picture: the score curve over the gold clip, and the windows that were looked at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.reports.drawing import COLOURS, draw
from eval.runs.records import ClipWindow, Explanation, Query, Sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_explanation"]

GOLD = COLOURS[3]
FOUND = COLOURS[1]
ANCHOR = COLOURS[2]


def draw_explanation(query: Query, sample: Sample, explanation: Explanation, path: Path) -> None:
    """PNG: the similarity at each moment with gold event, anchor and window found; below, a row a window.

    The first of `explanation.windows` is the gold event, the others are those
    of the system. Raises `ExtraMissing` without matplotlib.
    """
    rows = len(explanation.windows)

    def paint(figure: Figure) -> None:
        verdict = f"{sample.choice or 'no answer'}, gold {query.answer}"
        figure.suptitle(f"{query.query_id} ({query.family}): {verdict}", fontsize=11)
        halves: Any = figure.subfigures(2, 1, height_ratios=[2.4, max(1, 1.35 * rows)])
        top, below = halves
        _curve(top.subplots(), query, sample, explanation)
        most = max((len(frames.times) for frames in explanation.frames), default=1)
        panels = below.subplots(max(1, rows), max(1, most), squeeze=False)
        for line in panels:
            for axes in line:
                axes.set_axis_off()
        for place, window in enumerate(explanation.windows):
            _strip(panels[place], place, window, query, explanation)

    draw(path, (11, 2.9 + 1.45 * max(1, rows)), paint)


def _curve(axes: Axes, query: Query, sample: Sample, explanation: Explanation) -> None:
    axes.plot(explanation.times, explanation.similarity, color="#333333", linewidth=1.2)
    axes.axvspan(*query.window, color=GOLD, alpha=0.3, label="gold event")
    if query.seen is not None:
        axes.axvspan(*query.seen, color=GOLD, alpha=0.35, label="object shows")
    if query.anchor is not None:
        axes.axvspan(*query.anchor, color=ANCHOR, alpha=0.2, label=f"anchor ({query.position})")
    if sample.gold_window_found is not None:
        for edge in sample.gold_window_found:
            axes.axvline(edge, color=FOUND, linewidth=1.6)
        axes.axvspan(*sample.gold_window_found, color=FOUND, alpha=0.12, label="window found")
    axes.set_xlabel(f"seconds of {_plain(query.video)}")
    axes.set_ylabel("similarity")
    if explanation.words:
        axes.set_title(_plain(explanation.words)[:140], fontsize=8)
    axes.legend(frameon=False, fontsize=7, loc="upper right")


def _strip(line: list[Axes], place: int, window: ClipWindow, query: Query, explanation: Explanation) -> None:
    """One window's pictures, its name over the first; a window of the gold clip is told by its colour."""
    frames = explanation.frames[place]
    for axes, time, image in zip(line, frames.times, frames.images, strict=False):
        axes.imshow(image)
        axes.text(0.02, 0.04, f"{time:.1f}", transform=axes.transAxes, fontsize=6, color="white")
    name = "gold event" if place == 0 else f"{place}. {_plain(window.clip_id)}"
    colour = GOLD if place == 0 else FOUND if window.clip_id == query.video else "#333333"
    title = f"{name}  {window.start:.1f}-{window.end:.1f} s"
    line[0].set_title(title, fontsize=7, loc="left", color=colour)


def _plain(text: str) -> str:
    """Characters that steer neither a terminal nor matplotlib's formulas."""
    from rag.rendering.terminal import visible

    return visible(text).replace("$", r"\$")
