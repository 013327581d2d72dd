"""Which sentence of what was read answers a question, and how probably.

A cross-encoder reads the question with each text (`reader`). A conditional logit over `FEATURES` orders the
sentences by that and by words and vectors; a logistic regression over `EVIDENCE` of the first gives the
probability that it holds the answer. Both are fitted to questions with known answers, in several languages,
by `training/quotation.py`, and kept in `quotation.json` with the names of the sets. No word of any language
is listed: words are compared by their pieces.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rag.reasoners.embedded.sentences import MOST_SENTENCES, Sentence
from rag.records import SURE
from rag.relevance import logistic
from rag.words import numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEATURES = ("read", "cosine", "overlap", "before", "after", "rank", "score", "length")
"""Of a sentence: what the cross-encoder says of it; cosine to the question; share of the question's pieces,
by rarity, that it holds; what the sentence before and the one after add to that share; 1 / (1 + rank) and
score of the passage or window; log of the number of its pieces."""

EVIDENCE = ("constant", "read", "cosine", "overlap", "passage", "unknown", "no_value", "share", "margin")
"""Of the sentence that is quoted: features by their names; share of the question's pieces that all
sentences of its passage hold, and that none of those read holds; whether the question has a number that its
passage lacks; log of its share among the sentences (softmax of the ordering); distance to the next one, at
most `FURTHEST`."""

FURTHEST = 6.0
MOST_WITHOUT_VALUE = SURE - 0.01
"""Confidence of an answer whose passage lacks a number of the question."""
PIECE = 4
"""Letters of a piece of a word. In scripts without spaces it is two signs."""
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")


@lru_cache(maxsize=4096)
def pieces(text: str) -> frozenset[str]:
    """The parts by which words are compared: runs of four letters, with where a word begins, so that
    "tighten" and "tightened", or "Wasserpumpe" and "Pumpe", have some in common."""
    found: set[str] = set()
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        whole, size = (word, 2) if _UNSPACED.search(word) else (f"^{word}", PIECE)
        found.update(whole[at : at + size] for at in range(max(1, len(whole) - size + 1)))
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence with its value as an answer (unbounded), and the probability in [0, 1] that it is right."""

    sentence: Sentence
    value: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Weights:
    """By the names of `FEATURES` and of `EVIDENCE`."""

    order: Mapping[str, float]
    confidence: Mapping[str, float]
    background: float
    """Mean value of sentences that hold no answer. It counts for each sentence that a short text has less
    than `MOST_SENTENCES`: the only sentence of a text is not the best of many."""


@cache
def fitted_weights() -> Weights:
    """As fitted by `training/quotation.py`."""
    held = json.loads(Path(__file__).with_name("quotation.json").read_text(encoding="utf-8"))
    return Weights(**{name: held[name] for name in Weights.__dataclass_fields__})


def columns(keys: Sequence[str], rows: Iterable[Mapping[str, float]]) -> NDArray[np.float64]:
    """float64 (n, keys) of n rows by name. Raises KeyError for a name that a row lacks."""
    return np.array([[row[name] for name in keys] for row in rows], np.float64).reshape(-1, len(keys))


class AskedText:
    """A question and the sentences that were read for it, in order."""

    def __init__(self, question: str, sentences: Sequence[Sentence], scores: Mapping[str, Sequence[float]]):
        """`scores`: in [0, 1], of the passages and of the windows, by `Sentence.origin`."""
        self.sentences = sentences
        self._scores = scores
        self._pieces = [
            pieces(f"{one.context} {one.title}" if one.is_row else one.context) for one in sentences
        ]
        self._asked = pieces(question)
        self._rarity = self._rarities()
        self._all = self._share(frozenset().union(*self._pieces))
        self._numbers = set(numbers(question))
        self._parts: dict[tuple[str, int], list[int]] = {}
        for at, one in enumerate(sentences):
            self._parts.setdefault((one.origin, one.index), []).append(at)

    def _rarities(self) -> dict[str, float]:
        """Of the question's pieces: the fewer sentences hold one, the more it says."""
        count = {piece: sum(piece in held for held in self._pieces) for piece in sorted(self._asked)}
        return {piece: math.log((len(self._pieces) + 1) / (of + 0.5)) for piece, of in count.items()}

    def _share(self, held: AbstractSet[str]) -> float:
        """Of the question's pieces, by rarity; summed in one order, whatever the order of a set."""
        whole = sum(self._rarity.values())
        return sum(value for piece, value in self._rarity.items() if piece in held) / whole if whole else 0.0

    def parts(self) -> list[list[int]]:
        """Places of the sentences that follow each other in one text."""
        found: list[list[int]] = []
        for at, one in enumerate(self.sentences):
            if found and _follows(self.sentences[found[-1][-1]], one):
                found[-1].append(at)
            else:
                found.append([at])
        return found

    def features(self, at: int, read: float, cosine: float) -> dict[str, float]:
        """`FEATURES` of one sentence by name. `read`: as of `Reader.values`."""
        one, own = self.sentences[at], self._share(self._pieces[at])
        return {
            "read": read,
            "cosine": cosine,
            "overlap": own,
            "before": self._with(at, at - 1) - own,
            "after": self._with(at, at + 1) - own,
            "rank": 1 / (1 + one.index),
            "score": self._scores[one.origin][one.index],
            "length": math.log1p(len(self._pieces[at])),
        }

    def _with(self, at: int, beside: int) -> float:
        """Share that a sentence holds together with the one beside it, where that is of the same source."""
        near = 0 <= beside < len(self.sentences) and _follows(self.sentences[at], self.sentences[beside])
        return self._share(self._pieces[at] | self._pieces[beside] if near else self._pieces[at])

    def shortlist(self, reads: Sequence[float], fitted: Weights) -> list[int]:
        """Places of the `MOST_SENTENCES` sentences of greatest value without a vector, in order."""
        rows = [self.features(at, read, 0.0) for at, read in enumerate(reads)]
        values = columns(FEATURES, rows) @ columns(FEATURES, [fitted.order])[0]
        kept = sorted(range(len(rows)), key=lambda at: (-round(float(values[at]), 6), at))[:MOST_SENTENCES]
        return sorted(kept)

    def scored(
        self, places: Sequence[int], reads: Sequence[float], cosines: Sequence[float], fitted: Weights
    ) -> list[Scored]:
        """The sentences at `places` in their order. `reads`: of all sentences; `cosines`: of those at
        `places` to the question."""
        rows = [self.features(at, reads[at], cosine) for at, cosine in zip(places, cosines, strict=True)]
        values = columns(FEATURES, rows) @ columns(FEATURES, [fitted.order])[0]
        found = []
        for place, (at, row) in enumerate(zip(places, rows, strict=True)):
            evidence = self.evidence(at, row, values, place, fitted.background)
            sure = logistic(sum(weight * evidence[name] for name, weight in fitted.confidence.items()))
            if evidence["no_value"]:
                # What lacks the question's own number may be on the subject, and is never sure.
                sure = min(sure, MOST_WITHOUT_VALUE)
            value = round(float(values[place]), 6)
            found.append(Scored(self.sentences[at], value, round(sure, 6)))
        return found

    def evidence(
        self, at: int, row: Mapping[str, float], values: NDArray[np.float64], place: int, background: float
    ) -> dict[str, float]:
        """`EVIDENCE` by name of the sentence `at`, whose features are `row` and whose value is
        `values[place]`. `values`: float64 (n,) of all that are compared."""
        one = self.sentences[at]
        part = [self.sentences[other] for other in self._parts[one.origin, one.index]]
        missing = [background] * max(1, MOST_SENTENCES - len(values))
        others = np.array([*np.delete(values, place), *missing])
        known = {value for each in part for value in numbers(f"{each.title} {each.context}")}
        held = frozenset().union(*(self._pieces[other] for other in self._parts[one.origin, one.index]))
        return {
            **{name: row[name] for name in ("read", "cosine", "overlap")},
            "constant": 1.0,
            "passage": self._share(held | pieces(one.title)),
            "unknown": 1 - self._all,
            "no_value": float(bool(self._numbers - known)),
            "share": -math.log1p(float(np.exp(others - values[place]).sum())),
            "margin": max(-FURTHEST, min(FURTHEST, float(values[place] - others.max()))),
        }


def _follows(one: Sentence, other: Sentence) -> bool:
    return (one.origin, one.index, one.kind) == (other.origin, other.index, other.kind)
