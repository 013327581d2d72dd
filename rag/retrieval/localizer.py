"""From a found clip to its window: by frame vectors where there are any, by words, or by both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from localization.anchored import Position, anchored_window, shifted
from localization.events import centred, event_window, most_salient_window, paired_event
from localization.records import Window
from localization.settings import LocalizeSettings
from localization.spans import covering_window, fused_similarity
from localization.windows import Span, best_window, best_windows
from rag.retrieval.results import RelevantSpan

if TYPE_CHECKING:
    from numpy.typing import NDArray

Grid = tuple["NDArray[np.float64]", "NDArray[np.float64]"]
"""Frame times (n,) and their similarity to what is looked for (n,)."""


@dataclass(frozen=True, slots=True)
class LocalizationQuery:
    """What is looked for in a clip, on its frames and in its words."""

    grid: Grid | None
    """Of the anchor event; the event itself where the position is `within`."""
    target: Grid | None
    """Of the event asked for, on the same times; None where only the anchor is known."""
    spans: Sequence[RelevantSpan]
    position: Position


def locate(
    video_id: str, start: float, end: float, sought: LocalizationQuery, settings: LocalizeSettings
) -> Window:
    """The window to watch in [start, end).

    With pictures: the best mean of z(similarity) + relevance of the spans on the frame grid
    (`fused_similarity`), found as `settings` say. Without: the window that covers the relevant
    spans best. For before and after see `LocalizeSettings.relative`. Its score is what chose it,
    and orders nothing else.
    """
    bounds, relevance = _arrays(sought.spans)
    length = settings.window_seconds
    inside = _inside(sought.grid, start, end)
    if inside is None:
        at, until, score = covering_window(bounds, relevance, start=start, end=end, length=length)
        at, until = shifted(at, until, sought.position, settings.shift_seconds, start=start, end=end)
        return Window(video_id, round(at, 6), round(until, 6), round(score, 6))
    times, similarity = inside
    fused = fused_similarity(similarity, times, bounds, relevance)
    target = _inside(sought.target, start, end)
    asked = target[1] if target is not None else None
    found = _window(times, fused, asked, start, end, sought.position, settings)
    return Window(video_id, round(found.start, 6), round(found.end, 6), round(found.score, 6))


def _window(
    times: NDArray[np.float64],
    anchor: NDArray[np.float64],
    target: NDArray[np.float64] | None,
    start: float,
    end: float,
    position: Position,
    settings: LocalizeSettings,
) -> Span:
    length, event_seconds = settings.window_seconds, min(settings.event_seconds, settings.window_seconds)
    if position == "within":
        if settings.length == "per-query":
            return most_salient_window(times, anchor, start=start, end=end)
        if settings.method == "event":
            return event_window(
                times, anchor, start=start, end=end, length=length, event_seconds=event_seconds
            )
        return best_window(times, anchor, start=start, end=end, length=length)
    if settings.relative == "paired" and target is not None:
        _, event = paired_event(
            times, anchor, target, start=start, end=end, position=position, event_seconds=event_seconds
        )
        if settings.length == "per-query":
            near = centred(times, event, start=start, end=end, length=length)
            keep = slice(near.first, near.last)
            return most_salient_window(times[keep], target[keep], start=near.start, end=near.end)
        return centred(times, event, start=start, end=end, length=length)
    return anchored_window(
        times,
        anchor,
        start=start,
        end=end,
        length=length,
        position=position,
        shift_seconds=settings.shift_seconds,
        method="adjacent" if settings.relative == "adjacent" else "shift",
        target=target,
    ).watched


def locate_several(
    video_id: str,
    start: float,
    end: float,
    grid: Grid | None,
    spans: Sequence[RelevantSpan],
    count: int,
    settings: LocalizeSettings,
) -> list[Window]:
    """Up to `count` windows of [start, end), best first, sharing no time."""
    length = settings.window_seconds
    inside = _inside(grid, start, end)
    if inside is not None:
        times, similarity = inside
        fused = fused_similarity(similarity, times, *_arrays(spans))
        found = best_windows(times, fused, start=start, end=end, length=length, count=count)
        return [Window(video_id, round(w.start, 6), round(w.end, 6), round(w.score, 6)) for w in found]
    windows: list[Window] = []
    left = list(spans)
    while left and len(windows) < count:
        at, until, score = covering_window(*_arrays(left), start=start, end=end, length=length)
        window = Window(video_id, round(at, 6), round(until, 6), round(score, 6))
        rest = [s for s in left if s.evidence.end <= at or s.evidence.start >= until]
        if score <= 0 or len(rest) == len(left):
            break
        if all(window.end <= taken.start or window.start >= taken.end for taken in windows):
            windows.append(window)
        left = rest
    return windows


def _arrays(spans: Sequence[RelevantSpan]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    bounds = np.array([(s.evidence.start, s.evidence.end) for s in spans], np.float64).reshape(-1, 2)
    return bounds, np.array([s.relevance for s in spans], np.float64)


def _inside(grid: Grid | None, start: float, end: float) -> Grid | None:
    if grid is None:
        return None
    times, similarity = grid
    keep = (times >= start) & (times <= end)
    return (times[keep], similarity[keep]) if keep.any() else None
