"""The picture of one sample: the score at each moment of the gold video, and frames of windows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.records import Frames
from eval.reports.drawing import COLOURS, draw, plain
from eval.runs.records import ClipWindow, Query, Sample, skip_reason
from eval.task import Footage, Prepared, Task
from localization.sampling import midpoints
from rag.errors import UsageError
from rag.questions import parse_question
from rag.reasoners.roles.questions import ANCHOR_EVENT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from eval.reports.spec import Labels

GOLD = COLOURS[3]
FOUND = COLOURS[1]
ANCHOR = COLOURS[2]


def draw_sample(
    task: Task[Any], prepared: Prepared[Any], query: Query, sample: Sample, path: Path, frames: int
) -> None:
    """PNG: the score at each moment with gold event, anchor and window found; below, a row a window.

    The first row is the gold event (or what the task's report calls it) where the query has one, the others
    are the windows of the system. Raises `UsageError` where there is nothing to see, `ExtraMissing` without
    matplotlib.
    """
    gold = [ClipWindow(query.video, *query.window, 0.0)] if query.has_window else []
    windows = [*gold, *_cited(query, sample)]
    if skip_reason(sample):
        raise UsageError("the query was not asked")
    if not windows:
        raise UsageError("the gold interval is unknown, and the system gives no window")
    shown = [(window, task.footage(prepared, window.clip_id)) for window in windows]
    if all(footage is None for _, footage in shown):
        raise UsageError(f"{task.name} shows no frames of {query.query_id}")
    strips = [(window, _frames(footage, window, frames) if footage else None) for window, footage in shown]
    curve = _curve(task.footage(prepared, query.video), query)
    labels = task.report.data.labels

    def paint(figure: Figure) -> None:
        chosen = f"{sample.choice or 'no answer'}, " if query.options else ""
        verdict = f"{'right' if sample.correct else 'wrong'}: {chosen}gold {plain(query.answer)}"
        figure.suptitle(f"{query.query_id} ({query.family}), {verdict}", fontsize=11)
        halves: Any = figure.subfigures(2, 1, height_ratios=[2.4, max(1, 1.35 * len(windows))])
        top, below = halves
        _plot(top.subplots(), query, sample, curve, labels)
        panels = below.subplots(len(windows), 1, squeeze=False)
        for place, (window, held) in enumerate(strips):
            is_gold = place < len(gold)
            name = f"gold {labels.window}" if is_gold else f"{place + 1 - len(gold)}. {plain(window.clip_id)}"
            colour = GOLD if is_gold else FOUND if window.clip_id == query.video else "#333333"
            title = f"{name}  {window.start:.1f}-{window.end:.1f} s"
            panels[place][0].set_title(title, fontsize=7, loc="left", color=colour)
            _strip(panels[place][0], held)

    draw(path, (11, 2.9 + 1.45 * len(windows)), paint)


def _cited(query: Query, sample: Sample) -> Sequence[ClipWindow]:
    """The windows of the clips retrieved; and the gold clip's, where that was not among them."""
    found = list(sample.windows)
    inside = sample.gold_window_found
    if inside is not None and all(window.clip_id != query.video for window in found):
        found.append(ClipWindow(query.video, *inside, 0.0))
    return found


def _frames(footage: Footage, window: ClipWindow, count: int) -> Frames:
    """`count` frames of a window, at the middles of as many equal parts."""
    path = footage.library.path_of(footage.video_id)
    return footage.library.engine.read_frames(path, midpoints(window.start, window.end, count))


Curve = tuple[Any, Any, str]
"""Times and scores, float64 (n,) each, and the words that they are of."""


def _curve(footage: Footage | None, query: Query) -> Curve:
    """The score by which `rag localize` finds the words; of a question with options, its event."""
    words = query.text
    if footage is None:
        return (), (), words
    engine = footage.library.engine
    if query.options:
        question = parse_question(query.text, query.options, query.query_id)
        anchor = engine.reasoner.run(ANCHOR_EVENT, question)
        words = anchor.target or anchor.description
    found = engine.new_retriever().score_curve(footage.video_id, words)
    inside = (found.times >= footage.start) & (found.times < footage.end)
    return found.times[inside], found.scores[inside], words


def _plot(axes: Axes, query: Query, sample: Sample, curve: Curve, labels: Labels) -> None:
    times, scores, words = curve
    axes.plot(times, scores, color="#333333", linewidth=1.2)
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
    axes.set_xlabel(f"seconds of {plain(query.video)}")
    axes.set_ylabel("score")
    axes.set_title(plain(words)[:140], fontsize=8)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=7, loc="upper right")


def _strip(axes: Axes, frames: Frames | None) -> None:
    """One window's frames in a row, each with its time."""
    axes.set_axis_off()
    if frames is None or not len(frames.images):
        return
    count, height, width, _ = frames.images.shape
    gap = max(1, width // 40)
    row = np.full((height, count * (width + gap) - gap, 3), 255, np.uint8)
    for number, (time, image) in enumerate(zip(frames.times, frames.images, strict=True)):
        left = number * (width + gap)
        row[:, left : left + width] = image
        axes.text(left + width * 0.02, height * 0.96, f"{time:.1f}", fontsize=6, color="white")
    axes.imshow(row)
