"""An open question answered by the sentence that answers it best, quoted unchanged, and how probably it does.

A cross-encoder reads the question with each text (`reader`), another one with each sentence that may answer
(`ranker`). A conditional logit over `FEATURES` orders the sentences by that and by words and vectors; a
logistic regression over `EVIDENCE` of the first gives the
probability that it holds the answer. Both are fitted to questions with known answers, in several languages,
by `training/quotation.py`, and kept in `quotation.json` with the names of the sets. Words
are compared by their `units`; only function words and English number words are listed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from rag.reasoners.embedded.over_time import count_open
from rag.reasoners.embedded.ranker import open_ranker
from rag.reasoners.embedded.reader import open_reader
from rag.reasoners.embedded.rewriting import parts
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.sentences import MOST_SENTENCES, Sentence, of_one_text, place_of, sequence_of
from rag.reasoners.embedded.units import all_words, by_rarity, share, units
from rag.reasoners.roles.answers import OpenAnswer
from rag.reasoners.roles.reading import Reading
from rag.records import UNSURE
from rag.relevance import RRF_K, ImageScoreCalibrator, logistic
from rag.words import numbers

FEATURES = ("cross_encoder", "relevance", "cosine", "overlap", "before", "after", "rank", "score", "length")
"""Of a sentence: what the reader and the ranker say of it; cosine to the question; share of the question's
units, by rarity, that it holds; what the sentence before and the one after add to that share; 1 / (1 + rank)
and score of the passage or window; log of the number of its units."""

EVIDENCE = (
    *("constant", "cross_encoder", "relevance", "cosine", "overlap", "passage", "unknown"),
    *("missing_number", "share", "margin", "common", "most_relevant"),
)
"""Of the sentence that is quoted: features by their names; share of the question's units that all
sentences of its passage hold, and, times `common`, that none of those read holds; whether the question has a
number that its passage lacks; log of its share among the sentences (softmax of the ordering); distance to the
next one, at most `FURTHEST`; share of the question's words, function words too, that what was read holds. The
last is near 0 where the question is in another language than the text, and then words say nothing. And the
greatest relevance of those compared."""

FURTHEST = 6.0
SUREST = 0.99
"""No confidence is greater: the fit has too few questions to tell more."""


@dataclass(frozen=True, slots=True)
class Quotable:
    """A sentence with its place among those that were read, and its value as an answer (unbounded)."""

    sentence: Sentence
    place: int
    value: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """Sentences that may answer, the best first, and the probability in [0, 1] that it is right."""

    found: Sequence[Quotable]
    confidence: float


@dataclass(frozen=True, slots=True)
class Weights:
    """What `training/quotation.py` fits."""

    order: Mapping[str, float]
    """By the names of `FEATURES`."""
    confidence: Mapping[str, float]
    """By the names of `EVIDENCE`."""
    number: Sequence[float]
    """(dim + 1,): of a question's vector and of 1, for the log odds that a number answers it."""
    encoder: str
    """Name of the text encoder whose vectors `number` was fitted to."""
    background: float
    """Mean value of sentences that hold no answer. It counts for each sentence that a short text has less
    than `MOST_SENTENCES`: the only sentence of a text is not the best of many."""


@cache
def fitted_weights(*, english: bool = False) -> Weights:
    """The weights that come with the installation: for what the ranker reads, or for other languages."""
    held = json.loads(Path(__file__).with_name("quotation.json").read_text(encoding="utf-8"))
    held |= held["english" if english else "others"]
    return Weights(**{name: held[name] for name in Weights.__dataclass_fields__})


def asks_for_number(question: NDArray[np.float64], encoder: str, fitted: Weights) -> bool:
    """Whether a number answers a question, by its unit vector, float64 (dim,): as it is in any language.

    `encoder`: its name; of another one's vectors than those of the fit nothing is known, and it is False.
    """
    return encoder == fitted.encoder and float(np.append(question, 1.0) @ np.array(fitted.number)) > 0


def columns(keys: Sequence[str], rows: Iterable[Mapping[str, float]]) -> NDArray[np.float64]:
    """float64 (n, keys) of n rows by name. Raises KeyError for a name that a row lacks."""
    return np.array([[row[name] for name in keys] for row in rows], np.float64).reshape(-1, len(keys))


class AskedText:
    """A question and the sentences that were read for it, in order."""

    def __init__(
        self,
        question: str,
        sentences: Sequence[Sentence],
        scores: Mapping[str, Sequence[float]] = MappingProxyType({}),
    ) -> None:
        """`scores`: in [0, 1], of the passages and of the windows, by `Sentence.origin`."""
        self.sentences = sentences
        self.scores = scores
        self._units = [
            frozenset(units(f"{one.context} {one.title}" if one.is_row else one.context)) for one in sentences
        ]
        # The fewer sentences hold a unit of the question, the more it says.
        self._asked = by_rarity(units(question), self._units)
        asked = all_words(question)
        said = frozenset().union(*(all_words(one.context) for one in sentences))
        self.common = len(asked & said) / max(1, len(asked))
        self.unknown = 1 - share(self._asked, set().union(*self._units))
        self._numbers = set(numbers(question))
        self._parts: dict[tuple[str, int], list[int]] = {}
        for at, one in enumerate(sentences):
            self._parts.setdefault((one.origin, one.index), []).append(at)

    def parts(self) -> list[list[int]]:
        """Places of the sentences that follow each other in one text."""
        found: list[list[int]] = []
        for at, one in enumerate(self.sentences):
            if found and of_one_text(self.sentences[found[-1][-1]], one):
                found[-1].append(at)
            else:
                found.append([at])
        return found

    def overlaps(self, at: int) -> tuple[float, float, float]:
        """`overlap`, `before` and `after` of one sentence."""
        own = share(self._asked, self._units[at])
        return own, self._with(at, at - 1) - own, self._with(at, at + 1) - own

    def features(self, at: int, read: float, cosine: float = 0.0, relevance: float = 0.0) -> dict[str, float]:
        """`FEATURES` of one sentence by name. `read`, `relevance`: what reader and ranker say of it."""
        one, (own, before, after) = self.sentences[at], self.overlaps(at)
        return {
            "cross_encoder": read,
            "relevance": relevance,
            "cosine": cosine,
            "overlap": own,
            "before": before,
            "after": after,
            "rank": 1 / (1 + one.index),
            "score": self.scores[one.origin][one.index],
            "length": math.log1p(len(self._units[at])),
        }

    def _with(self, at: int, beside: int) -> float:
        """Share that a sentence holds together with the one beside it, where that is of the same source."""
        near = 0 <= beside < len(self.sentences) and of_one_text(self.sentences[at], self.sentences[beside])
        return share(self._asked, self._units[at] | self._units[beside] if near else self._units[at])

    def shortlist(self, reads: Sequence[float], fitted: Weights) -> tuple[list[int], NDArray[np.float64]]:
        """Places of the `MOST_SENTENCES` sentences of greatest value, in order, and their `FEATURES`, float64
        (n, features), without cosine and relevance. `reads`: as of `read_values`, of all."""
        rows = columns(FEATURES, (self.features(at, read) for at, read in enumerate(reads)))
        values = (rows @ columns(FEATURES, [fitted.order])[0]).round(6)
        kept = np.sort(np.argsort(-values, kind="stable")[:MOST_SENTENCES])
        return kept.tolist(), rows[kept]

    def ranked(
        self,
        places: Sequence[int],
        rows: NDArray[np.float64],
        cosines: Sequence[float],
        relevances: Sequence[float],
        fitted: Weights,
    ) -> Ranked:
        """The sentences of a shortlist by their values. `rows`: float64 (n, features) of `shortlist`;
        `cosines`: of each to the question; `relevances`: what the ranker says of each, else 0."""
        rows = rows.copy()
        rows[:, FEATURES.index("cosine")], rows[:, FEATURES.index("relevance")] = cosines, relevances
        values = rows @ columns(FEATURES, [fitted.order])[0]
        order = np.argsort(-values.round(6), kind="stable").tolist()
        found = [
            Quotable(self.sentences[places[one]], places[one], round(float(values[one]), 6)) for one in order
        ]
        first = dict(zip(FEATURES, rows[order[0]].tolist(), strict=True))
        first["most_relevant"] = float(rows[:, FEATURES.index("relevance")].max())
        evidence = self.evidence(places[order[0]], first, values, order[0], fitted.background)
        sure = logistic(sum(weight * evidence[name] for name, weight in fitted.confidence.items()))
        # What lacks the question's own number may be on the subject, and is never sure.
        return Ranked(found, round(min(sure, UNSURE if evidence["missing_number"] else SUREST), 6))

    def evidence(
        self, at: int, row: Mapping[str, float], values: NDArray[np.float64], place: int, background: float
    ) -> dict[str, float]:
        """`EVIDENCE` by name of the sentence `at`, whose features, with `most_relevant`, are `row` and whose
        value is `values[place]`. `values`: float64 (n,) of all that are compared."""
        one = self.sentences[at]
        part = [self.sentences[other] for other in self._parts[one.origin, one.index]]
        missing = [background] * max(1, MOST_SENTENCES - len(values))
        others = np.array([*np.delete(values, place), *missing])
        known = {value for each in part for value in numbers(f"{each.title} {each.context}")}
        held = frozenset().union(*(self._units[other] for other in self._parts[one.origin, one.index]))
        return {
            **{name: row[name] for name in EVIDENCE if name in row},
            "constant": 1.0,
            "passage": share(self._asked, held.union(units(one.title))),
            "unknown": self.common * self.unknown,
            "missing_number": float(bool(self._numbers - known)),
            "share": -math.log1p(float(np.exp(others - values[place]).sum())),
            "common": self.common,
            "margin": max(-FURTHEST, min(FURTHEST, float(values[place] - others.max()))),
        }


LEAST = 0.05
"""Confidence below which no sentence is an answer, whatever the threshold."""
SAYS_EVENT = 0.5
"""Share of an event's units from which a line says it."""
MOST_NEAREST = 3
"""Sentences to look at where none is surely the answer: of 60 questions in other words than the texts', the
first one answers 18, and one of three 24."""


def answer_open(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> OpenAnswer:
    """How often an event is seen, where that is asked; else the best sentence, or an empty text where none
    comes near."""
    return count_open(reading, vectors, calibrator) or _quoted(reading, vectors)


def answer_unaided(reading: Reading, vectors: SentenceVectors) -> OpenAnswer:
    """Answer from the passages alone: there is no knowledge beside them."""
    return _quoted(reading, vectors)


def ranked_answers(reading: Reading, vectors: SentenceVectors) -> Ranked:
    """The sentences that may answer, the one to quote first; none where nothing was read.

    Of what the ranker can read and of what it cannot, the one is ranked whose best sentence is surer.
    """
    question = reading.question.text
    texts = asked_texts(question, reading)
    if not texts:
        return Ranked((), 0.0)
    vector = vectors.of([question])[question]
    each = [_ranked(text, reading, vectors, vector, english=english) for english, text in texts.items()]
    ranked = max(each, key=lambda one: one.confidence)
    best = ranked.found[0].sentence
    number = asks_for_number(vector, vectors.encoder, fitted_weights())
    if number and not numbers(f"{best.title} {best.context}"):
        return Ranked(ranked.found, min(ranked.confidence, UNSURE))
    return ranked


def _ranked(
    asked: AskedText,
    reading: Reading,
    vectors: SentenceVectors,
    vector: NDArray[np.float64],
    *,
    english: bool,
) -> Ranked:
    """Rank the sentences of `asked`. `vector`: that of the question, float64 (dim,); `english`: whether the
    ranker can read the question and the sentences."""
    question, fitted = reading.question.text, fitted_weights(english=english)
    places, rows = asked.shortlist(read_values(asked, question), fitted)
    texts = [asked.sentences[at].context for at in places]
    known = vectors.of(texts, reading.text_vectors)
    cosines = [round(float(vector @ known[text]), 6) for text in texts]
    relevances = open_ranker().values(question, texts) if english else np.zeros(len(texts))
    return asked.ranked(places, rows, cosines, relevances.tolist(), fitted)


def asked_texts(question: str, reading: Reading) -> dict[bool, AskedText]:
    """Divide what was read into texts that the ranker can read with the question (True) and others (False).

    A text in another language has other words than the question, and what was read beside it says nothing of
    them.
    """
    # Windows are ranked by chances, which have another scale than the reciprocal ranks of passages.
    scores = {
        "window": [(RRF_K + 1) / (RRF_K + 1 + at) for at in range(len(reading.windows))],
        "passage": [passage.score for passage in reading.passages],
    }
    texts: dict[tuple[str, int], list[Sentence]] = {}
    for one in sequence_of(reading):
        texts.setdefault((one.origin, one.index), []).append(one)
    found: dict[bool, list[Sentence]] = {}
    english = open_ranker().is_english(question)
    for held in texts.values():
        readable = english and open_ranker().is_english(" ".join(one.context for one in held))
        found.setdefault(readable, []).extend(held)
    return {readable: AskedText(question, held, scores) for readable, held in found.items()}


def read_values(asked: AskedText, question: str) -> list[float]:
    """What the reader says of each sentence, in their order."""
    texts = [[asked.sentences[at].said for at in part] for part in asked.parts()]
    return [value for part in open_reader().values(question, texts) for value in part]


def _quoted(reading: Reading, vectors: SentenceVectors) -> OpenAnswer:
    ranked = ranked_answers(reading, vectors)
    nearest = tuple(dict.fromkeys(one.sentence.text for one in ranked.found))[:MOST_NEAREST]
    first = ranked.found[0].sentence if ranked.found else None
    best, in_time = _in_time(reading, first) if first else (None, False)
    sure = ranked.confidence if best and first and best.text == first.text else 0.0
    # A line that is known by its time is likely, and by that alone never sure.
    sure = max(sure, UNSURE) if in_time else sure
    sure = min(sure, UNSURE) if best and best.seen_alone else sure
    if best is None or sure < LEAST:
        why = "No sentence of the evidence surely speaks to the question."
        return OpenAnswer(text="", confidence=0.0, explanation=why, nearest=nearest)
    return OpenAnswer(
        text=best.said,
        confidence=sure,
        explanation=f"Quoted from {place_of(best)}: of all sentences read it fits best.",
        windows=(best.index,) if best.origin == "window" else (),
        passages=(best.index,) if best.origin == "passage" else (),
        nearest=nearest,
    )


def _in_time(reading: Reading, best: Sentence) -> tuple[Sentence | None, bool]:
    """The sentence to quote for a question about what comes just before or after an event, and whether it is
    the line beside that of the event.

    It is `best` where the question has no such event, or where `best` is of another text than the line that
    says the event, or further away on the side that is asked for; None where no line is on that side.
    """
    anchor, lines = reading.anchor, [one for one in sequence_of(reading) if one.origin == "window"]
    event = units(anchor.description)
    if anchor.position == "within" or not event or best.origin != "window":
        return best, False
    says = max(lines, key=lambda one: share(event, units(one.text)))
    # A line that orders two events by itself is the answer.
    if parts(says.text).position == anchor.position or share(event, units(says.text)) < SAYS_EVENT:
        return best, False
    videos = [window.window.video_id for window in reading.windows]
    near = [one for one in lines if (one.kind, videos[one.index]) == (says.kind, videos[says.index])]
    sign = -1 if anchor.position == "before" else 1
    away = {one.text: sign * (one.start - says.start) for one in near}
    beyond = (one for one in near if away[one.text] > 0)
    found = min(beyond, key=lambda one: away[one.text], default=None)
    if best not in near or (found is not None and away[best.text] > away[found.text]):
        return best, False
    return found, found is not None
