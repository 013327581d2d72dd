"""The methods by which a window is chosen, by name (`METHODS`). Spans are half-open [start, end) in seconds.

`event`, the default. A window of 5 s that contains an event of 2 s has the same mean wherever in it the event
is, so noise decides whether the window cuts it. The best stretch of an event's length is found first, by the
same sliding mean, and the window is centred on it. For "before" and "after" the anchor event and the event
asked for are found together: the pair of stretches, in the right order and at most `REACH` seconds apart
(EgoFact, C.2.2: consecutive events within 4 s), with the greatest sum of standardised similarities.
`egofact`, the paper's. The best mean over the whole window (section 4.1). For "before" and "after" the anchor
event is localized, and "we shift the localization window by 1 second accordingly" (D.2.4).
`salient`, for moments of any length. The windows that stand out most from the rest, of all
`LocalizeSettings.lengths`. "Before" and "after" are those of `event`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localization.settings import LocalizeSettings, MethodName
from localization.windows import (
    TIME_STEP,
    Span,
    WindowScores,
    best_window,
    greedy_nms,
    mean_inside,
    standardised,
    window_scores,
)

Side = Literal["before", "after"]
Position = Literal[Side, "within"]
Interval = tuple[float, float]
"""[start, end) in seconds: a clip, or a whole video."""

REACH = 4.0
"""Seconds from the end of one event to the start of the next, at most (EgoFact, C.2.2)."""
SLACK = 1.0
"""Seconds by which two stretches may overlap, since events differ in length."""
SHIFT_SECONDS = 1.0
"""Shift of an anchor's window for "before" and "after" (EgoFact, D.2.4)."""


def event_windows(
    times: ArrayLike, similarity: ArrayLike, settings: LocalizeSettings, interval: Interval, count: int
) -> list[Span]:
    """Up to `count` windows of `window_seconds` around the best stretches of `event_seconds` in `interval`.

    `times`, `similarity`: float64 (n,) as in `window_scores`. Best first, no two of an IoU above `overlap`
    (greedy temporal NMS by the stretches' scores); of equal ones the earliest wins. The score of each is its
    stretch's mean similarity.
    """
    (start, end), length = interval, settings.window_seconds
    seconds = min(settings.event_seconds, length)
    events = window_scores(times, similarity, start=start, end=end, length=seconds)
    width = min(length, end - start)
    starts = np.minimum(np.maximum(start, (events.starts + events.ends - width) / 2), end - width)
    chosen = greedy_nms(events.micro, starts, starts + width, count, settings.overlap)
    return [centred(events.span(at), interval, length) for at in chosen]


def best_windows(
    times: ArrayLike, similarity: ArrayLike, settings: LocalizeSettings, interval: Interval, count: int
) -> list[Span]:
    """Up to `count` windows of `window_seconds` with the highest mean in `interval` (EgoFact, section 4.1).

    As `event_windows`, for an event as long as the window; the first is `best_window`.
    """
    whole = settings.model_copy(update={"event_seconds": settings.window_seconds})
    return event_windows(times, similarity, whole, interval, count)


def most_salient_windows(
    times: ArrayLike, similarity: ArrayLike, settings: LocalizeSettings, interval: Interval, count: int
) -> list[Span]:
    """Up to `count` windows of any of `lengths` that stand out most from the rest of `interval`.

    score = (mean inside - mean of all) sqrt(frames inside), on standardised similarities: the
    standard score of a mean, by which a longer window must earn its length. Of equal ones the
    shortest wins, then the earliest. Lengths longer than `interval` count as the whole of it.
    Best first, no two of an IoU above `overlap` (greedy NMS). `times`, `similarity`: float64 (n,) as in
    `best_window`; `Span.score` is the mean standardised similarity.
    """
    start, end = interval
    values, lengths = standardised(similarity), sorted(settings.lengths)
    tried = [window_scores(times, values, start=start, end=end, length=length) for length in lengths]
    strengths = [
        np.rint(scores.micro * np.sqrt(scores.last - scores.first)).astype(np.int64) for scores in tried
    ]
    chosen = greedy_nms(
        np.concatenate(strengths),
        np.concatenate([scores.starts for scores in tried]),
        np.concatenate([scores.ends for scores in tried]),
        count,
        settings.overlap,
    )
    spans = [(scores, index) for scores in tried for index in range(len(scores.starts))]
    return [scores.span(index) for scores, index in (spans[at] for at in chosen)]


def window_beside(
    times: ArrayLike,
    anchor: ArrayLike,
    target: ArrayLike | None,
    settings: LocalizeSettings,
    interval: Interval,
    side: Side,
) -> Span:
    """The window before or after an anchor event: around the event that `paired_event` finds, with its score.

    `times`, `anchor`, `target`: float64 (n,). By the method `egofact`, which localizes by the anchor alone,
    and where the event asked for is not known: `shifted_window`.
    """
    if target is None or settings.method == "egofact":
        return shifted_window(times, anchor, settings, interval, side)
    (start, end), length = interval, settings.window_seconds
    seconds = min(settings.event_seconds, length)
    _, event = paired_event(times, anchor, target, start=start, end=end, position=side, event_seconds=seconds)
    return centred(event, interval, length)


def shifted_window(
    times: ArrayLike, anchor: ArrayLike, settings: LocalizeSettings, interval: Interval, side: Side
) -> Span:
    """The anchor's best window, a second earlier or later, kept inside `interval`. EgoFact, D.2.4.

    `times`, `anchor`: float64 (n,). The score is the mean of `anchor` in the shifted window; where that has
    no frame it keeps the anchor's.
    """
    start, end = interval
    best = best_window(times, anchor, start=start, end=end, length=settings.window_seconds)
    moved = shifted(best, interval, side)
    score = mean_inside(times, anchor, start=moved.start, end=moved.end)
    return moved if score is None else replace(moved, score=score)


def paired_event(
    times: ArrayLike,
    anchor: ArrayLike,
    target: ArrayLike,
    *,
    start: float,
    end: float,
    position: Side,
    event_seconds: float,
) -> tuple[Span, Span]:
    """The anchor's stretch and the asked event's, found together, each of `event_seconds`.

    `times`: float64 (n,) seconds; `anchor`, `target`: float64 (n,) similarities to the two events. Maximises
    z(anchor)(a) + z(target)(t) over stretches a, t of which t begins, for "after", between
    `SLACK` before and `REACH` + `SLACK` after the end of a ("before": mirrored). Of equal sums the
    earliest anchor wins, then the earliest target. In a clip too short for two stretches: the
    best of each alone.
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


def centred(event: Span, interval: Interval, length: float) -> Span:
    """A window of `length` with the event in its middle, kept inside `interval`; the event's score."""
    start, end = interval
    width = min(length, end - start)
    at = min(max(start, (event.start + event.end - width) / 2), end - width)
    return replace(event, start=at, end=at + width)


def _gaps(anchors: WindowScores, targets: WindowScores, position: Side) -> NDArray[np.float64]:
    """(a, t) seconds between the end of the earlier stretch and the start of the later."""
    if position == "after":
        return np.asarray(targets.starts[None, :] - anchors.ends[:, None], np.float64)
    return np.asarray(anchors.starts[:, None] - targets.ends[None, :], np.float64)


def shifted(window: Span, interval: Interval, position: Position) -> Span:
    """The window moved by `SHIFT_SECONDS`, kept whole and inside `interval`; its score."""
    room = {"before": interval[0] - window.start, "after": interval[1] - window.end, "within": 0.0}[position]
    by = float(np.clip(room, -SHIFT_SECONDS, SHIFT_SECONDS))
    return replace(window, start=window.start + by, end=window.end + by)


METHODS: Mapping[
    MethodName, Callable[[ArrayLike, ArrayLike, LocalizeSettings, Interval, int], list[Span]]
] = {"event": event_windows, "egofact": best_windows, "salient": most_salient_windows}
"""What finds the windows of an event, best first."""
