"""The window of a given length with the highest mean similarity.

EgoFact, section 4.1 ("Methodology"): frames are sampled at a steady rate, a
window of w seconds slides over them, and

    S(s) = mean of q . f_j over the frames j with s <= t_j < s + w

is greatest at the localized window. Everything here is a pure function on
arrays. A window is half-open [start, end) in seconds.

Candidates. A window starts at a frame's time, where it still ends inside the
clip, or at `end - w`, so that the clip's last frames are always within reach.
A clip not longer than w is one window, the whole clip.
Gaps. Where frames are missing (damage, a variable rate), a window with few
frames would win by chance, so a candidate needs at least half as many frames
as the fullest one.
Exactness. Similarities are kept as whole numbers of 1e-9, so cumulative sums
are exact; means are rounded to whole 1e-6 (half up) before they are ranked;
of equal ones the earliest wins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class Window:
    """A window of a video, half-open [start, end) in seconds, with the score that chose it."""

    video_id: str
    start: float
    end: float
    score: float


@dataclass(frozen=True, slots=True)
class LocalizedWindow(Window):
    """A window that a query found in its video; `relevance`: in [0, 1], comparable between queries."""

    relevance: float = 0.0


TIME_STEP = 1e-6
"""Times closer than this are equal: a frame at `start + w` less half a step is outside."""
MIN_FILL = 0.5
"""Least number of frames in a candidate, as a share of the fullest candidate's."""
_UNIT = 10**9
_MICRO = 10**3


@dataclass(frozen=True, slots=True)
class Span:
    """A window of one clip, [start, end) seconds, with its mean similarity."""

    start: float
    end: float
    score: float


@dataclass(frozen=True, slots=True)
class WindowScores:
    """All candidate windows of one clip, in time order, equal starts once.

    `starts`, `ends`: float64 (c,) seconds. `micro`: int64 (c,) mean similarity
    in 1e-6. `first`, `last`: int64 (c,) frame indices, half-open.
    """

    starts: NDArray[np.float64]
    ends: NDArray[np.float64]
    micro: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    def span(self, index: int) -> Span:
        """The candidate `index`, its mean in units of similarity."""
        return Span(float(self.starts[index]), float(self.ends[index]), int(self.micro[index]) / 1e6)


def window_scores(
    times: ArrayLike, similarity: ArrayLike, *, start: float, end: float, length: float
) -> WindowScores:
    """Mean similarity of every candidate window, in O(n) after an O(n log n) search for its ends.

    `times`: float64 (n,) seconds, strictly rising, n >= 1, inside [start, end]; a frame at `end` itself
    belongs to the windows that end there, since containers round their durations.
    `similarity`: float64 (n,), finite, at most 1000 in size.
    `length`: w > 0 seconds. Raises `ValueError` for a similarity that is not finite.
    """
    frame_times, units = np.asarray(times, np.float64), _units(similarity)
    starts = _candidate_starts(frame_times, start, end, length)
    ends = np.minimum(starts + length, end)
    ends[ends > end - TIME_STEP] = end
    first = _index(frame_times, starts)
    last = np.where(ends == end, len(frame_times), _index(frame_times, ends))
    count = last - first
    keep = count >= max(1.0, MIN_FILL * float(count.max()))
    total = np.concatenate([np.zeros(1, np.int64), np.cumsum(units)])
    first, last = first[keep], last[keep]
    micro = _mean_micro(total[last] - total[first], last - first)
    return WindowScores(starts[keep], ends[keep], micro, first.astype(np.int64), last.astype(np.int64))


def best_window(times: ArrayLike, similarity: ArrayLike, *, start: float, end: float, length: float) -> Span:
    """The candidate with the highest mean similarity, the earliest of equal ones (EgoFact, section 4.1).

    `times`, `similarity`: float64 (n,) as in `window_scores`.
    """
    scores = window_scores(times, similarity, start=start, end=end, length=length)
    return scores.span(int(np.argmax(scores.micro)))


def greedy_nms(
    scores: ArrayLike, starts: ArrayLike, ends: ArrayLike, count: int, overlap: float = 0.0
) -> list[int]:
    """Indices of up to `count` intervals, best first, none with an IoU above `overlap` with one before it.

    `scores`: int64 (c,); `starts`, `ends`: float64 (c,) seconds, half-open. `overlap`: in [0, 1); with 0
    no two share time. Of equal scores the first in the arrays wins.
    """
    values = np.asarray(scores, np.int64)
    first, last = np.asarray(starts, np.float64), np.asarray(ends, np.float64)
    free = np.ones(len(values), bool)
    chosen: list[int] = []
    while len(chosen) < count and free.any():
        at = int(np.argmax(np.where(free, values, np.iinfo(np.int64).min)))
        chosen.append(at)
        shared = np.minimum(last, last[at]) - np.maximum(first, first[at])
        spanned = (last - first) + (last[at] - first[at]) - shared
        free &= shared <= np.maximum(TIME_STEP, overlap * spanned)
    return chosen


def mean_inside(times: ArrayLike, similarity: ArrayLike, *, start: float, end: float) -> float | None:
    """Mean of `similarity`, float64 (n,), over the frames in [start, end), or None where there are none."""
    frame_times = np.asarray(times, np.float64)
    first, last = _index(frame_times, np.array([start, end])).tolist()
    if last <= first:
        return None
    return (
        int(_mean_micro(_units(similarity)[first:last].sum(keepdims=True), np.array([last - first]))[0]) / 1e6
    )


FLAT = 1e-3
"""Least standard deviation to divide by: a flat curve stays flat."""


def standardised(similarity: ArrayLike, least: float = FLAT) -> NDArray[np.float64]:
    """float64 (n,) less its mean, over its standard deviation, which counts as `least` at least."""
    values = np.asarray(similarity, np.float64)
    return np.asarray((values - values.mean()) / max(float(values.std()), least), np.float64)


def _candidate_starts(
    times: NDArray[np.float64], start: float, end: float, length: float
) -> NDArray[np.float64]:
    if end - start <= length + TIME_STEP:
        return np.array([start], np.float64)
    latest = end - length
    starts = times[times <= latest + TIME_STEP]
    if len(starts) == 0 or starts[-1] < latest - TIME_STEP:
        # A gap may leave no frame in the last window; then it is no candidate, but never the only one:
        # with no frame up to `latest`, all of them are after it.
        starts = np.append(starts, latest)
    return np.asarray(starts, np.float64)


def _index(times: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.intp]:
    return np.searchsorted(times, at - TIME_STEP / 2, side="left")


def _mean_micro(sums: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Mean of sums in 1e-9 as whole 1e-6, half up, without leaving the integers."""
    return np.asarray((2 * sums + _MICRO * counts) // (2 * _MICRO * counts), np.int64)


def _units(similarity: ArrayLike) -> NDArray[np.int64]:
    values = np.asarray(similarity, np.float64)
    if not np.isfinite(values).all():
        raise ValueError("similarity must be finite")
    return np.rint(values * _UNIT).astype(np.int64)
