"""A question with options: how likely each is, by what sentences and frames say.

    p(option i) ~ sum over sentences s of exp(w . f(i, s))        p(none of them) ~ exp(u . g)

with f the `FEATURES` and g the `NONE`. `training/options.py` fits w and u to
questions with known answers and writes `options.json`. The frames' vote (`frame_votes`) is added to log p.
A sentence of a window counts with the window's weight (`window_odds`), so that of several windows that say
what an option says the one that shows the scene decides.
Where the words support none of the options, the frames alone may: with a chance that is fitted to questions
about real and synthetic footage. Questions about what is not there have half of the weight in that fit.

Two-hop options, "When X. The object does Y." (EgoFact, section 2.2): options with the same X are about the
same object, and what that object is, is in their passages, not in them; so frames say which X it is, and
words count only against each other within one X. Which thing is seen ("what is the object that ...?") is
stated by no passage, so there only the clip's own words count beside the frames.

Questions of order and number: `over_time`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.function_words import listed, without_function_words
from rag.questions import option_label
from rag.reasoners.embedded.answer_open import AskedText
from rag.reasoners.embedded.frame_votes import Vote, frame_votes, softmax, window_odds, window_weights
from rag.reasoners.embedded.over_time import answer_over_time
from rag.reasoners.embedded.rewriting import Form, asks_for_thing, spelled_out, statement, two_hop
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.sentences import Sentence, place_of, sentences_of
from rag.reasoners.embedded.units import GRAM, NUMBER, by_rarity, share, units
from rag.reasoners.roles.answers import ChosenOption
from rag.reasoners.roles.reading import Reading
from rag.records import UNSURE, Question
from rag.relevance import ImageScoreCalibrator, logistic
from rag.words import number_tokens, numbers, tokens

FEATURES = ("overlap", "before", "after", "claim", "covered", "number", "negation", "beside")
"""Of a sentence, for an option: the first three as in `answer_open`; cosine to the claim; share of the
option's own units that it holds with its title, of which those that fewer options share count more; 1 where
it has a number of the option and -1 where only others, or the contrary where the option denies; whether one
of the two denies; how near in it a word of the option is to one of the question, 1 / words apart."""
NONE = ("constant", "unknown", "sentences")
"""Of a question: 1; the share of its units, by rarity, that nothing read holds; log of the number of
sentences read."""
COMPARED = 1
"""Sentences of each option that are compared with all options by vectors: those that its other features put
first."""
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
        """The `COMPARED` sentences of each option that come first by what needs no vector. `claims`: of each
        option; `stored`: vectors that need not be encoded, by text; `weights`: float64 (features,);
        `beside`: float64 (sentences,), added to their values."""
        rows = self.lexical()
        first = rows @ weights + (0.0 if beside is None else beside)
        kept = np.unique(np.argsort(-first.round(6), axis=1, kind="stable")[:, :COMPARED]).tolist()
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


LEAST = 0.3
"""Chance that the frames are right below which they alone support no option: as `search.threshold`."""
DOUBT = 0.005
"""Share that frames leave to the other options, at least."""
EVEN = 1e-6
"""Between two shares, below which neither option is likelier."""


@dataclass(frozen=True, slots=True)
class Weights:
    """`features` float64 (features,), `none` float64 (none,), in the order of `FEATURES` and `NONE`; `image`:
    of the frames' vote; `seen`: of `seen_features`, for the log odds that frames alone are right."""

    features: NDArray[np.float64]
    none: NDArray[np.float64]
    image: float
    seen: tuple[float, ...]


@cache
def weights() -> Weights:
    """The weights that come with the installation."""
    held = json.loads(Path(__file__).with_name("options.json").read_text(encoding="utf-8"))
    features = np.array([held["features"][name] for name in FEATURES])
    none = np.array([held["none"][name] for name in NONE])
    return Weights(features, none, held["image"], (*held["seen"],))


def answer_choice(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> ChosenOption:
    """The likeliest option; no choice where none of them is likelier, unless one must be chosen."""
    reading = replace(reading, question=spelled_out(reading.question))
    timed = answer_over_time(reading, vectors, calibrator)
    if timed is not None:
        return timed
    shown = window_weights(reading, calibrator)
    votes, sequence = frame_votes(reading, calibrator, shown), sentences_of(reading)
    if votes and asks_for_thing(reading.question.text) and not any(map(two_hop, reading.question.options)):
        sequence = [one for one in sequence if one.origin == "window"]
    by, question = weights(), reading.question
    options = range(len(question.options))
    claims = [statement(question, option) for option in question.options]
    odds = window_odds(reading, shown)
    beside = np.array([odds.get(one.index, 0.0) if one.origin == "window" else 0.0 for one in sequence])
    text = OptionText(question, sequence)
    compared = text.compared(claims, vectors, reading.text_vectors, by.features, beside)
    of_sentences = compared.rows @ by.features + beside[list(compared.places)]
    words = np.logaddexp.reduce(of_sentences, axis=1) if sequence else np.zeros(len(options))
    log_none = float(compared.facts @ by.none) if sequence else math.inf
    if none := [at for at in options if Form.NONE_OF.search(question.options[at])]:
        words[none], log_none = (log_none if sequence else 0.0), -math.inf
    image, hops = np.zeros(len(options)), False
    raw, without = words, log_none
    if votes is not None:
        image = np.array([by.image * vote.z for vote in votes])
        if hops := all(map(two_hop, question.options)):
            words, log_none = _within_each_hop(question, words), -math.inf
        else:
            words = _even_out(words, log_none)
    shares = softmax(words + image)
    best = int(np.argmax(shares.round(6)))
    by_frames = chance_by_frames(votes[best], len(votes), by) if votes else 0.0
    sure = None
    if not reading.must_choose:
        if raw[best] >= log_none:
            sure = float(shares[best] / (1 + math.exp(log_none - np.logaddexp.reduce(raw))))
        elif by_frames >= LEAST:
            sure = by_frames
        else:
            return _no_choice("The evidence read supports none of the options.")
    equal = [option_label(at) for at in options if shares[best] - shares[at] < EVEN]
    if len(equal) > 1 and not reading.must_choose:
        return _no_choice(f"The evidence read does not distinguish {' and '.join(equal)}.")
    # A sentence that supports none of the options is no evidence beside frames that do.
    said = sequence and (votes is None or raw[best] > without)
    nearest = compared.sentences[int(of_sentences[best].round(6).argmax())] if said else None
    # Frames that hardly tell the options apart are no evidence beside a sentence that does. Of two hops they
    # decide the first.
    vote = votes[best] if votes and (hops or by_frames >= LEAST or nearest is None) else None
    return _chosen(best, shares, sure, nearest, vote)


def seen_features(vote: Vote, options: int) -> list[float]:
    """The features that `Weights.seen` weighs, of the option that frames put first among so many, at least 2,
    in its order: the log odds of its share; `Vote.event`, as far as no other option fits; 1."""
    share = min(math.exp(vote.z) / options, 1 - DOUBT)
    return [math.log(share / (1 - share)), vote.event * vote.z / math.log(options), 1.0]


def chance_by_frames(vote: Vote, options: int, by: Weights) -> float:
    """Chance that an option which frames alone support is right, in [0, 1]: never sure."""
    return min(logistic(float(np.dot(by.seen, seen_features(vote, options)))), UNSURE)


def _no_choice(why: str) -> ChosenOption:
    return ChosenOption(choice=None, confidence=0.0, explanation=why)


def _within_each_hop(question: Question, words: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of two-hop options: log p(option by words, given its X)."""
    hops = [two_hop(option) for option in question.options]
    whens = np.array([hop.when if hop else "" for hop in hops])
    whole = {when: np.logaddexp.reduce(words[whens == when]) for when in set(whens.tolist())}
    return np.asarray(words - np.array([whole[when] for when in whens.tolist()]), np.float64)


def _even_out(words: NDArray[np.float64], log_none: float) -> NDArray[np.float64]:
    """log p(option by words), where each is as likely as far as the words support none of them."""
    if log_none == math.inf:
        return np.zeros(len(words))
    return np.asarray(np.logaddexp(words, log_none - math.log(len(words))), np.float64)


def _chosen(
    best: int, shares: NDArray[np.float64], sure: float | None, one: Sentence | None, vote: Vote | None
) -> ChosenOption:
    """The option with its evidence: the sentence that says most for it, and the window whose frames do."""
    scores = [round(float(share), 6) for share in shares]
    scores[best] = round(1.0 - sum(scores[:best] + scores[best + 1 :]), 6)
    windows, passages, reasons = set[int](), set[int](), []
    if one is not None:
        (windows if one.origin == "window" else passages).add(one.index)
        reasons.append(f"({option_label(best)}) is nearest to what {place_of(one)} says: “{one.text}”")
    if vote is not None:
        windows.update(vote.windows)
        if vote.z > 0:
            reasons.append("the frames fit it best")
    text = "; ".join(reasons)[:1500] or "No option stands out"
    return ChosenOption(
        choice=option_label(best),
        scores=tuple(scores),
        confidence=scores[best] if sure is None else round(sure, 6),
        explanation=f"{text[0].upper()}{text[1:]}".removesuffix(".") + ("" if text.endswith("”") else "."),
        windows=tuple(sorted(windows)),
        passages=tuple(sorted(passages)),
    )
