"""Segmentation of a video where its picture changes: the nodes of VideoDetective's graph.

VideoDetective, section 3.2.1: a boundary lies where the cosine of neighbouring
frames falls below theta_sim, fragments shorter than L_min frames are merged,
and a node is h_i = norm(mean of its frames). Table 5: theta_sim 0.82, L_min 10
frames, at one frame a second (table 8). How a fragment is merged is not stated;
here the shortest one joins its more similar neighbour, until none is short.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from localization.windows import TIME_STEP

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SIMILARITY = 0.82
SHORTEST = 10
DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Segments:
    """k segments that cover [0, end) without gap, in time order.

    `first`, `last`: int64 (k,), the frames [first, last) of each. `starts`, `ends`: float64 (k,)
    seconds, half-open. `vectors`: float64 (k, d), unit rows h_i (0 where frames cancel out).
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    starts: NDArray[np.float64]
    ends: NDArray[np.float64]
    vectors: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.first)

    @property
    def centres(self) -> NDArray[np.float64]:
        """float64 (k,) seconds: t_i of equation 2."""
        return np.asarray((self.starts + self.ends) / 2, np.float64)

    def at(self, time: float) -> int:
        """Index of the segment at `time` seconds; the first or last one for times outside."""
        return int(np.clip(np.searchsorted(self.starts, time + TIME_STEP / 2) - 1, 0, len(self) - 1))


def sampled(times: ArrayLike, rate: float = 1.0) -> NDArray[np.int64]:
    """int64 (m,) indices of one frame a step of 1 / `rate` seconds: the first at or after each step.

    `times`: float64 (n,) seconds, rising. A step without a frame of its own gives none.
    """
    if rate <= 0:
        raise ValueError(f"rate must be positive, is {rate}")
    steps = np.floor((np.asarray(times, np.float64) + TIME_STEP) * rate).astype(np.int64)
    if not len(steps):
        return np.zeros(0, np.int64)
    fresh = np.concatenate([[True], steps[1:] > steps[:-1]])
    return np.flatnonzero(fresh).astype(np.int64)


def cut_segments(
    times: ArrayLike,
    vectors: ArrayLike,
    *,
    end: float,
    similarity: float = SIMILARITY,
    shortest: int = SHORTEST,
) -> Segments:
    """Cut where <f_t, f_t+1> < `similarity`; then no segment is shorter than `shortest` frames.

    `times`: float64 (n,) seconds, rising strictly, n >= 1; `vectors`: (n, d) unit rows; `end`: seconds, where
    the last segment ends. A video of fewer frames than `shortest` is one segment. Cosines are rounded
    to 6 decimals before they are compared. Raises `ValueError` for shapes that do not fit.
    """
    frame_times, rows = np.asarray(times, np.float64), np.asarray(vectors, np.float64)
    if frame_times.ndim != 1 or rows.ndim != 2 or len(frame_times) != len(rows) or not len(rows):
        raise ValueError(f"times (n,) and vectors (n, d) with n >= 1, not {frame_times.shape}, {rows.shape}")
    if (np.diff(frame_times) <= 0).any() or end <= frame_times[-1]:
        raise ValueError("times must rise strictly and end before `end`")
    if shortest < 1:
        raise ValueError(f"shortest must be at least 1, is {shortest}")
    cosines = np.round(np.einsum("nd,nd->n", rows[:-1], rows[1:]), DECIMALS)
    first = np.concatenate([[0], np.flatnonzero(cosines < similarity) + 1])
    first = _merged(first, rows, shortest)
    last = np.concatenate([first[1:], [len(rows)]])
    sums = np.add.reduceat(rows, first, axis=0)
    starts = frame_times[first]
    starts[0] = min(0.0, float(starts[0]))
    return Segments(
        first.astype(np.int64),
        last.astype(np.int64),
        starts,
        np.concatenate([starts[1:], [float(end)]]),
        unit_rows(sums),
    )


def unit_rows(rows: ArrayLike) -> NDArray[np.float64]:
    """float64 (n, d) of length 1 each, of `rows` (n, d); a row of zeros stays."""
    values = np.asarray(rows, np.float64)
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(np.divide(values, lengths, out=np.zeros_like(values), where=lengths > 0), np.float64)


def _merged(first: NDArray[np.int64], rows: NDArray[np.float64], shortest: int) -> NDArray[np.int64]:
    """The starts that are left; of equally short fragments the earliest goes first."""
    starts = first.tolist()
    sums = list(np.add.reduceat(rows, first, axis=0))
    lengths = np.diff([*starts, len(rows)]).tolist()
    while len(starts) > 1 and min(lengths) < shortest:
        at = lengths.index(min(lengths))
        to = _nearer(sums, at)
        left, right = min(at, to), max(at, to)
        sums[left] = sums[left] + sums[right]
        lengths[left] += lengths[right]
        del starts[right], sums[right], lengths[right]
    return np.array(starts, np.int64)


def _nearer(sums: list[NDArray[np.float64]], at: int) -> int:
    """The neighbour with the more similar mean; the earlier of equals."""
    if at == 0:
        return 1
    if at == len(sums) - 1:
        return at - 1
    before, here, after = unit_rows(sums[at - 1 : at + 2])
    fits = [round(float(here @ other), DECIMALS) for other in (before, after)]
    return at - 1 if fits[0] >= fits[1] else at + 1
