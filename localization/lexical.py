"""Relevance of a text to a facet: shared words by inverse document frequency, and sentence embeddings.

VideoDetective, section 3.3.2, equations 8 to 11, and appendix E.4. Texts come as
sets of normalized words (lower case, no function words, stems), which the caller makes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

Source = Literal["ocr", "asr", "caption"]

CLIP = 3.0
"""Z_lex of equation 8 (table 7)."""
LEXICAL_WEIGHT: Mapping[Source, float] = {"ocr": 0.7, "asr": 0.5, "caption": 0.3}
"""lambda_src of equation 10 (table 7)."""
EPSILON = 1e-8


def inverse_frequencies(
    texts: Iterable[Collection[str]], least: float = 0.0
) -> tuple[dict[str, float], float]:
    """IDF(t) = ln((N + 1) / (n_t + 1)) + `least` of each word of N texts, and that of a word in none.

    The paper's is "pre-computed on a large corpus" which it does not name. A word in every text
    counts `least`: with the usual smoothing, 1, three such words reach the clip of 3 by themselves.
    """
    counts: Counter[str] = Counter()
    total = 0
    for words in texts:
        counts.update(set(words))
        total += 1
    found = {word: math.log((total + 1) / (count + 1)) + least for word, count in counts.items()}
    return found, math.log(total + 1.0) + least


def lexical_score(
    words: Collection[str],
    keywords: Iterable[str],
    frequencies: Mapping[str, float],
    unknown: float,
    *,
    clip: float = CLIP,
) -> float:
    """min(1, sum of IDF over the keywords that the text holds / Z), in [0, 1]. Equation 8.

    `frequencies`: IDF by word; `unknown`: that of any other word.
    """
    shared = sorted({word for word in keywords if word in words})
    return min(1.0, sum(frequencies.get(word, unknown) for word in shared) / clip)


def semantic_score(text: ArrayLike, queries: ArrayLike) -> float:
    """max over p of the cosine of psi(e), float64 (d,), and psi(p), rows of (q, d), or 0. Equation 9."""
    vector, rows = np.asarray(text, np.float64), np.asarray(queries, np.float64)
    if not rows.size:
        return 0.0
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(vector) + EPSILON
    return round(float(((rows @ vector) / lengths).max()), 6)


def raised(score: float, ordinary: float) -> float:
    """Excess of a cosine over that of an ordinary text, in [0, 1]: 0 at or below it, 1 at 1."""
    return max(0.0, (score - ordinary) / (1.0 - ordinary)) if ordinary < 1.0 else 0.0


def fused_score(lexical: float, semantic: float, source: Source) -> float:
    """lambda s_lex + (1 - lambda) s_sem. Equation 10."""
    weight = LEXICAL_WEIGHT[source]
    return weight * lexical + (1.0 - weight) * semantic
