"""Which sentence of the passages answers an open question, and how probably.

A linear model over `FEATURES` orders the sentences; a logistic one over `EVIDENCE` of the first gives the
probability that it holds the answer. The weights of both are fitted to questions with known answers by
`training/quotation.py` and kept in `quotation.json`, with where they come from. Text of a script that has no
words in common with the question is ordered by cosine and rank alone.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rag.reasoners.embedded.answer_types import answer_type
from rag.reasoners.embedded.sentences import MOST_SENTENCES, Sentence
from rag.relevance import (
    FUNCTION_WORDS,
    content_words,
    lexical_overlap,
    logistic,
    numbers,
    rarity,
    stem,
    tokens,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEATURES = (
    "cosine",
    "overlap",
    "before",
    "after",
    "passage",
    "pairs",
    "type",
    "no_type",
    "new_number",
    "new_name",
    "names",
    "rank",
    "score",
    "length",
)
"""Of a sentence: cosine to the question; share of the question's words, by rarity, that it holds; what the
sentence before and the one after add to that share, and the share in the whole passage with its title; share
of the question's neighbouring words that are neighbours; whether it holds what the question asks for, and
whether it holds none of it; whether it has a number or a name that the question does not, where one is asked
for; share of the question's names; 1 / (1 + rank) and score of the passage; log of the number of words."""

EVIDENCE = (
    "constant",
    "cosine",
    "overlap",
    "passage",
    "unknown",
    "no_name",
    "share",
    "margin",
    "no_type",
    "words",
)
"""Of the sentence that is quoted: features by their names; share of the question's words, by rarity, and of
its names, that no passage holds; log of its share among the sentences (softmax of the ordering); distance to
the next one, at most `FURTHEST`; log of the number of the question's words."""

OVERLAP, TYPE = FEATURES.index("overlap"), FEATURES.index("type")
FURTHEST = 6.0
_NAME = re.compile(r"(?<![.!?:\"“]\s)(?<!^)\b[A-ZÀ-ÖØ-Þ][\w'’-]*")
_NAMED = frozenset({"who", "where", "name", "thing"})
_COUNTED = frozenset({"number", "length", "weight", "money", "speed", "temperature", "date", "duration"})


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence with its value as an answer (unbounded, in units of cosine) and its confidence in [0, 1]."""

    sentence: Sentence
    value: float
    confidence: float
    overlap: float
    holds_type: bool


@dataclass(frozen=True, slots=True)
class Weights:
    """float64 weights of `FEATURES` and of `EVIDENCE`."""

    order: NDArray[np.float64]
    confidence: NDArray[np.float64]
    background: float
    """Mean value of sentences that hold no answer. It counts for each sentence that a short text has less
    than `MOST_SENTENCES`: the only sentence of a text is not the best of many."""


@cache
def weights() -> Weights:
    """As fitted by `training/quotation.py`."""
    held = json.loads(Path(__file__).with_name("quotation.json").read_text(encoding="utf-8"))
    return Weights(
        np.array([held["order"][name] for name in FEATURES]),
        np.array([held["confidence"][name] for name in EVIDENCE]),
        float(held["background"]),
    )


def names(text: str) -> set[str]:
    """Stems of the capitalized words, but for one that opens a sentence."""
    return {stem(word) for name in _NAME.findall(text) for word in tokens(name)}


class PassageText:
    """A question and all sentences of the passages that were read for it, in order."""

    def __init__(self, question: str, sentences: Sequence[Sentence], scores: Sequence[float]) -> None:
        """`scores`: of the passages, in [0, 1]."""
        self.question = question
        self.sentences = sentences
        self._scores = scores
        self._kind = answer_type(question)
        self.words = content_words(question)
        self._names, self._numbers = names(question), set(numbers(question))
        self._pairs = set(pairwise(self.words))
        self._stems = [set(content_words(sentence.text)) for sentence in sentences]
        self._places: dict[int, list[int]] = {}
        for at, sentence in enumerate(sentences):
            self._places.setdefault(sentence.index, []).append(at)
        known = rarity(self._stems)
        rarest = max(known.values(), default=1.0)
        self._rarity = {word: known.get(word, rarest) for word in self.words}
        self._passages = {
            index: set().union(
                *(self._stems[at] for at in held), *(content_words(sentences[at].title) for at in held)
            )
            for index, held in self._places.items()
        }

    def features(self, at: int, cosine: float) -> list[float]:
        """`FEATURES` of one sentence."""
        sentence = self.sentences[at]
        held = self._places[sentence.index]
        place = held.index(at)
        before = self._stems[held[place - 1]] if place else set()
        after = self._stems[held[place + 1]] if place + 1 < len(held) else set()
        own = self._share(self._stems[at])
        words = tokens(sentence.text)
        said = [stem(word) for word in words if word not in FUNCTION_WORDS]
        pairs = self._pairs & set(pairwise(said))
        kind, open_kind = self._kind, self._kind.name == "thing"
        strength = 0.0 if open_kind else kind.strength(sentence.text)
        new_numbers = set(numbers(sentence.text)) - self._numbers
        new_names = names(sentence.text) - self._names - set(self.words)
        return [
            cosine,
            own,
            self._share(self._stems[at] | before) - own,
            self._share(self._stems[at] | after) - own,
            self._share(self._passages[sentence.index]),
            len(pairs) / max(1, len(self._pairs)),
            strength,
            float(not open_kind and strength == 0),
            float(kind.name in _COUNTED and bool(new_numbers)),
            float(kind.name in _NAMED and bool(new_names)),
            len(self._names & {stem(word) for word in words}) / max(1, len(self._names)),
            1 / (1 + sentence.index),
            self._scores[sentence.index],
            math.log1p(len(sentence.text.split())),
        ]

    def rows(self, cosines: Mapping[Sentence, float]) -> NDArray[np.float64]:
        """float64 (n, features) of the sentences of `cosines` in its order."""
        places = {sentence: at for at, sentence in enumerate(self.sentences)}
        return np.array([self.features(places[one], cosine) for one, cosine in cosines.items()])

    def scored(self, cosines: Mapping[Sentence, float]) -> list[Scored]:
        """The sentences of `cosines` in its order, each with its cosine to the question."""
        if not cosines:
            return []
        fitted = weights()
        rows = self.rows(cosines)
        values = rows @ fitted.order
        found = []
        for at, sentence in enumerate(cosines):
            confidence = logistic(
                float(self.evidence(rows, values, at, fitted.background) @ fitted.confidence)
            )
            value = round(float(values[at] / fitted.order[0]), 6)
            overlap, holds = float(rows[at, OVERLAP]), bool(rows[at, TYPE] > 0)
            found.append(Scored(sentence, value, round(confidence, 6), round(overlap, 6), holds))
        return found

    def evidence(
        self, rows: NDArray[np.float64], values: NDArray[np.float64], best: int, background: float
    ) -> NDArray[np.float64]:
        """`EVIDENCE`, float64 (10,), of the sentence in row `best`.

        `rows`: float64 (n, features); `values`: float64 (n,), by which they are ordered."""
        of = dict(zip(FEATURES, rows[best], strict=True))
        missing = [background] * max(1, MOST_SENTENCES - len(values))
        others = np.array([*np.delete(values, best), *missing])
        margin = max(-FURTHEST, min(FURTHEST, float(values[best] - others.max())))
        held = set().union(*self._passages.values())
        no_name = len(self._names - held) / max(1, len(self._names))
        row = [
            *(1.0, of["cosine"], of["overlap"], of["passage"], 1 - self._share(held), no_name),
            -math.log1p(float(np.exp(others - values[best]).sum())),
            *(margin, of["no_type"], math.log1p(len(self.words))),
        ]
        return np.array(row)

    def _share(self, found: set[str]) -> float:
        return lexical_overlap(self.words, found, self._rarity)
