"""Representative clips out of many (EgoFact, C.1).

The paper says "k-nearest neighbor (kNN) clustering" with k = 0.2 n clusters;
what has k clusters is k-means, so that is what is done here: k-means on unit
vectors, seeded by k-means++, and of each cluster the clip nearest to its
centre represents the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROUNDS = 50


def cluster_count(segments: int, wanted: int, share: float, spare: float) -> int:
    """k = share x n, but at least `spare` times the clips wanted, and never more than there are."""
    return min(segments, max(round(share * segments), round(spare * wanted)))


def representatives(vectors: NDArray[np.float32], k: int, seed: int) -> list[int]:
    """Rows of the clips that represent the k clusters, ascending.

    `vectors`: unit rows, float32 (n, d). Same vectors, k and seed: same rows.
    """
    if k >= len(vectors):
        return list(range(len(vectors)))
    rows = vectors.astype(np.float64)
    centres = rows[_spread(rows, k, np.random.default_rng(seed))]
    member = np.full(len(rows), -1)
    for _ in range(ROUNDS):
        nearest = np.argmax(np.round(rows @ centres.T, 9), axis=1)
        if np.array_equal(nearest, member):
            break
        member = nearest
        for cluster in range(k):
            inside = rows[member == cluster]
            if len(inside):
                mean = inside.mean(axis=0)
                centres[cluster] = mean / max(float(np.linalg.norm(mean)), 1e-12)
    fit = np.round(rows @ centres.T, 9)
    chosen = []
    for cluster in range(k):
        inside = np.flatnonzero(member == cluster)
        if len(inside):
            chosen.append(int(inside[np.argmax(fit[inside, cluster])]))
    return sorted(chosen)


def _spread(rows: NDArray[np.float64], k: int, rng: np.random.Generator) -> list[int]:
    """k-means++ (Arthur and Vassilvitskii, 2007): each next centre by its squared distance to the others."""
    chosen = [int(rng.integers(len(rows)))]
    distance = np.full(len(rows), np.inf)
    while len(chosen) < k:
        distance = np.minimum(distance, np.round(2 - 2 * rows @ rows[chosen[-1]], 9).clip(min=0))
        distance[chosen] = 0
        total = float(distance.sum())
        if total <= 0:
            left = [index for index in range(len(rows)) if index not in set(chosen)]
            return chosen + left[: k - len(chosen)]
        chosen.append(int(rng.choice(len(rows), p=distance / total)))
    return chosen
