"""One sample as a picture: the score curve over the gold clip, and the windows that were looked at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.reports.drawing import COLOURS, draw
from eval.reports.spec import Labels
from eval.runs.records import Explanation, Query, Sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GOLD = COLOURS[3]
FOUND = COLOURS[1]
ANCHOR = COLOURS[2]


def draw_explanation(
    query: Query, sample: Sample, explanation: Explanation, path: Path, labels: Labels
) -> None:
    """PNG: the similarity at each moment with gold event, anchor and window found; below, a row a window.

    The first of `explanation.windows` is the gold event (or what `labels` calls it) where the query has one,
    the others are those of the system. Raises `ExtraMissing` without matplotlib.
    """
    rows = len(explanation.windows)

    def paint(figure: Figure) -> None:
        chosen = f"{sample.choice or 'no answer'}, " if query.options else ""
        verdict = f"{'right' if sample.correct else 'wrong'}: {chosen}gold {_plain(query.answer)}"
        figure.suptitle(f"{query.query_id} ({query.family}), {verdict}", fontsize=11)
        halves: Any = figure.subfigures(2, 1, height_ratios=[2.4, max(1, 1.35 * rows)])
        top, below = halves
        _curve(top.subplots(), query, sample, explanation, labels)
        panels = below.subplots(max(1, rows), 1, squeeze=False)
        for place, window in enumerate(explanation.windows):
            gold = place == 0 and query.has_window
            rank = place + (not query.has_window)
            name = f"gold {labels.window}" if gold else f"{rank}. {_plain(window.clip_id)}"
            _strip(panels[place][0], place, name, query, explanation)

    draw(path, (11, 2.9 + 1.45 * max(1, rows)), paint)


def _curve(axes: Axes, query: Query, sample: Sample, explanation: Explanation, labels: Labels) -> None:
    axes.plot(explanation.times, explanation.similarity, color="#333333", linewidth=1.2)
    if query.has_window:
        axes.axvspan(*query.window, color=GOLD, alpha=0.3, label=f"gold {labels.window}")
    if query.seen is not None:
        axes.axvspan(*query.seen, color=GOLD, alpha=0.35, label=labels.seen)
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
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=7, loc="upper right")


def _strip(axes: Axes, place: int, name: str, query: Query, explanation: Explanation) -> None:
    """One window's frames in a row, its name above; a window of the gold clip has its colour."""
    import numpy as np

    window, frames = explanation.windows[place], explanation.frames[place]
    axes.set_axis_off()
    colour = (
        GOLD if place == 0 and query.has_window else FOUND if window.clip_id == query.video else "#333333"
    )
    title = f"{name}  {window.start:.1f}-{window.end:.1f} s"
    axes.set_title(title, fontsize=7, loc="left", color=colour)
    if not len(frames.images):
        return
    count, height, width, _ = frames.images.shape
    gap = max(1, width // 40)
    row = np.full((height, count * (width + gap) - gap, 3), 255, np.uint8)
    for number, (time, image) in enumerate(zip(frames.times, frames.images, strict=True)):
        left = number * (width + gap)
        row[:, left : left + width] = image
        axes.text(left + width * 0.02, height * 0.96, f"{time:.1f}", fontsize=6, color="white")
    axes.imshow(row)


def _plain(text: str) -> str:
    """Characters that steer neither a terminal nor matplotlib's formulas."""
    from rag.rendering.terminal import visible

    return visible(text).replace("$", r"\$")
