"""VideoDetective's graph: segments of a video as nodes, their visual and temporal affinity as edges.

Nodes (section 3.2.1): a boundary is where the cosine of neighbouring frames falls below theta_sim, fragments
shorter than L_min frames are merged, and a node is h_i = norm(mean of its frames). Table 5: theta_sim 0.82,
L_min 10 frames, at one frame a second (table 8). How a fragment is merged is not stated; here the shortest
one joins its more similar neighbour, until none is short.

Edges (section 3.2.2, equations 1 to 3; table 5): alpha 0.6, tau 30 s, the 8 strongest neighbours of each
row. A graph of k nodes has at most 16 k edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localization.windows import TIME_STEP

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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
    to 6 decimals before they are compared.
    """
    frame_times, rows = np.asarray(times, np.float64), np.asarray(vectors, np.float64)
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


ALPHA = 0.6
TAU = 30.0
NEIGHBOURS = 8
ROUNDED = 9
ROWS = 512
"""Rows of the dense product at a time: 10,000 segments would need 800 MB at once."""


def visual_affinity(rows: ArrayLike, others: ArrayLike) -> NDArray[np.float64]:
    """float64 (p, q): max(0, <h_i, h_j>) of unit rows (p, d) and (q, d). Equation 1."""
    product = np.asarray(rows, np.float64) @ np.asarray(others, np.float64).T
    return np.asarray(np.maximum(product, 0.0), np.float64)


def centred(vectors: ArrayLike) -> NDArray[np.float64]:
    """float64 (k, d): unit rows less their mean, of length 1 again; a row at the mean becomes 0.

    Vectors of one video share its overall look. Without it the cosine separates scenes, and equation 1 has
    negative values to truncate.
    """
    rows = np.asarray(vectors, np.float64)
    if not len(rows):
        return rows
    return unit_rows(np.round(rows - rows.mean(axis=0), ROUNDED))


def temporal_affinity(centres: ArrayLike, others: ArrayLike, tau: float = TAU) -> NDArray[np.float64]:
    """float64 (p, q): exp(-|t_i - t_j| / tau) of centre times, float64 (p,) and (q,) seconds. Equation 2."""
    apart = np.abs(np.asarray(centres, np.float64)[:, None] - np.asarray(others, np.float64)[None, :])
    return np.asarray(np.exp(-apart / tau), np.float64)


def affinity_graph(
    vectors: ArrayLike,
    centres: ArrayLike,
    *,
    alpha: float = ALPHA,
    tau: float = TAU,
    neighbours: int = NEIGHBOURS,
) -> csr_array:
    """W~, float64 (k, k) symmetric, without self-loops, entries in (0, 1].

    W = alpha W_sim + (1 - alpha) W_time; of each row the `neighbours` strongest stay, equal ones by
    index; then (W + W^T) / 2. `vectors`: float64 (k, d) unit rows; `centres`: float64 (k,) seconds.
    Weights are rounded to 6 decimals, so that the last bits of a product decide nothing.
    """
    from scipy.sparse import csr_array

    rows, times = np.asarray(vectors, np.float64), np.asarray(centres, np.float64)
    count = len(rows)
    at, to, weights = [], [], []
    for start in range(0, count, ROWS):
        part = slice(start, min(start + ROWS, count))
        fused = alpha * visual_affinity(rows[part], rows)
        fused += (1.0 - alpha) * temporal_affinity(times[part], times, tau)
        fused = np.round(fused, DECIMALS)
        fused[np.arange(part.stop - start), np.arange(start, part.stop)] = 0.0
        kept = _strongest(fused, neighbours)
        i, j = np.nonzero(kept)
        at.append(i + start)
        to.append(j)
        weights.append(fused[i, j])
    where = (np.concatenate(at), np.concatenate(to)) if at else (np.zeros(0, int), np.zeros(0, int))
    chosen = csr_array((np.concatenate(weights) if weights else np.zeros(0), where), shape=(count, count))
    both = csr_array((chosen + chosen.T) / 2)
    both.sort_indices()
    return both


def normalized(graph: csr_array) -> csr_array:
    """D^-1/2 W~ D^-1/2, float64 (k, k), its spectral radius at most 1. Equation 3.

    `graph`: symmetric, entries >= 0. A node without a neighbour keeps a row of zeros.
    """
    from scipy.sparse import csr_array, diags_array

    degrees = np.asarray(graph.sum(axis=1), np.float64).reshape(-1)
    roots = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    scale = diags_array(roots)
    scaled = csr_array(scale @ graph @ scale)
    scaled.sort_indices()
    return scaled


def neighbours_of(graph: csr_array, node: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The nodes j with W~_ij > 0, int64 (n,) rising, and their weights, float64 (n,)."""
    part = slice(int(graph.indptr[node]), int(graph.indptr[node + 1]))
    nodes, weights = graph.indices[part], graph.data[part]
    keep = weights > 0
    return np.asarray(nodes[keep], np.int64), np.asarray(weights[keep], np.float64)


def _strongest(weights: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """(p, q) mask of the `count` largest positive weights of each row; of equal ones the first."""
    if weights.shape[1] <= count:
        return np.asarray(weights > 0, np.bool_)
    least = np.partition(weights, -count, axis=1)[:, -count][:, None]
    kept = (weights >= least) & (weights > 0)
    for row in np.flatnonzero(kept.sum(axis=1) > count):
        level = np.flatnonzero(kept[row] & (weights[row] == least[row]))
        spare = int(kept[row].sum()) - count
        kept[row, level[-spare:]] = False
    return np.asarray(kept, np.bool_)
