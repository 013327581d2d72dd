"""Windows around events that are shorter than the window, and windows before or after an anchor event.

A window of 5 s that contains an event of 2 s has the same mean wherever in it the
event is, so noise decides whether the window cuts it. Here the best stretch
of an event's length is found first, by the same sliding mean (EgoFact, section
4.1), and the window is centred on it.

For "before" and "after", EgoFact (D.2.4) localizes the anchor event, and "we shift the localization
window by 1 second accordingly" (`shift`). Two other ways, not in the paper: `adjacent` takes the best window
next to the anchor's; `paired_event` finds the anchor and the event asked for together, the pair of stretches,
in the right order and at most `REACH` seconds apart (EgoFact, C.2.2: consecutive events within 4 s), with
the greatest sum of standardised similarities.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from localization.settings import LENGTHS
from localization.windows import (
    TIME_STEP,
    Span,
    WindowScores,
    best_window,
    greedy_nms,
    span_mean,
    window_scores,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


FLAT = 1e-3
"""Least standard deviation to divide by: a flat curve stays flat."""
REACH = 4.0
"""Seconds from the end of one event to the start of the next, at most (EgoFact, C.2.2)."""
SLACK = 1.0
"""Seconds by which two stretches may overlap, since events differ in length."""


def standardised(similarity: ArrayLike) -> NDArray[np.float64]:
    """float64 (n,) less its mean, over its standard deviation (at least 0.001)."""
    values = np.asarray(similarity, np.float64)
    return np.asarray((values - values.mean()) / max(float(values.std()), FLAT), np.float64)


def event_windows(
    times: ArrayLike,
    similarity: ArrayLike,
    *,
    start: float,
    end: float,
    length: float,
    event_seconds: float,
    count: int,
    overlap: float = 0.0,
) -> list[Span]:
    """Up to `count` windows of `length` around the best stretches of `event_seconds` in [start, end).

    `times`, `similarity`: float64 (n,) as in `best_window`. Best first, no two of an IoU above `overlap`
    (greedy NMS over the windows, by the stretches' scores). The score of each is its stretch's mean
    similarity; `first` and `last` count the frames of the window. Raises `ValueError` as `best_window` does.
    """
    events = window_scores(times, similarity, start=start, end=end, length=min(event_seconds, length))
    width = min(length, end - start)
    starts = np.minimum(np.maximum(start, (events.starts + events.ends - width) / 2), end - width)
    chosen = greedy_nms(events.micro, starts, starts + width, count, overlap)
    return [centred(times, events.span(at), start=start, end=end, length=length) for at in chosen]


def paired_event(
    times: ArrayLike,
    anchor: ArrayLike,
    target: ArrayLike,
    *,
    start: float,
    end: float,
    position: Literal["before", "after"],
    event_seconds: float,
) -> tuple[Span, Span]:
    """The anchor's stretch and the asked event's, found together, each of `event_seconds`.

    `times`: float64 (n,) seconds; `anchor`, `target`: float64 (n,) similarities to the two events. Maximises
    z(anchor)(a) + z(target)(t) over stretches a, t of which t begins, for "after", between
    `SLACK` before and `REACH` + `SLACK` after the end of a ("before": mirrored). Of equal sums the
    earliest anchor wins, then the earliest target. In a clip too short for two stretches: the
    best of each alone. Raises `ValueError` as `best_window` does.
    """
    anchors = window_scores(times, standardised(anchor), start=start, end=end, length=event_seconds)
    targets = window_scores(times, standardised(target), start=start, end=end, length=event_seconds)
    gap = _gaps(anchors, targets, position)
    allowed = (gap >= -SLACK - TIME_STEP) & (gap <= REACH + SLACK + TIME_STEP)
    total = np.where(allowed, anchors.micro[:, None] + targets.micro[None, :], np.iinfo(np.int64).min)
    if not allowed.any():
        return anchors.span(int(np.argmax(anchors.micro))), targets.span(int(np.argmax(targets.micro)))
    at, to = np.unravel_index(int(np.argmax(total)), total.shape)
    return anchors.span(int(at)), targets.span(int(to))


def most_salient_windows(
    times: ArrayLike,
    similarity: ArrayLike,
    *,
    start: float,
    end: float,
    count: int,
    lengths: tuple[float, ...] = LENGTHS,
    overlap: float = 0.0,
) -> list[Span]:
    """Up to `count` windows of any of `lengths` that stand out most from the rest of [start, end).

    score = (mean inside - mean of all) sqrt(frames inside), on standardised similarities: the
    standard score of a mean, by which a longer window must earn its length. Of equal ones the
    shortest wins, then the earliest. Lengths longer than [start, end) count as the whole of it.
    Best first, no two of an IoU above `overlap` (greedy NMS). `times`, `similarity`: float64 (n,) as in
    `best_window`; `Span.score` is the mean standardised similarity.
    """
    values = standardised(similarity)
    tried = [window_scores(times, values, start=start, end=end, length=length) for length in sorted(lengths)]
    strengths = [
        np.rint(scores.micro * np.sqrt(scores.last - scores.first)).astype(np.int64) for scores in tried
    ]
    chosen = greedy_nms(
        np.concatenate(strengths),
        np.concatenate([scores.starts for scores in tried]),
        np.concatenate([scores.ends for scores in tried]),
        count,
        overlap,
    )
    spans = [(scores, index) for scores in tried for index in range(len(scores.starts))]
    return [scores.span(index) for scores, index in (spans[at] for at in chosen)]


def centred(times: ArrayLike, event: Span, *, start: float, end: float, length: float) -> Span:
    """A window of `length` with the event in its middle, kept inside [start, end); the event's score.

    `times`: float64 (n,) seconds, rising, by which the frames of the window are counted.
    """
    width = min(length, end - start)
    at = min(max(start, (event.start + event.end - width) / 2), end - width)
    frames = np.asarray(times, np.float64)
    first, last = (int(np.searchsorted(frames, edge - TIME_STEP / 2)) for edge in (at, at + width))
    return replace(event, start=at, end=at + width, first=first, last=last)


def _gaps(
    anchors: WindowScores, targets: WindowScores, position: Literal["before", "after"]
) -> NDArray[np.float64]:
    """(a, t) seconds between the end of the earlier stretch and the start of the later."""
    if position == "after":
        return np.asarray(targets.starts[None, :] - anchors.ends[:, None], np.float64)
    return np.asarray(anchors.starts[:, None] - targets.ends[None, :], np.float64)


Position = Literal["before", "after", "within"]
Method = Literal["shift", "adjacent"]


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
) -> tuple[Span, Span]:
    """The anchor's window and the one to watch, both inside the clip [start, end); equal for `within`.

    `times`, `similarity` (to the anchor event): float64 (n,), and `length` as in `best_window`.
    `method="shift"`: the anchor's window, `shift_seconds` earlier or later (EgoFact, D.2.4),
    stopped at the clip's edge.
    `method="adjacent"`: the best window that shares no time with the anchor's and is wholly
    before or after it, by `target`, float64 (n,) similarity to the watched event (default: `similarity`);
    where none fits into the clip, the window that reaches furthest that way.
    The watched window's score is the mean of the similarity that chose it; where the shifted
    window has no frame it keeps the anchor's. Raises `ValueError` as `best_window` does.
    """
    anchor = best_window(times, similarity, start=start, end=end, length=length)
    if position == "within":
        return anchor, anchor
    if method == "adjacent":
        values = similarity if target is None else target
        watched = _adjacent(times, values, anchor, position, start=start, end=end, length=length)
        return anchor, watched
    moved = shifted(anchor.start, anchor.end, position, shift_seconds, start=start, end=end)
    return anchor, _measured(times, similarity, moved, anchor)


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
