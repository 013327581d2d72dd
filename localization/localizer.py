"""The one localizer: from frame similarities and relevant text to the window to watch.

`rag ask`, `rag search` and `rag localize` all end here, under one section of settings (`LocalizeSettings`).
An interval is half-open [start, end) in seconds: a clip for a question, a whole video for `rag localize`.

With frames, windows are scored on a noisy-or of images and text (`fused_similarity`) and found by
`settings.method` (`METHODS`). Without, they are those that cover the relevant text best (`covering_window`).
A window's score is what chose it, and orders nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from localization.methods import METHODS, Interval, Position, shifted, window_beside
from localization.sampling import frames_inside, midpoints
from localization.settings import LocalizeSettings
from localization.spans import covering_window, fused_similarity, rasterised
from localization.windows import Span, Window, standardised


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
        """Keep the frames of [start, end] alone."""
        keep = (self.times >= start) & (self.times <= end)
        target = self.target[keep] if self.target is not None else None
        return replace(self, times=self.times[keep], similarity=self.similarity[keep], target=target)


def localize_clip(
    video_id: str, query: LocalizationQuery, settings: LocalizeSettings, *, start: float, end: float
) -> Window:
    """The window to watch of [start, end). Where nothing is known of it: its first window, with score 0."""
    found = localize_video(video_id, query, settings, start=start, end=end, count=1)
    return found[0] if found else Window(video_id, start, min(start + settings.window_seconds, end), 0.0)


def localize_video(
    video_id: str,
    query: LocalizationQuery,
    settings: LocalizeSettings,
    *,
    start: float,
    end: float,
    count: int,
) -> list[Window]:
    """Up to `count` windows of [start, end), best first, no two of an IoU above `settings.overlap`; of a
    query for what is before or after an anchor, one. The first is `localize_clip`'s.

    Empty where there are neither frames nor relevant text.
    """
    held, interval = query.inside(start, end), (start, end)
    if not len(held.times):
        covering = _covering(held, settings, interval, count)
        found = [shifted(span, interval, held.position) for span in covering]
    elif held.position == "within":
        found = METHODS[settings.method](held.times, _fused(held), settings, interval, count)
    else:
        found = [window_beside(held.times, _fused(held), held.target, settings, interval, held.position)]
    return [Window(video_id, round(s.start, 6), round(s.end, 6), round(s.score, 6)) for s in found]


GRID_SECONDS = 0.5
"""Between the moments at which relevant text is looked up where there are no frames."""


def relevance_curve(
    query: LocalizationQuery, *, start: float, end: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times of [start, end], float64 (n,), and the relevance by which windows are found there, float64 (n,).

    Of the frames; where there are none, of the text at the middle of every half second.
    """
    held = query.inside(start, end)
    if len(held.times):
        return held.times, _fused(held)
    times = midpoints(start, end, max(1, round((end - start) / GRID_SECONDS)))
    return times, rasterised(held.spans, held.relevance, times)


def window_salience(
    query: LocalizationQuery, windows: Sequence[tuple[float, float]], *, start: float, end: float
) -> NDArray[np.float64]:
    """float64 (k,): the salience of each of k given windows in [start, end), whatever its length.

    (mean inside - mean of all) sqrt(moments inside) on the standardised `relevance_curve`, as
    `most_salient_windows` has it; 0 for a window without a moment in it.
    """
    times, relevance = relevance_curve(query, start=start, end=end)
    values, strengths = standardised(relevance), []
    for first, last in windows:
        inside = values[frames_inside(times, first, last, most=len(times))]
        strengths.append(inside.sum() / max(1, len(inside)) ** 0.5)
    return np.array(strengths, np.float64).round(6)


def _covering(
    query: LocalizationQuery, settings: LocalizeSettings, interval: Interval, count: int
) -> list[Span]:
    """Windows over the relevant text alone; each next one over the text that those before it do not touch."""
    found: list[Span] = []
    (start, end), spans, relevance = interval, query.spans, query.relevance
    while len(spans) and len(found) < count:
        window = Span(
            *covering_window(spans, relevance, start=start, end=end, length=settings.window_seconds)
        )
        left = (spans[:, 1] <= window.start) | (spans[:, 0] >= window.end)
        if window.score <= 0 or left.all():
            break
        if all(window.end <= taken.start or window.start >= taken.end for taken in found):
            found.append(window)
        spans, relevance = spans[left], relevance[left]
    return found


def _fused(query: LocalizationQuery) -> NDArray[np.float64]:
    return fused_similarity(query.similarity, query.times, query.spans, query.relevance)
