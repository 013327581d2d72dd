"""Representative 30-second clips of the videos (EgoFact, C.1): cut, described by keywords, clustered.

The paper says "k-nearest neighbor (kNN) clustering" with k = 0.2 n clusters;
what has k clusters is k-means, so that is what is done here: k-means on unit
vectors, seeded by k-means++ (SciPy's), and of each cluster the clip nearest to
its centre represents the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster.vq import kmeans2

from eval.tasks.egofact.construction.records import EventStructure, Segment
from indexers.protocol import TextEncoder, unit_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CachedEncoder(TextEncoder):
    """Sentence vectors, each text encoded once in a build, and their similarities."""

    def __init__(self, encoder: TextEncoder) -> None:
        self.name, self.dim, self.weights, self._encoder = encoder.name, encoder.dim, encoder.weights, encoder
        self.keep_rows()

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._encoder.encode_text(texts)

    def similarity(self, one: Sequence[str], other: Sequence[str]) -> NDArray[np.float64]:
        """Cosines to 6 decimals, float64 (n, m): n texts `one` in rows, m texts `other` in columns."""
        rows = self.encode_text(one).astype(np.float64), self.encode_text(other).astype(np.float64)
        cosines: NDArray[np.float64] = np.round(rows[0] @ rows[1].T, 6)
        return cosines


def cut_segments(
    video: str,
    path: str,
    events: Sequence[EventStructure],
    seconds: float,
    duration: float,
    scenarios: Sequence[str] = (),
) -> list[Segment]:
    """Clips [0, 30), [30, 60), ... of one video with the events that are entirely inside.

    An event over an edge belongs to neither clip: none of them shows all of it. A last clip shorter than
    5 s is left out.
    """
    found = []
    for index in range(math.ceil(duration / seconds - 1e-9)):
        start, end = index * seconds, min((index + 1) * seconds, duration)
        if end - start < min(5.0, duration):
            continue
        inside = sorted(
            (event for event in events if start <= event.start and event.end <= end),
            key=lambda event: (event.start, event.end, event.rewritten),
        )
        clip_id = f"{video}:{index:05d}"
        found.append(Segment(clip_id, path, start, end, tuple(inside), tuple(scenarios)))
    return found


def segment_vectors(segments: Sequence[Segment], encoder: CachedEncoder) -> NDArray[np.float32]:
    """The weighted mean of each clip's keyword vectors, as unit rows, float32 (n, dim)."""
    rows = np.zeros((len(segments), encoder.dim), np.float32)
    for row, words in zip(rows, (segment.keywords for segment in segments), strict=True):
        weights = np.asarray(list(words.values()), np.float32)
        row[:] = weights @ encoder.encode_text(list(words)) / weights.sum()
    return unit_rows(rows)


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
    k = min(k, len(np.unique(rows, axis=0)))  # k-means++ finds no further centre among equal rows
    centres, member = kmeans2(rows, k, iter=ROUNDS, minit="++", rng=seed)
    groups = [np.flatnonzero(member == cluster) for cluster in range(k)]
    fit = np.round(rows @ centres.T, 9)
    return sorted(int(own[np.argmax(fit[own, at])]) for at, own in enumerate(groups) if len(own))
