"""The units by which texts are compared: numbers by their value, other words by their runs of four letters.

"melted" holds most of "melting", so no language needs a table of its forms. Scripts without spaces are cut
into pairs of characters.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from rag.function_words import without_function_words
from rag.words import UNSPACED, number_tokens, numbers

GRAM = 4
NUMBER = "#"
"""Before the value of a number."""


@lru_cache(maxsize=4096)
def units(text: str) -> Mapping[str, float]:
    """Return the units of a text with their weights, which sum to 1 for each word."""
    found = {f"{NUMBER}{number:.15g}": 1.0 for number in numbers(text)}
    for word in without_function_words(number_tokens(text)):
        if not numbers(word):
            grams = _grams(word)
            for gram in grams:
                found[gram] = max(found.get(gram, 0.0), 1.0 / len(grams))
    return found


def all_words(text: str) -> frozenset[str]:
    """Return every word of a text, function words too; of scripts without spaces every pair of characters."""
    words = number_tokens(text)
    return frozenset(part for word in words for part in (_grams(word) if UNSPACED.search(word) else [word]))


def by_rarity(weights: Mapping[str, float], texts: Sequence[Collection[str]]) -> dict[str, float]:
    """Multiply each weight by ln((n + 1) / (m + 0.5)), where m of the n texts hold its unit."""
    held = Counter(unit for text in texts for unit in text if unit in weights)
    return {unit: of * math.log((len(texts) + 1) / (held[unit] + 0.5)) for unit, of in weights.items()}


def share(weights: Mapping[str, float], held: Collection[str]) -> float:
    """Return the share in [0, 1] of the summed weights whose units are held; 0 without weights."""
    return sum(weight for unit, weight in weights.items() if unit in held) / (sum(weights.values()) or 1.0)


def _grams(word: str) -> list[str]:
    size, padded = (2, word) if UNSPACED.search(word) else (GRAM, f"^{word}")
    return list(dict.fromkeys(padded[at : at + size] for at in range(max(1, len(padded) - size + 1))))
