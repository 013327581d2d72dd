"""VideoDetective's affinity graph over segments: visual and temporal, sparse.

VideoDetective, section 3.2.2, equations 1 to 3; table 5: alpha 0.6, tau 30 s,
the 8 strongest neighbours of each row. A graph of k nodes has at most 16 k edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localization.segments import unit_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import csr_array

ALPHA = 0.6
TAU = 30.0
NEIGHBOURS = 8
DECIMALS = 6
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
    """float64 (p, q): exp(-|t_i - t_j| / tau) of centre times, float64 (p,) and (q,) seconds. Equation 2.

    Raises `ValueError` for `tau` <= 0.
    """
    if tau <= 0:
        raise ValueError(f"tau must be positive, is {tau}")
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
    Weights are rounded to 6 decimals, so that the last bits of a product decide nothing. Raises `ValueError`
    for other shapes, or `alpha` outside [0, 1].
    """
    from scipy.sparse import csr_array

    rows, times = np.asarray(vectors, np.float64), np.asarray(centres, np.float64)
    if rows.ndim != 2 or times.shape != (len(rows),):
        raise ValueError(f"vectors (k, d) and centres (k,), not {rows.shape}, {times.shape}")
    if not 0.0 <= alpha <= 1.0 or neighbours < 1:
        raise ValueError(f"alpha in [0, 1] and neighbours >= 1, not {alpha}, {neighbours}")
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
