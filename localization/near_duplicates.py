"""Near-duplicate detection from small gray frames along time, and loudness.

A near-duplicate may be cropped, colour-graded, faster or slower, and start elsewhere. So the crop and the
line of time are searched under which the frames agree best:

    t_a = speed * t_b + offset,   score = mean over the line of max(0, r(crop(A(t_a)), B(t_b)))

r is the correlation of two frames, which colour grading hardly changes; a uniform frame, as a black one,
correlates with nothing. Videos of one place, or of one title card, agree in what is static, so motion is
compared separately: frames less the video's mean frame, where they differ from it by more than encoding
noise. Loudness is compared along the same line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

SPEEDS = (0.85, 1.18)
"""Least and greatest speed of a near-duplicate."""
LEAST_OVERLAP = 0.7
"""Share of the shorter video that a line must cover."""
LEAST_WHOLE = 0.6
"""And of the longer one: a few seconds within a long video agree by chance."""
KEPT_SHARES = (1.0, 0.95, 0.9, 0.85)
"""Shares of the frame's height and width that a crop keeps."""
CROP_STEPS = 3
MOST_CROPS = 2
"""Crops, the best ones, for which the line of time is searched."""
LEAST_ALIKE = 0.5
"""Correlation of the mean frames, below which no line is searched."""
FLAT = 1.0
"""Gray levels: a spread below it is encoding noise on a uniform frame."""
UNMOVED = 0.05
"""Share of a frame's own spread by which it must differ from the mean frame to count as motion."""
SPEED_STEP = 0.02
WHOLE_AT_EASE = 0.02
"""Mean agreement by which the ratio of the durations, the speed of a whole copy, is preferred to another
speed: frames 2 s apart determine speeds badly, durations to the frame."""
HEIGHT, WIDTH = 9, 16
"""Crops are compared at this size."""
MOST_FRAMES = 96
"""Of one video; more are subsampled evenly."""


@dataclass(frozen=True, slots=True)
class Track:
    """The fingerprint of a video.

    `times`: float64 (n,) seconds. `images`: uint8 (n, h, w) gray frames. `loudness`: float64 (m,) LUFS, one
    a second, NaN where nothing was decoded, empty without sound. `duration`: seconds.
    """

    times: NDArray[np.float64]
    images: NDArray[np.uint8]
    loudness: NDArray[np.float64]
    duration: float


@dataclass(frozen=True, slots=True)
class Alignment:
    """The best agreement of two videos: t_a = speed * t_b + offset."""

    speed: float
    offset: float
    still: float
    """Mean correlation of the frames along the line, in [0, 1]."""
    moving: float
    """That of the frames less their mean frame, in [-1, 1]."""
    sound: float | None
    """Correlation of the loudness, in [-1, 1]; None where one of them has no sound that varies."""
    images: int
    """Number of frames compared along the line."""


def align(a: Track, b: Track) -> Alignment | None:
    """The best agreement of two videos, cropped either way; None where no line of time is possible."""
    found = [_one_way(a, b)]
    turned = _one_way(b, a)
    if turned is not None:
        found.append(replace(turned, speed=1 / turned.speed, offset=-turned.offset / turned.speed))
    good = [one for one in found if one is not None]
    return max(good, key=lambda one: (one.still + one.moving, one.still), default=None)


def _one_way(a: Track, b: Track) -> Alignment | None:
    """With `a` cropped to `b`."""
    times_a, images_a = _thinned(a)
    times_b, images_b = _thinned(b)
    if len(times_a) < 2 or len(times_b) < 2:
        return None
    crops = _crops(*images_a.shape[1:])
    flat_a = images_a.reshape(len(images_a), -1).astype(np.float64)
    rows_b = _levelled(_shrunk(images_b))
    # The crop is the same for the whole video, so the mean frames are enough to find it.
    alike = (_levelled(crops @ flat_a.mean(axis=0)) @ _unit(rows_b.mean(axis=0), 1e-9)).round(6)
    best: tuple[float, Alignment] | None = None
    for place in np.argsort(-alike, kind="stable")[:MOST_CROPS].tolist():
        if alike[place] < LEAST_ALIKE:
            break
        one = _under_crop(a, b, times_a, times_b, _levelled(flat_a @ crops[place].T), rows_b)
        if one is not None and (best is None or one.still + one.moving > best[0]):
            best = one.still + one.moving, one
    return best[1] if best is not None else None


def _under_crop(
    a: Track,
    b: Track,
    times_a: NDArray[np.float64],
    times_b: NDArray[np.float64],
    rows_a: NDArray[np.float64],
    rows_b: NDArray[np.float64],
) -> Alignment | None:
    still = (rows_a @ rows_b.T).clip(0, 1)
    moving = _moved(rows_a) @ _moved(rows_b).T
    line = _best_line(still + moving, times_a, times_b, a.duration, b.duration)
    if line is None:
        return None
    speed, offset = line
    near, within = _along(times_a, times_b, speed, np.array([offset]))
    rows, columns = near[0][within[0]], np.flatnonzero(within[0])
    return Alignment(
        round(speed, 4),
        round(offset, 3),
        round(float(still[rows, columns].mean()), 4),
        round(float(moving[rows, columns].mean()), 4),
        _sound(a.loudness, b.loudness, speed, offset),
        len(rows),
    )


def _thinned(track: Track) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    count = len(track.times)
    kept = np.unique(np.linspace(0, count - 1, min(count, MOST_FRAMES)).round().astype(int))
    return track.times[kept], track.images[kept]


@lru_cache(maxsize=8)
def _crops(height: int, width: int) -> NDArray[np.float64]:
    """float64 (crops, 144, height * width): from a flat frame to each of its crops, as they are compared."""
    single = np.eye(height * width).reshape(-1, height, width)
    boxes = _boxes(height, width)
    return np.stack([_shrunk(single[:, rows, columns]).T for rows, columns in boxes])


def _boxes(height: int, width: int) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of every crop."""
    for share in KEPT_SHARES:
        rows, columns = round(height * share), round(width * share)
        tops = np.unique(np.linspace(0, height - rows, CROP_STEPS).round().astype(int))
        lefts = np.unique(np.linspace(0, width - columns, CROP_STEPS).round().astype(int))
        for top in tops.tolist():
            for left in lefts.tolist():
                yield slice(top, top + rows), slice(left, left + columns)


def _shrunk(images: NDArray[np.uint8] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Area means, float64 (n, HEIGHT * WIDTH)."""
    parts = np.asarray(images, np.float64)
    for axis, size in ((1, HEIGHT), (2, WIDTH)):
        edges = np.linspace(0, parts.shape[axis], size + 1)
        sums = np.insert(np.cumsum(parts, axis=axis), 0, 0, axis=axis)
        low = np.floor(edges).astype(int)
        share = edges - low
        high = np.minimum(low + 1, parts.shape[axis])
        at = np.take(sums, low, axis=axis)
        shape = [1, 1, 1]
        shape[axis] = size + 1
        at = at + (np.take(sums, high, axis=axis) - at) * share.reshape(shape)
        parts = np.diff(at, axis=axis) / np.diff(edges).reshape([-1 if k == axis else 1 for k in range(3)])
    return parts.reshape(len(parts), -1)


def _levelled(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64 (n, d) without mean and spread: a product of two rows is their correlation, less if flat."""
    return _unit(rows - rows.mean(axis=-1, keepdims=True), FLAT * rows.shape[-1] ** 0.5)


def _moved(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64 (n, d): the difference of rows from their mean, as unit rows; shorter where it is small."""
    return _unit(rows - rows.mean(axis=0), UNMOVED)


def _unit(rows: NDArray[np.float64], least: float) -> NDArray[np.float64]:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), least), np.float64)


def _best_line(
    agreement: NDArray[np.float64],
    times_a: NDArray[np.float64],
    times_b: NDArray[np.float64],
    long_a: float,
    long_b: float,
) -> tuple[float, float] | None:
    """Speed and offset of the line with the greatest mean agreement."""
    ratio = long_a / max(long_b, 1e-6)
    speeds = [round(s, 3) for s in np.arange(SPEEDS[0], SPEEDS[1] + 1e-9, SPEED_STEP).tolist()]
    whole = round(ratio, 4) if SPEEDS[0] <= ratio <= SPEEDS[1] else None
    if whole is not None:
        # First, so that of speeds with equal agreement that of a whole copy is taken.
        speeds.insert(0, whole)
    best: tuple[float, float, float] | None = None
    step = float(np.median(np.diff(times_a)))
    for speed in speeds:
        lengths = long_a, speed * long_b
        needed = max(LEAST_OVERLAP * min(lengths), LEAST_WHOLE * max(lengths))
        if needed > min(lengths):
            continue
        first, last = needed - speed * long_b, long_a - needed
        offsets = np.unique([*np.arange(first, last + 1e-9, step).tolist(), min(max(0.0, first), last)])
        near, within = _along(times_a, times_b, speed, offsets)
        sums = (agreement[near, np.arange(len(times_b))] * within).sum(axis=1)
        counts = within.sum(axis=1)
        means = np.where(counts >= 2, sums / np.maximum(counts, 1), -1.0).round(6)
        place = int(np.lexsort((np.abs(offsets), -means))[0])
        agreed = float(means[place]) + (2 * WHOLE_AT_EASE if speed == whole else 0.0)
        if counts[place] >= 2 and (best is None or agreed > best[0]):
            best = agreed, speed, float(offsets[place])
    return None if best is None else (best[1], best[2])


def _along(
    times_a: NDArray[np.float64], times_b: NDArray[np.float64], speed: float, offsets: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """For each offset and image of `b`, the nearest of `a` in time, and whether it is near at all."""
    wanted = speed * times_b[None, :] + offsets[:, None]
    after = np.searchsorted(times_a, wanted).clip(1, len(times_a) - 1)
    near = np.where(wanted - times_a[after - 1] <= times_a[after] - wanted, after - 1, after)
    return near, np.abs(times_a[near] - wanted) <= float(np.diff(times_a).max())


def _sound(a: NDArray[np.float64], b: NDArray[np.float64], speed: float, offset: float) -> float | None:
    """Correlation of two loudness lines along t_a = speed * t_b + offset."""
    if len(a) < 4 or len(b) < 4:
        return None
    wanted = speed * (np.arange(len(b)) + 0.5) + offset - 0.5
    inside = (wanted >= 0) & (wanted <= len(a) - 1)
    if inside.sum() < 4:
        return None
    one, other = np.interp(wanted[inside], np.arange(len(a)), a), b[inside]
    measured = np.isfinite(one) & np.isfinite(other)
    if measured.sum() < 4:
        return None
    one, other = one[measured], other[measured]
    if one.std() < 0.5 or other.std() < 0.5:
        return None
    return round(float(np.corrcoef(one, other)[0, 1]), 4)
