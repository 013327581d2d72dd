"""Belief about all segments from a few observed ones, and the segments and frames chosen by it.

VideoDetective, section 3.3, equations 5 to 7, 12 and 13, and appendix B. Belief
is the minimiser of |F - Y|^2 + mu F^T L F, approached by iterating

    F <- beta W_norm F + (1 - beta) Y,   beta = mu / (1 + mu)

with 7 iterations at beta 0.6 (table 5). A new observation changes one entry of
Y, and the iteration goes on from the F that is there.

In the paper, Y is the prior wherever nothing was observed, so mostly the prior is diffused, before anything
is observed. With `carried="surprise"` the same iteration runs over the difference from the prior alone,

    E <- beta W_norm E + (Y - P),   F = P + E

and F is the minimiser of |E - (Y - P) / (1 - beta)|^2 + mu E^T L E.

Selection (section 3.4 and appendix C): Graph-NMS (algorithm 2; table 7: eta 0.2, 8 nodes) and packs of
4 frames a node, without near-duplicates, 32 frames in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localization.graph import neighbours_of, normalized

if TYPE_CHECKING:
    from scipy.sparse import csr_array


Carried = Literal["surprise", "all"]

ITERATIONS = 7
BETA = 0.6
PRIOR_WEIGHT = 0.5
"""alpha of equation 5; table 6 calls it the multi-route fusion weight."""
DECIMALS = 6


def hybrid_prior(visual: ArrayLike, semantic: ArrayLike, weight: float = PRIOR_WEIGHT) -> NDArray[np.float64]:
    """float64 (k,): weight max_w <phi(w), h_i> + (1 - weight) max_p <psi(p), psi(e_i)>. Equation 5.

    `visual`: float64 (keywords, k) cosines, `semantic`: float64 (descriptions, k) cosines. A part without
    rows, as where a library has no image encoder, leaves all the weight to the other; without both: zeros.
    """
    parts = [np.asarray(each, np.float64) for each in (visual, semantic)]
    weights = (weight, 1.0 - weight)
    given = [(each.max(axis=0), share) for each, share in zip(parts, weights, strict=True) if len(each)]
    whole = sum(share for _, share in given)
    if not given or whole <= 0:
        return np.zeros(parts[0].shape[1])
    return np.round(
        sum((row * (share / whole) for row, share in given), np.zeros(parts[0].shape[1])), DECIMALS
    )


def diffused(
    injection: ArrayLike,
    normalized_graph: csr_array,
    *,
    start: ArrayLike | None = None,
    iterations: int = ITERATIONS,
    beta: float = BETA,
) -> NDArray[np.float64]:
    """float64 (k,) after `iterations` of equation 13 from `start`, or from Y itself.

    `injection`: Y, float64 (k,). `normalized_graph`: W_norm, (k, k). 0 <= beta < 1.
    """
    source = np.asarray(injection, np.float64)
    belief = source if start is None else np.asarray(start, np.float64)
    held = (1.0 - beta) * source
    for _ in range(iterations):
        belief = beta * (normalized_graph @ belief) + held
    return np.array(belief, np.float64)


def strongest(scores: ArrayLike, allowed: ArrayLike) -> int | None:
    """argmax over the allowed, the first of equals (to 6 decimals); None where none is allowed.

    `scores`: float64 (n,); `allowed`: bool (n,). What is not allowed counts as -inf: a factor of 0 would win
    against negative scores.
    """
    mask = np.asarray(allowed, np.bool_)
    if not mask.any():
        return None
    values = np.round(np.asarray(scores, np.float64), DECIMALS)
    return int(np.argmax(np.where(mask, values, -np.inf)))


@dataclass
class BeliefField:
    """Y, F and the visited mask of one question, over a graph that does not change.

    `graph`: W~, (k, k). `prior` P, and from it at first `injection` Y and `belief` F: float64 (k,)
    (algorithm 1, line 5); `visited`: bool (k,). `iterations=0`: no propagation. `carried`: what spreads, the
    whole of Y (equation 13) or what was found beyond the prior.
    """

    graph: csr_array
    prior: ArrayLike
    iterations: int = ITERATIONS
    beta: float = BETA
    carried: Carried = "surprise"

    def __post_init__(self) -> None:
        self.transition = normalized(self.graph)
        self.injection = np.array(self.prior, np.float64)
        self.belief = self.injection.copy()
        self.visited = np.zeros(len(self.belief), np.bool_)

    def observe(self, node: int, score: float) -> None:
        """Inject a verified score and continue the diffusion. Algorithm 1, lines 23 and 24."""
        self.injection[node] = score
        self.visited[node] = True
        if self.iterations == 0:
            self.belief[node] = score
            return
        surprised = self.carried == "surprise"
        base = np.asarray(self.prior if surprised else np.zeros(len(self.belief)), np.float64)
        source = (self.injection - base) / (1.0 - self.beta) if surprised else self.injection
        self.belief = base + diffused(
            source, self.transition, start=self.belief - base, iterations=self.iterations, beta=self.beta
        )

    def next_neighbour(self, node: int) -> int | None:
        """argmax of W~_ij F_j over the unvisited neighbours j of i; None where there is none. Equation 6."""
        nodes, weights = neighbours_of(self.graph, node)
        found = strongest(weights * self.belief[nodes], ~self.visited[nodes])
        return None if found is None else int(nodes[found])

    def widest_gap(self) -> int | None:
        """argmax of F over the unvisited; None where all are visited. Equation 7."""
        return strongest(self.belief, ~self.visited)


SUPPRESSION = 0.2
NODES = 8


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
