"""The window before or after an anchor event.

EgoFact, D.2.4: the anchor event is localized first; if its position is
`before` or `after`, "we shift the localization window by 1 second
accordingly". Both ways are here: `shift` (the paper's) and `adjacent`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from localization.windows import TIME_STEP, Span, best_window, span_mean, window_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Position = Literal["before", "after", "within"]
Method = Literal["shift", "adjacent"]


@dataclass(frozen=True, slots=True)
class Anchored:
    """The anchor event's window, and the one to watch; they are equal for `within`."""

    anchor: Span
    watched: Span


def anchored_window(
    times: ArrayLike,
    similarity: ArrayLike,
    *,
    start: float,
    end: float,
    length: float,
    position: Position = "within",
    shift_seconds: float = 1.0,
    method: Method = "shift",
    target: ArrayLike | None = None,
) -> Anchored:
    """Localize the anchor, then the part to watch, both inside the clip [start, end).

    `times`, `similarity` (to the anchor event): float64 (n,), and `length` as in `best_window`.
    `method="shift"`: the anchor's window, `shift_seconds` earlier or later (EgoFact, D.2.4),
    stopped at the clip's edge.
    `method="adjacent"`: the best window that shares no time with the anchor's and lies wholly
    before or after it, by `target`, float64 (n,) similarity to the watched event (default: `similarity`);
    where none fits into the clip, the window that reaches furthest that way.
    The watched window's score is the mean of the similarity that chose it; where the shifted
    window has no frame it keeps the anchor's. Raises `ValueError` as `best_window` does.
    """
    anchor = best_window(times, similarity, start=start, end=end, length=length)
    if position == "within":
        return Anchored(anchor, anchor)
    if method == "adjacent":
        values = similarity if target is None else target
        watched = _adjacent(times, values, anchor, position, start=start, end=end, length=length)
        return Anchored(anchor, watched)
    moved = shifted(anchor.start, anchor.end, position, shift_seconds, start=start, end=end)
    return Anchored(anchor, _measured(times, similarity, moved, anchor))


def shifted(
    window_start: float,
    window_end: float,
    position: Position,
    shift_seconds: float,
    *,
    start: float,
    end: float,
) -> tuple[float, float]:
    """[window_start, window_end) moved by `shift_seconds`, kept whole and inside the clip [start, end)."""
    if shift_seconds < 0:
        raise ValueError(f"shift_seconds must not be negative, is {shift_seconds}")
    if position == "before":
        moved = max(start, window_start - shift_seconds)
        return moved, moved + (window_end - window_start)
    if position == "after":
        moved = min(end, window_end + shift_seconds)
        return moved - (window_end - window_start), moved
    return window_start, window_end


def _adjacent(
    times: ArrayLike,
    similarity: ArrayLike,
    anchor: Span,
    position: Position,
    *,
    start: float,
    end: float,
    length: float,
) -> Span:
    scores = window_scores(times, similarity, start=start, end=end, length=length)
    if position == "before":
        allowed = scores.ends <= anchor.start + TIME_STEP
        furthest = scores.span(0)
    else:
        allowed = scores.starts >= anchor.end - TIME_STEP
        furthest = scores.span(len(scores.starts) - 1)
    if not allowed.any():
        return furthest
    return scores.span(int(np.argmax(np.where(allowed, scores.micro, np.iinfo(np.int64).min))))


def _measured(times: ArrayLike, similarity: ArrayLike, moved: tuple[float, float], anchor: Span) -> Span:
    if abs(moved[0] - anchor.start) < TIME_STEP:
        return anchor
    found = span_mean(times, similarity, start=moved[0], end=moved[1])
    return found or replace(anchor, start=moved[0], end=moved[1], first=anchor.last, last=anchor.last)
