"""From a belief about segments to the segments and frames that the answering reasoner is shown.

VideoDetective, section 3.4 and appendix C: Graph-NMS (algorithm 2; table 7: eta
0.2, 8 nodes) and packs of 4 frames a node, without near-duplicates, 32 frames in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from localization.affinity import neighbours_of
from localization.belief import strongest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.sparse import csr_array

SUPPRESSION = 0.2
NODES = 8
DECIMALS = 6


def graph_nms(
    belief: ArrayLike,
    graph: csr_array,
    priors: Sequence[ArrayLike] = (),
    *,
    count: int = NODES,
    suppression: float = SUPPRESSION,
) -> list[int]:
    """Nodes in the order of their choice: one a facet first, then by belief up to `count`. Algorithm 2.

    `belief`: F, float64 (k,). `graph`: W~, (k, k). `priors`: Y_r of each facet, float64 (k,). A facet's node
    has the greatest Y_r F; where no product of two positive numbers exists (two negative ones would look
    like one), the greatest Y_r. A node chosen for two facets is kept once; more facets than `count`
    make more nodes. Each node chosen by belief multiplies its neighbours' belief by `suppression`.
    Nodes without positive belief are not chosen.
    """
    if not 0.0 < suppression < 1.0 or count < 1:
        raise ValueError(f"0 < suppression < 1 and count >= 1, not {suppression}, {count}")
    left = np.array(belief, np.float64)
    chosen: list[int] = []
    for prior in priors:
        facet_prior = np.asarray(prior, np.float64)
        agreed = (facet_prior > 0) & (left > 0)
        everywhere = np.ones(len(facet_prior), bool)
        node = strongest(facet_prior * left, agreed) if agreed.any() else strongest(facet_prior, everywhere)
        if node is not None and node not in chosen:
            chosen.append(node)
    while len(chosen) < min(count, len(left)):
        free = np.ones(len(left), np.bool_)
        free[chosen] = False
        node = strongest(left, free)
        if node is None or left[node] <= 0:
            break
        chosen.append(node)
        left[neighbours_of(graph, node)[0]] *= suppression
    return chosen


def distinct(
    candidates: Sequence[int], vectors: ArrayLike, *, similarity: float, taken: Sequence[int] = ()
) -> list[int]:
    """The candidates, in order, whose cosine with every frame taken before is at most `similarity`.

    `vectors`: (n, d) unit rows, indexed by candidates and `taken`. Returns the newly taken alone.
    """
    rows = np.asarray(vectors, np.float64)
    kept = list(taken)
    fresh: list[int] = []
    for index in candidates:
        if index in kept or (kept and float(np.round(rows[kept] @ rows[index], DECIMALS).max()) > similarity):
            continue
        kept.append(index)
        fresh.append(index)
    return fresh


def diverse(
    candidates: Sequence[int], vectors: ArrayLike, count: int, *, similarity: float, taken: Sequence[int] = ()
) -> list[int]:
    """Up to `count` candidates, each the one least like all taken, while its cosine is below `similarity`.

    `vectors`: (n, d) unit rows. Of equal ones the earliest in `candidates`.
    """
    rows = np.asarray(vectors, np.float64)
    pool = np.array([index for index in candidates if index not in set(taken)], np.int64)
    fresh: list[int] = []
    if not len(pool):
        return fresh
    nearest = np.full(len(pool), -1.0)
    if taken:
        nearest = np.round(rows[pool] @ rows[list(taken)].T, DECIMALS).max(axis=1)
    for _ in range(min(count, len(pool))):
        at = int(np.argmin(nearest))
        if nearest[at] >= similarity:
            break
        fresh.append(int(pool[at]))
        nearest = np.maximum(nearest, np.round(rows[pool] @ rows[pool[at]], DECIMALS))
        nearest[at] = np.inf
    return fresh
