"""BM25 over a few thousand short texts, in memory.

    score(q, d) = sum over t in q of idf(t) * tf(t, d) * (k1 + 1) / (tf(t, d) + norm(d))
    norm(d) = k1 * (1 - b + b * |d| / mean|d|)
    idf(t) = ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5))

(Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009; the idf with the 1 is Lucene's,
which is never negative.) LanceDB's full text has k1 fixed at 1.2, so it cannot serve here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

K1 = 1.5
B = 0.75


class Bm25:
    """Made once of all documents, each a list of words."""

    def __init__(self, documents: Sequence[Sequence[str]], k1: float = K1, b: float = B) -> None:
        self._count = len(documents)
        lengths = np.array([len(document) for document in documents], np.float64)
        mean = max(float(lengths.mean()), 1.0) if len(lengths) else 1.0
        norms = k1 * (1 - b + b * lengths / mean)
        places: dict[str, list[int]] = {}
        counts: dict[str, list[int]] = {}
        for number, document in enumerate(documents):
            for word, times in Counter(document).items():
                places.setdefault(word, []).append(number)
                counts.setdefault(word, []).append(times)
        self._postings: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        for word, held in places.items():
            at, tf = np.array(held, np.int64), np.array(counts[word], np.float64)
            idf = math.log(1 + (self._count - len(held) + 0.5) / (len(held) + 0.5))
            self._postings[word] = at, idf * tf * (k1 + 1) / (tf + norms[at])

    def scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """One for each document, float64 (n,); 0 where no word fits; a repeated word counts again."""
        total = np.zeros(self._count, np.float64)
        for word, times in Counter(query).items():
            if word in self._postings:
                at, weights = self._postings[word]
                total[at] += times * weights
        return total
