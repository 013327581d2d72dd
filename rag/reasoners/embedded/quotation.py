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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rag.function_words import FUNCTION_WORDS, without_function_words
from rag.reasoners.embedded.answer_types import MONTHS, answer_type
from rag.reasoners.embedded.contrast import LONGEST_ASKED
from rag.reasoners.embedded.sentences import CODES_BETWEEN, MOST_SENTENCES, Sentence
from rag.relevance import logistic
from rag.words import codes, content_words, lexical_overlap, numbers, rarity, stem, tokens, word_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEATURES = (
    *("cosine", "overlap", "before", "after", "passage", "pairs", "type", "no_type"),
    *("new_number", "new_name", "names", "rank", "score", "length"),
)
"""Of a sentence: cosine to the question; share of the question's words, by rarity, that it holds; what the
sentence before and the one after add to that share, and the share in the whole passage with its title; share
of the question's neighbouring words that are neighbours; whether it holds what the question asks for, and
whether it holds none of it; whether it has a number or a name that the question does not, where one is asked
for; share of the question's names; 1 / (1 + rank) and score of the passage; log of the number of words."""

EVIDENCE = (
    *("constant", "cosine", "overlap", "passage", "unknown", "no_name", "share", "margin", "no_type"),
    *("words", "named", "no_value"),
)
"""Of the sentence that is quoted: features by their names; share of the question's words, by rarity, and of
its names, that no passage holds; log of its share among the sentences (softmax of the ordering); distance to
the next one, at most `FURTHEST`; log of the number of the question's words; whether the question has a name:
"How is the sound?" is answered in more places than the one that was meant; whether it gives a code, or
a number that a thing, a year or a century has ("line 9"), that the passage does not have."""

FURTHEST = 6.0
_NAME = re.compile(r"(?<![.!?:\"“]\s)(?<!^)\b[A-ZÀ-ÖØ-Þ][\w'’-]*")
_FULL_NAME = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w'’-]+(?: [A-ZÀ-ÖØ-Þ][\w'’-]+)+")
_NAMING = re.compile(
    rf"\b(?!(?:{'|'.join(MONTHS)})\b)(?P<kind>[^\W\d_]{{3,}}) (?P<label>\d{{1,3}})\b(?![.,:]?\d)|"
    r"\b(?:in|of|year) (?P<year>1\d{3}|20\d\d)\b(?!['’]?s\b)|"
    r"\b(?P<century>\d{1,2})(?:st|nd|rd|th) century"
)
"""A number after a word, which is its kind ("line 9"), but for a day; no time, amount or count."""
_VERSION = re.compile(r"v\d+")
"""Of "version 2"."""
_PERSON = re.compile(r"(?:she|he|her|his)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence with its value as an answer (unbounded, in units of cosine) and its confidence in [0, 1]."""

    sentence: Sentence
    value: float
    confidence: float
    overlap: float
    holds_type: bool
    anchor: Sentence | None = None
    """The sentence with the event that it comes before or after; None where it is found by itself."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence with its `FEATURES` by name."""

    sentence: Sentence
    features: Mapping[str, float]


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
    return Weights(held["order"], held["confidence"], held["background"])


def columns(names: Sequence[str], rows: Iterable[Mapping[str, float]]) -> NDArray[np.float64]:
    """float64 (n, names) of n rows by name. Raises KeyError for a name that a row lacks."""
    return np.array([[row[name] for name in names] for row in rows], np.float64).reshape(-1, len(names))


def names(text: str) -> set[str]:
    """Stems of the capitalized words, but for one that opens a sentence."""
    return {stem(word) for name in _NAME.findall(text) for word in tokens(name)}


def lacks_what_is_named(question: str, text: str) -> bool:
    """Whether a text lacks a name, a code or a number of a thing, a year or a century of the question."""
    known = {stem(word) for word in tokens(text)}
    return not (names(question) - FUNCTION_WORDS <= known and _has_values(_given(question), text))


def _has_values(given: set[float | str], text: str) -> bool:
    return bool(CODES_BETWEEN.search(text)) or given <= {*numbers(text), *codes(text, apart=True)}


def _given(question: str) -> set[float | str]:
    """Codes, and numbers by which a thing, a year or a century is known from others."""
    named = (
        float(match["label"] or match["year"] or match["century"])
        for match in _NAMING.finditer(question[:LONGEST_ASKED])
        if not match["kind"] or match["kind"].casefold() not in FUNCTION_WORDS
    )
    return {*named, *(code for code in codes(question) if not _VERSION.fullmatch(code))}


def _with_full_names(question: str, sentences: Sequence[Sentence]) -> list[set[str]]:
    """Stems of sentences. Those with the first or the last word alone of a full name in the question, and
    those that begin with "she" or "he" in a passage that has the name, have the whole of it."""
    stems = [set(content_words(sentence.text)) for sentence in sentences]
    for name in _FULL_NAME.findall(question[:LONGEST_ASKED]):
        whole, words = word_set(name), name.split()
        named = {one.index for one, held in zip(sentences, stems, strict=True) if held >= whole}
        if len(whole) > 1 and named:
            for sentence, held in zip(sentences, stems, strict=True):
                refers = sentence.index in named and _PERSON.match(sentence.text)
                if refers or _names_alone(sentence.text, words[0], words[-1]):
                    held.update(whole)
    return stems


def _names_alone(text: str, first: str, last: str) -> bool:
    """Whether a text has the first name without another after it, or the last without another before it."""
    words = [word.strip('.,;:!?()"“”') for word in text.split()]
    names = [word[:1].isupper() and word.casefold() not in FUNCTION_WORDS for word in words]
    return any(
        (word == last and not (at and names[at - 1])) or (word == first and not any(names[at + 1 : at + 2]))
        for at, word in enumerate(words)
    )


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
        self._given = _given(question)
        self._pairs = set(pairwise(self.words))
        self._stems = _with_full_names(question, sentences)
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
        self._read = set().union(*self._passages.values())

    def features(self, at: int, cosine: float) -> dict[str, float]:
        """`FEATURES` of one sentence by name."""
        sentence = self.sentences[at]
        held = self._places[sentence.index]
        place = held.index(at)
        before = self._stems[held[place - 1]] if place else set()
        after = self._stems[held[place + 1]] if place + 1 < len(held) else set()
        own = self._share(self._stems[at])
        words = tokens(sentence.text)
        said = list(map(stem, without_function_words(words)))
        pairs = self._pairs & set(pairwise(said))
        kind, open_kind = self._kind, self._kind.name == "thing"
        strength = 0.0 if open_kind else kind.strength(sentence.text)
        new_numbers = set(numbers(sentence.text)) - self._numbers
        new_names = names(sentence.text) - self._names - set(self.words)
        return {
            "cosine": cosine,
            "overlap": own,
            "before": self._share(self._stems[at] | before) - own,
            "after": self._share(self._stems[at] | after) - own,
            "passage": self._share(self._passages[sentence.index]),
            "pairs": len(pairs) / max(1, len(self._pairs)),
            "type": strength,
            "no_type": float(not open_kind and strength == 0),
            "new_number": float(kind.adds == "number" and bool(new_numbers)),
            "new_name": float(kind.adds == "name" and bool(new_names)),
            "names": len(self._names & {stem(word) for word in words}) / max(1, len(self._names)),
            "rank": 1 / (1 + sentence.index),
            "score": self._scores[sentence.index],
            "length": math.log1p(len(sentence.text.split())),
        }

    def candidates(self, cosines: Mapping[Sentence, float]) -> list[Candidate]:
        """The sentences of `cosines` in its order, each with its features."""
        places = {sentence: at for at, sentence in enumerate(self.sentences)}
        return [Candidate(one, self.features(places[one], cosine)) for one, cosine in cosines.items()]

    def scored(self, cosines: Mapping[Sentence, float], fitted: Weights) -> list[Scored]:
        """The sentences of `cosines` in its order, each with its cosine to the question."""
        if not cosines:
            return []
        held = self.candidates(cosines)
        values = columns(FEATURES, (one.features for one in held)) @ columns(FEATURES, [fitted.order])[0]
        found = []
        for at, one in enumerate(held):
            evidence = self.evidence(held, values, at, fitted.background)
            confidence = logistic(sum(weight * evidence[name] for name, weight in fitted.confidence.items()))
            value = round(float(values[at] / fitted.order["cosine"]), 6)
            overlap, holds_type = round(one.features["overlap"], 6), one.features["type"] == 1
            found.append(Scored(one.sentence, value, round(confidence, 6), overlap, holds_type))
        return found

    def evidence(
        self, held: Sequence[Candidate], values: NDArray[np.float64], best: int, background: float
    ) -> dict[str, float]:
        """`EVIDENCE` of `held[best]` by name. `values`: float64 (n,), by which `held` is ordered."""
        of = held[best].features
        missing = [background] * max(1, MOST_SENTENCES - len(values))
        others = np.array([*np.delete(values, best), *missing])
        return {
            **{name: of[name] for name in ("cosine", "overlap", "passage", "no_type")},
            "constant": 1.0,
            "unknown": 1 - self._share(self._read),
            "no_name": len(self._names - self._read) / max(1, len(self._names)),
            "share": -math.log1p(float(np.exp(others - values[best]).sum())),
            "margin": max(-FURTHEST, min(FURTHEST, float(values[best] - others.max()))),
            "words": math.log1p(len(self.words)),
            "named": float(bool(self._names)),
            "no_value": float(not self._passage_has_values(held[best].sentence.index)),
        }

    def _passage_has_values(self, passage: int) -> bool:
        held = (self.sentences[at] for at in self._places[passage]) if self._given else ()
        return _has_values(self._given, " ".join(f"{one.title} {one.context}" for one in held))

    def _share(self, found: set[str]) -> float:
        return lexical_overlap(self.words, found, self._rarity)
