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
from rag.reasoners.embedded.answer_open import AskedText, columns
from rag.reasoners.embedded.frame_votes import Vote, frame_votes, softmax, window_odds, window_weights
from rag.reasoners.embedded.over_time import answer_over_time, chosen_option
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
UNSAID = -60.0
"""Log odds of an option of which no sentence was read."""
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


def compare(
    question: Question,
    sequence: Sequence[Sentence],
    vectors: SentenceVectors,
    stored: Mapping[str, NDArray[np.float32]],
    weights: NDArray[np.float64],
    beside: NDArray[np.float64] | float = 0.0,
) -> Compared:
    """Compare each option with the sentences that the options put first by what needs no vector.

    `sequence`: all sentences in their order; `stored`: vectors that need not be encoded, by text; `weights`:
    float64 (features,); `beside`: float64 (sentences,), added to their values.
    """
    text, claims = AskedText(question.text, sequence), [statement(question, one) for one in question.options]
    rows, kept = _lexical(question, text), list[int]()
    if sequence:
        kept = np.unique((rows @ weights + beside).round(6).argmax(axis=1)).tolist()
    held, rows = [sequence[at] for at in kept], rows[:, kept]
    if held:
        known = vectors.of([*claims, *(one.context for one in held)], stored)
        said = np.stack([known[one.context] for one in held])
        rows[:, :, FEATURES.index("claim")] = np.stack([known[claim] for claim in claims]) @ said.T
    facts = np.array([1.0, text.unknown, np.log1p(len(sequence))])
    return Compared(tuple(held), tuple(kept), rows, facts)


def _lexical(question: Question, text: AskedText) -> NDArray[np.float64]:
    """float64 (options, sentences, features), without what vectors say: `claim` is 0."""
    options, in_question = question.options, units(question.text).keys()
    own = []
    for every in map(units, options):
        unasked = {unit: weight for unit, weight in every.items() if unit not in in_question}
        own.append(unasked or every)
    own = [by_rarity(option, own) for option in own]
    rows = np.zeros((len(own), len(text.sentences), len(FEATURES)))
    asked = set(without_function_words(_words(question.text)))
    words, denied = [set(_words(option)) - asked for option in options], [*map(denies, options)]
    for at, one in enumerate(text.sentences):
        overlaps, held = text.overlaps(at), units(f"{one.title} {one.context}")
        given, spoken, denying = _numbers(units(one.context)), _words(one.context), denies(one.context)
        for option, weighed in enumerate(own):
            said = _numbers(weighed)
            number = 1 if said & given else -1 if said and given - in_question else 0
            rows[option, at] = (
                *(*overlaps, 0.0, share(weighed, held), -number if denied[option] else number),
                *(denied[option] != denying, _nearness(spoken, words[option], asked)),
            )
    return rows


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
    features, none = columns(FEATURES, [held["features"]])[0], columns(NONE, [held["none"]])[0]
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
    by, question, options = weights(), reading.question, range(len(reading.question.options))
    hops = bool(votes) and all(map(two_hop, question.options))
    if votes and not hops and asks_for_thing(question.text):
        sequence = [one for one in sequence if one.origin == "window"]
    odds = window_odds(reading, shown)
    beside = np.array([odds.get(one.index, 0.0) if one.origin == "window" else 0.0 for one in sequence])
    compared = compare(question, sequence, vectors, reading.text_vectors, by.features, beside)
    of_sentences = compared.rows @ by.features + beside[list(compared.places)]
    words = raw = np.logaddexp.reduce(of_sentences, axis=1, initial=UNSAID)
    log_none = float(compared.facts @ by.none)
    none = [at for at in options if sequence and Form.NONE_OF.search(question.options[at])]
    if none:
        raw[none], log_none = log_none, -math.inf
    without = log_none
    if hops:
        words, log_none = _within_each_hop(question, raw), -math.inf
    elif votes:
        # Each is as likely as far as the words support none of them.
        words = np.logaddexp(raw, log_none - math.log(len(options)))
    shares = softmax(words + (by.image * np.array([vote.z for vote in votes]) if votes else 0.0))
    best = int(np.argmax(shares.round(6)))
    by_frames = chance_by_frames(votes[best], len(votes), by) if votes else 0.0
    equal = [option_label(at) for at in options if shares[best] - shares[at] < EVEN]
    unsupported = raw[best] < log_none and by_frames < LEAST
    if not reading.must_choose and (unsupported or len(equal) > 1):
        why = "supports none of the options" if unsupported else f"does not distinguish {' and '.join(equal)}"
        return ChosenOption(choice=None, confidence=0.0, explanation=f"The evidence read {why}.")
    sure = float(shares[best])
    if not reading.must_choose:
        by_words = sure / (1 + math.exp(log_none - np.logaddexp.reduce(raw)))
        sure = by_words if raw[best] >= log_none else by_frames
    if best in none:
        # That nothing read supports the others is no proof that they are wrong.
        why = "No sentence that was read supports another option."
        return chosen_option(shares.tolist(), why, sure=min(sure, UNSURE))
    # A sentence that supports none of the options is no evidence beside frames that do.
    said = sequence and (votes is None or raw[best] > without)
    nearest = compared.sentences[int(of_sentences[best].round(6).argmax())] if said else None
    # Frames that hardly tell the options apart are no evidence beside a sentence that does. Of two hops they
    # decide the first.
    vote = votes[best] if votes and (hops or by_frames >= LEAST or nearest is None) else None
    sure = min(sure, UNSURE) if nearest is None or nearest.seen_alone else sure
    return _chosen(best, shares, sure, nearest, vote)


def seen_features(vote: Vote, options: int) -> list[float]:
    """The features that `Weights.seen` weighs, of the option that frames put first among so many, at least 2,
    in its order: the log odds of its share; `Vote.event`, as far as no other option fits; 1."""
    share = min(math.exp(vote.z) / options, 1 - DOUBT)
    return [math.log(share / (1 - share)), vote.event * vote.z / math.log(options), 1.0]


def chance_by_frames(vote: Vote, options: int, by: Weights) -> float:
    """Chance that an option which frames alone support is right, in [0, 1]: never sure."""
    return min(logistic(float(np.dot(by.seen, seen_features(vote, options)))), UNSURE)


def _within_each_hop(question: Question, words: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of two-hop options: log p(option by words, given its X)."""
    whens = np.array([hop["when"] if hop else "" for hop in map(two_hop, question.options)])
    same = np.where(whens[:, None] == whens, words, -np.inf)
    return np.asarray(words - np.logaddexp.reduce(same, axis=1), np.float64)


def _chosen(
    best: int, shares: NDArray[np.float64], sure: float, one: Sentence | None, vote: Vote | None
) -> ChosenOption:
    """The option with its evidence: the sentence that says most for it, and the window whose frames do."""
    windows, passages, reasons = set[int](), set[int](), []
    if one is not None:
        (windows if one.origin == "window" else passages).add(one.index)
        reasons.append(f"({option_label(best)}) is nearest to {place_of(one)}: “{one.text}”")
    if vote is not None:
        windows.add(vote.window)
        if vote.z > 0:
            reasons.append("the frames fit it best")
    text = "; ".join(reasons)[:1500] or "No option stands out"
    explanation = f"{text[0].upper()}{text[1:]}".removesuffix(".") + ("" if text.endswith("”") else ".")
    return chosen_option(shares.tolist(), explanation, windows, passages, sure)
