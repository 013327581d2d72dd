"""Which moments and which frames of an interval [start, end) in seconds are looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localization.windows import TIME_STEP


def midpoints(
    start: float, end: float, count: int, *, shift: float = 0.0, decimals: int | None = 6
) -> NDArray[np.float64]:
    """float64 (count,) seconds: the middles of `count` equal parts of [start, end), rising.

    t_i = start + (i + 0.5 + shift) (end - start) / count (RACLO, F.2). `shift`: in parts, in [-0.5, 0.5),
    for moments between those of another sample. `decimals`: of rounding; None does not round.
    """
    times = np.clip(start + (end - start) / count * (np.arange(count) + 0.5 + shift), start, end)
    return np.asarray(times if decimals is None else np.round(times, decimals), np.float64)


def frames_inside(times: ArrayLike, start: float, end: float, *, most: int) -> NDArray[np.int64]:
    """int64 (m,) indices of the frames in [start, end), at most `most`, evenly chosen, rising.

    `times`: float64 (n,) seconds, rising. Windows are rounded to 6 decimals, so a frame within 1e-6 of
    `start` is inside, and one within 1e-6 of `end` is not.
    """
    frame_times = np.asarray(times, np.float64)
    inside = np.flatnonzero((frame_times >= start - TIME_STEP) & (frame_times < end - TIME_STEP))
    if len(inside) > most:
        inside = inside[np.linspace(0, len(inside) - 1, most).round().astype(int)]
    return inside.astype(np.int64)


def nearest_frames(times: ArrayLike, moments: ArrayLike) -> NDArray[np.int64]:
    """int64 (m,) for each moment the index of the frame nearest in time, the earlier of equals.

    `times`: float64 (n,) seconds, rising, n >= 1; `moments`: float64 (m,) seconds.
    """
    frame_times, at = np.asarray(times, np.float64), np.asarray(moments, np.float64)
    after = np.clip(np.searchsorted(frame_times, at), 0, len(frame_times) - 1)
    before = np.maximum(after - 1, 0)
    nearer = np.abs(frame_times[before] - at) <= np.abs(frame_times[after] - at)
    return np.where(nearer, before, after).astype(np.int64)
