"""What sentences say of each option of a question, as numbers: the features of `answer_choice`.

Texts are compared by their `units`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rag.function_words import listed, without_function_words
from rag.reasoners.embedded.sentences import of_one_text
from rag.reasoners.embedded.units import GRAM, NUMBER, by_rarity, share, units
from rag.words import number_tokens, numbers, tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.reasoners.embedded.scoring import SentenceVectors
    from rag.reasoners.embedded.sentences import Sentence
    from rag.records import Question

OF_SENTENCE = ("cosine", "grams", "before", "after")
OF_OPTION = (*("claim", "covered", "covered_near", "pairs", "number", "negation", "elsewhere", "beside"),)
FEATURES = (*OF_SENTENCE, *OF_OPTION)
"""Of a sentence, for a question: cosine of both; share of the question's units, by rarity, that it holds, and
what the sentence before and the one after add to that.

Of a sentence, for an option: cosine to the claim; share of the option's own units that it holds with its
title, of which those that fewer options share count more, and what its neighbours add; share of the option's
neighbouring words that are neighbours there; 1 where it has a number of the option and -1 where only others,
or the contrary where the option denies; whether one of the two denies; share of the units of the other
options that it holds and this one has not; how near in it a word of the option is to one of the question, 1 /
words apart."""
NONE = ("constant", "unknown", "sentences")
"""Of a question: 1; the share of its units, by rarity, that nothing read holds; log of the number of
sentences read."""
MOST_COMPARED = 8
"""Sentences that are compared by vectors: those that the other features put first."""
NEGATIONS = listed(
    """no not never nor neither without cannot nicht nie kein keine keinen keiner ohne ni nunca sin jamais
    ne pas sans"""
)
_CONTRACTED = re.compile(r"n['’]t\b")


def denies(text: str) -> bool:
    """Whether a text has an odd number of words that negate."""
    return bool((sum(word in NEGATIONS for word in tokens(text)) + len(_CONTRACTED.findall(text))) % 2)


@dataclass(frozen=True, slots=True)
class Compared:
    """Sentences; `rows` float64 (options, sentences, features) of each with each option; `facts` float64
    (none,), `NONE` of the question."""

    sentences: tuple[Sentence, ...]
    rows: NDArray[np.float64]
    facts: NDArray[np.float64]


class OptionText:
    """What was read for one question with options. `sequence`: all sentences in their order."""

    def __init__(self, question: Question, sequence: Sequence[Sentence]) -> None:
        self.question, self._sequence = question, sequence
        self._asked = units(question.text)
        self._own = [_without(units(option), self._asked) or units(option) for option in question.options]
        self._held = [units(f"{one.title} {one.context}").keys() for one in sequence]
        self._bare = [units(one.context).keys() for one in sequence]
        shares = Counter(unit for own in self._own for unit in own)
        count = len(self._own)
        self._rare = {unit: math.log(1 + count / shares[unit]) for unit in shares}
        self._weight = by_rarity(self._asked, self._bare)
        self._words = [_words(option) for option in question.options]
        self._asked_words = set(without_function_words(_words(question.text)))
        pairs = [set(pairwise(words)) for words in self._words]
        common = {pair for pair in pairs[0] if all(pair in other for other in pairs)} if pairs else set()
        self._pairs = [own - common for own in pairs]

    def lexical(self) -> NDArray[np.float64]:
        """float64 (options, sentences, features), without what vectors say: `cosine` and `claim` are 0."""
        rows = np.zeros((len(self._own), len(self._sequence), len(FEATURES)))
        for at in range(len(self._sequence)):
            rows[:, at, : len(OF_SENTENCE)] = self._of_sentence(at)
            for option in range(len(self._own)):
                rows[option, at, len(OF_SENTENCE) :] = self._of_option(option, at)
        return rows

    def compared(
        self,
        claims: Sequence[str],
        vectors: SentenceVectors,
        stored: Mapping[str, NDArray[np.float32]],
        weights: NDArray[np.float64] | None = None,
    ) -> Compared:
        """Every sentence, or with `weights` float64 (features,) the `MOST_COMPARED` that come first by what
        needs no vector. `claims`: of each option; `stored`: vectors that need not be encoded, by text."""
        rows, kept = self.lexical(), list(range(len(self._sequence)))
        if weights is not None:
            first = (rows @ weights).max(axis=0).round(6)
            kept = sorted(np.argsort(-first, kind="stable")[:MOST_COMPARED].tolist())
        held = [self._sequence[at] for at in kept]
        rows = rows[:, kept]
        if held:
            known = vectors.of([self.question.text, *claims, *(one.context for one in held)], stored)
            said = np.stack([known[one.context] for one in held])
            rows[:, :, FEATURES.index("cosine")] = said @ known[self.question.text]
            rows[:, :, FEATURES.index("claim")] = np.stack([known[claim] for claim in claims]) @ said.T
        unknown = 1.0 - share(self._weight, set().union(*self._held))
        return Compared(tuple(held), rows, np.array([1.0, unknown, math.log1p(len(self._sequence))]))

    def _of_sentence(self, at: int) -> list[float]:
        own = share(self._weight, self._held[at])
        before, after = (
            share(self._weight, self._held[at] | beside) - own
            for beside in (self._beside(at, -1), self._beside(at, 1))
        )
        return [0.0, own, before, after]

    def _of_option(self, option: int, at: int) -> list[float]:
        own, held = self._own[option], self._held[at]
        covered = self._share(own, held)
        near = self._share(own, held | self._beside(at, -1) | self._beside(at, 1)) - covered
        others = {unit for other in self._own for unit in other} - own.keys()
        denied = denies(self.question.options[option])
        said, given = ({unit for unit in of if unit[0] == NUMBER} for of in (own, self._bare[at]))
        number = 1 if said & given else -1 if said and given - self._asked.keys() else 0
        pairs, spoken = self._pairs[option], _words(self._sequence[at].context)
        return [
            *(0.0, covered, near),
            len(pairs & set(pairwise(spoken))) / max(1, len(pairs)),
            -number if denied else number,
            float(denied != denies(self._sequence[at].context)),
            len(others & held) / max(1, len(others)),
            _nearness(spoken, set(self._words[option]) - self._asked_words, self._asked_words),
        ]

    def _beside(self, at: int, step: int) -> set[str]:
        """The units of the sentence before or after, where it is of the same text."""
        place = at + step
        if not 0 <= place < len(self._sequence):
            return set()
        same = of_one_text(self._sequence[at], self._sequence[place])
        return set(self._bare[place]) if same else set()

    def _share(self, own: Mapping[str, float], held: Collection[str]) -> float:
        return share({unit: weight * self._rare[unit] for unit, weight in own.items()}, held)


def _without(own: Mapping[str, float], others: Mapping[str, float]) -> dict[str, float]:
    return {unit: weight for unit, weight in own.items() if unit not in others}


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    """The words of a text in order, each by its first letters, and numbers by their value."""
    return tuple(f"{numbers(word)[0]:.15g}" if numbers(word) else word[:GRAM] for word in number_tokens(text))


def _nearness(spoken: Sequence[str], own: Collection[str], asked: Collection[str]) -> float:
    """1 / how many words apart the nearest two are, of which one is in `own` and one in `asked`; 0
    without."""
    places = [[at for at, word in enumerate(spoken) if word in of] for of in (own, asked)]
    return max(
        (1 / abs(one - other) for one in places[0] for other in places[1] if one != other), default=0.0
    )
