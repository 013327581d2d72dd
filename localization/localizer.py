"""The one localizer: from frame similarities and relevant text to the window to watch.

`rag ask`, `rag search` and `rag localize` all end here, under one section of settings (`LocalizeSettings`).
An interval is half-open [start, end) in seconds: a clip for a question, a whole video for `rag localize`.

With frames, windows are scored on z(similarity) + relevance of the text (`fused_similarity`) and found as
`settings.length` and `settings.method` say. Without, they are those that cover the relevant text best
(`covering_window`). For the positions `before` and `after` see `LocalizeSettings.relative`. A window's score
is what chose it, and orders nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from localization.events import (
    Position,
    anchored_window,
    centred,
    event_windows,
    most_salient_windows,
    paired_event,
    shifted,
)
from localization.settings import LocalizeSettings
from localization.spans import covering_window, fused_similarity
from localization.windows import Span, Window, best_windows

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _none() -> NDArray[np.float64]:
    return np.zeros(0, np.float64)


@dataclass(frozen=True, slots=True)
class LocalizationQuery:
    """What is looked for: similarity of the frames to an event, and text that is relevant to it.

    `times`: float64 (n,) seconds, rising strictly; `similarity`: float64 (n,) to the anchor event, which is
    the event asked for where the position is `within`; `target`: float64 (n,) to the event asked for, None
    where only the anchor is known. `spans`: float64 (m, 2) seconds of text; `relevance`: float64 (m,) in
    [0, 1]. n and m may be 0.
    """

    times: NDArray[np.float64] = field(default_factory=_none)
    similarity: NDArray[np.float64] = field(default_factory=_none)
    target: NDArray[np.float64] | None = None
    spans: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 2), np.float64))
    relevance: NDArray[np.float64] = field(default_factory=_none)
    position: Position = "within"

    def inside(self, start: float, end: float) -> LocalizationQuery:
        """With the frames of [start, end] alone."""
        keep = (self.times >= start) & (self.times <= end)
        target = self.target[keep] if self.target is not None else None
        return replace(self, times=self.times[keep], similarity=self.similarity[keep], target=target)


def localize_clip(
    video_id: str, query: LocalizationQuery, settings: LocalizeSettings, *, start: float, end: float
) -> Window:
    """The window to watch of [start, end). Where nothing is known of it: its first window, with score 0."""
    held = query.inside(start, end)
    if not len(held.times):
        at, until, score = covering_window(
            held.spans, held.relevance, start=start, end=end, length=settings.window_seconds
        )
        at, until = shifted(at, until, held.position, settings.shift_seconds, start=start, end=end)
        return _window(video_id, at, until, score)
    if held.position == "within":
        (found,) = _frame_windows(held, settings, start, end, 1)
    else:
        found = _relative_window(held, held.position, settings, start, end)
    return _window(video_id, found.start, found.end, found.score)


def localize_video(
    video_id: str,
    query: LocalizationQuery,
    settings: LocalizeSettings,
    *,
    start: float,
    end: float,
    count: int,
) -> list[Window]:
    """Up to `count` windows of [start, end), best first, sharing no time; the first is `localize_clip`'s.

    The position of `query` is not looked at: all are for the event itself. Empty where there are neither
    frames nor relevant text.
    """
    held = query.inside(start, end)
    if len(held.times):
        found = _frame_windows(held, settings, start, end, count)
        return [_window(video_id, span.start, span.end, span.score) for span in found]
    return _text_windows(video_id, held, settings.window_seconds, start, end, count)


def _frame_windows(
    query: LocalizationQuery, settings: LocalizeSettings, start: float, end: float, count: int
) -> list[Span]:
    """Windows around the event itself, by frames and text together."""
    times, fused = query.times, _fused(query)
    if settings.length == "per-query":
        return most_salient_windows(times, fused, start=start, end=end, count=count)
    length = settings.window_seconds
    if settings.method == "event":
        event = settings.event_seconds
        return event_windows(
            times, fused, start=start, end=end, length=length, event_seconds=event, count=count
        )
    return best_windows(times, fused, start=start, end=end, length=length, count=count)


def _relative_window(
    query: LocalizationQuery, position: Position, settings: LocalizeSettings, start: float, end: float
) -> Span:
    """The window before or after the anchor event."""
    assert position != "within"
    times, anchor, target = query.times, _fused(query), query.target
    length = settings.window_seconds
    if settings.relative == "paired" and target is not None:
        event_seconds = min(settings.event_seconds, length)
        _, event = paired_event(
            times, anchor, target, start=start, end=end, position=position, event_seconds=event_seconds
        )
        window = centred(times, event, start=start, end=end, length=length)
        if settings.length == "per-query":
            keep = slice(window.first, window.last)
            (window,) = most_salient_windows(
                times[keep], target[keep], start=window.start, end=window.end, count=1
            )
        return window
    _, watched = anchored_window(
        times,
        anchor,
        start=start,
        end=end,
        length=length,
        position=position,
        shift_seconds=settings.shift_seconds,
        method="adjacent" if settings.relative == "adjacent" else "shift",
        target=target,
    )
    return watched


def _text_windows(
    video_id: str, query: LocalizationQuery, length: float, start: float, end: float, count: int
) -> list[Window]:
    """Windows over the relevant text alone; each next one over the text that those before it do not touch."""
    windows: list[Window] = []
    spans, relevance = query.spans, query.relevance
    while len(spans) and len(windows) < count:
        at, until, score = covering_window(spans, relevance, start=start, end=end, length=length)
        window = _window(video_id, at, until, score)
        left = (spans[:, 1] <= at) | (spans[:, 0] >= until)
        if score <= 0 or left.all():
            break
        if all(window.end <= taken.start or window.start >= taken.end for taken in windows):
            windows.append(window)
        spans, relevance = spans[left], relevance[left]
    return windows


def _fused(query: LocalizationQuery) -> NDArray[np.float64]:
    return fused_similarity(query.similarity, query.times, query.spans, query.relevance)


def _window(video_id: str, start: float, end: float, score: float) -> Window:
    return Window(video_id, round(start, 6), round(end, 6), round(score, 6))
