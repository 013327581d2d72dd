"""What sentences say of each option of a question, as numbers: the features of `answer_choice`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rag.function_words import listed, without_function_words
from rag.reasoners.embedded.quotation import AskedText
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.sentences import Sentence
from rag.reasoners.embedded.units import GRAM, NUMBER, by_rarity, share, units
from rag.records import Question
from rag.words import number_tokens, numbers, tokens

FEATURES = ("overlap", "before", "after", "claim", "covered", "number", "negation", "beside")
"""Of a sentence, for an option: the first three as in `quotation`; cosine to the claim; share of the option's
own units that it holds with its title, of which those that fewer options share count more; 1 where it has a
number of the option and -1 where only others, or the contrary where the option denies; whether one of the two
denies; how near in it a word of the option is to one of the question, 1 / words apart."""
NONE = ("constant", "unknown", "sentences")
"""Of a question: 1; the share of its units, by rarity, that nothing read holds; log of the number of
sentences read."""
MOST_COMPARED = 2
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
    """What is compared: sentences, their places among all, `rows` float64 (options, sentences, features) of
    each with each option, and `facts` float64 (none,), `NONE` of the question."""

    sentences: tuple[Sentence, ...]
    places: tuple[int, ...]
    rows: NDArray[np.float64]
    facts: NDArray[np.float64]


class OptionText:
    """What was read for one question with options. `sequence`: all sentences in their order."""

    def __init__(self, question: Question, sequence: Sequence[Sentence]) -> None:
        self._question, self._sequence = question, sequence
        self._text, self._asked = AskedText(question.text, sequence), units(question.text).keys()
        every = [units(option) for option in question.options]
        own = [_without(option, self._asked) or option for option in every]
        self._own = [by_rarity(option, own) for option in own]

    def lexical(self) -> NDArray[np.float64]:
        """float64 (options, sentences, features), without what vectors say: `claim` is 0."""
        rows = np.zeros((len(self._own), len(self._sequence), len(FEATURES)))
        options, asked = self._question.options, set(without_function_words(_words(self._question.text)))
        words, denied = [set(_words(option)) - asked for option in options], [*map(denies, options)]
        for at, one in enumerate(self._sequence):
            overlaps, held = self._text.overlaps(at), units(f"{one.title} {one.context}")
            given, spoken, denying = _numbers(units(one.context)), _words(one.context), denies(one.context)
            for option, own in enumerate(self._own):
                said = _numbers(own)
                number = 1 if said & given else -1 if said and given - self._asked else 0
                rows[option, at] = (
                    *(*overlaps, 0.0, share(own, held), -number if denied[option] else number),
                    *(denied[option] != denying, _nearness(spoken, words[option], asked)),
                )
        return rows

    def compared(
        self,
        claims: Sequence[str],
        vectors: SentenceVectors,
        stored: Mapping[str, NDArray[np.float32]],
        weights: NDArray[np.float64],
        beside: NDArray[np.float64] | None = None,
    ) -> Compared:
        """The `MOST_COMPARED` sentences that come first by what needs no vector. `claims`: of each option;
        `stored`: vectors that need not be encoded, by text; `weights`: float64 (features,); `beside`:
        float64 (sentences,), added to their values."""
        rows = self.lexical()
        first = (rows @ weights).max(axis=0)
        first = (first if beside is None else first + beside).round(6)
        kept = sorted(np.argsort(-first, kind="stable")[:MOST_COMPARED].tolist())
        held, rows = [self._sequence[at] for at in kept], rows[:, kept]
        if held:
            known = vectors.of([*claims, *(one.context for one in held)], stored)
            said = np.stack([known[one.context] for one in held])
            rows[:, :, FEATURES.index("claim")] = np.stack([known[claim] for claim in claims]) @ said.T
        facts = np.array([1.0, self._text.unknown, np.log1p(len(self._sequence))])
        return Compared(tuple(held), tuple(kept), rows, facts)


def _without(own: Mapping[str, float], others: Collection[str]) -> dict[str, float]:
    return {unit: weight for unit, weight in own.items() if unit not in others}


def _numbers(held: Collection[str]) -> set[str]:
    return {unit for unit in held if unit.startswith(NUMBER)}


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
