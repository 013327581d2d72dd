"""What sentences and images say of each option of a question: the terms that `answer_choice` adds up."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rag.reasoners.embedded.agreement import Agreement, agreement, counted, denies, part_about
from rag.reasoners.embedded.answer_types import MEASURES
from rag.reasoners.embedded.calendar_terms import names_same_dates
from rag.reasoners.embedded.claims import named_thing, statement, topic_of, two_hop
from rag.reasoners.embedded.frame_votes import frame_votes
from rag.reasoners.embedded.pairings import misarranged
from rag.reasoners.embedded.question_forms import Form, asks_for_thing, compiled
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.sentences import Sentence, contrasts, on_other_days, sentences_of, shortlist
from rag.reasoners.roles.reading import Reading
from rag.records import Question
from rag.relevance import OVERLAP_WEIGHT, ImageScoreCalibrator, text_relevance
from rag.words import content_words, lexical_overlap, numbers, stem, tokens, word_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORDS, COVERAGE, VERDICT = 8.0, 3.0, 2.5
ASKED = 3.0
"""Of the question's words in the sentence nearest to an option, where all have a number: each row of a table
has one."""
ARRANGED = 12.0
"""Off for an option of which its text says less than of the best one of the same words (`pairings.arranged`).
From 8 to 24 the same options are chosen of those that it was made with."""
OWN_WORDS = 0.25
"""What all of an option's own words add in choosing its nearest sentence."""
ON_TOPIC = 0.15
"""Cosine of what is asked and a sentence without any of its words, below which that is about something else:
0.1 for "painted the Mona Lisa" and "Director: Tomas Eklund.", 0.2 to 0.4 for paraphrases."""
SURE_RELEVANCE = 0.9
"""From which a sentence supports an option that shares no word with it, and with which the claim is nearer to
the sentence than the question alone."""
_TIMES = re.compile(r"\b(?:times|once|twice|thrice)\b", re.IGNORECASE)
"""What a text says how many times something happens with; other numbers are of other things."""
_COUNT = re.compile(r"\W*\w+(?: times)?\W*", re.IGNORECASE)
"""An option that is such a number, where it has one: "every ten minutes" is none."""
NOTHING_SAID = Agreement(0.0, 0.0, ())


@dataclass(frozen=True, slots=True)
class Weighed:
    """One option: the sentence nearest to it, what that says of it, and the image's vote."""

    sentence: Sentence | None = None
    words: float = 0.0
    relevance: float = 0.0
    agreement: Agreement = NOTHING_SAID
    nearer: bool = False
    """Whether it is nearer to the sentence than what is asked about alone, and shares no word with it."""
    on_topic: bool = True
    """Whether the sentence shares a word with what is asked, or comes near it, and not the option alone."""
    asked: float = 0.0
    """Share of the question's words that the sentence holds; 0 where an option has no number."""
    misarranged: float = 0.0
    """As of `pairings.misarranged`."""
    image: float | None = None
    frames: tuple[int, ...] = ()
    """Windows whose frames gave the vote."""

    def text_score(self) -> float:
        """What the words say."""
        said = COVERAGE * self.agreement.coverage + VERDICT * self.agreement.verdict
        return WORDS * self.words + said + ASKED * self.asked - ARRANGED * self.misarranged


def weigh(
    reading: Reading,
    vectors: SentenceVectors,
    calibrator: ImageScoreCalibrator | None,
    in_scene: frozenset[int] | None,
    *,
    claimed: bool,
) -> list[Weighed]:
    """Each option of a question, in order. `in_scene`: indices of the windows that alone count, if any do.
    `claimed`: whether the options say Yes and No to what the question says, which a text about another
    thing may deny."""
    question = reading.question
    votes = frame_votes(reading, calibrator)
    wanted = content_words(" ".join([question.text, *question.options]))
    sentences = shortlist(wanted, _sentences_about(reading, in_scene, votes is not None, claimed=claimed))
    claims = [statement(question, option) for option in question.options]
    # "Who pours the milk: Anna" is no nearer to the milk than its topic.
    topic = topic_of(question)
    texts = [*claims, *([topic] if topic else ()), *(s.context for s in sentences)]
    comparison = _Comparison(question, claimed, topic, vectors.of(texts, reading.text_vectors))
    weighed = []
    for at, claim in enumerate(claims):
        vote = votes[at] if votes else None
        by_images = Weighed() if vote is None else Weighed(image=vote.z, frames=vote.windows)
        weighed.append(comparison.with_words(by_images, at, claim, sentences))
    return _by_arrangement(question, weighed)


def _by_arrangement(question: Question, weighed: Sequence[Weighed]) -> list[Weighed]:
    """The options, with those of the same words distinguished by the arrangement of these, and not by the
    verdict, which takes each number by itself."""
    texts = ["" if one.sentence is None else one.sentence.context for one in weighed]
    worse = misarranged(question.text, question.options, texts)
    compared = [one for one, value in zip(weighed, worse, strict=True) if value is not None]
    verdict = max((one.agreement.verdict for one in compared), default=0.0)
    return [
        one
        if value is None
        else replace(one, misarranged=value, agreement=replace(one.agreement, verdict=verdict, reasons=()))
        for one, value in zip(weighed, worse, strict=True)
    ]


def _sentences_about(
    reading: Reading, in_scene: frozenset[int] | None, has_images: bool, *, claimed: bool
) -> list[Sentence]:
    """The sentences that can distinguish the options, of the scene and of the things that are asked about."""
    question = reading.question
    found = _informative_sentences(reading, has_images)
    if reading.rewritten.counted and all(_COUNT.fullmatch(o) and numbers(o) for o in question.options):
        found = [s for s in found if _TIMES.search(s.text)]
    if noun := _counted_noun(question):
        found = [s for s in found if _may_count(noun, s.context)]
    if in_scene is not None:
        found = [s for s in found if s.origin == "passage" or s.index in in_scene]
    others = (
        on_other_days(question.text, found, found)
        if claimed
        else contrasts(question.text, found, found, reading)
    )
    return [s for s in found if s not in others]


@dataclass(frozen=True)
class _Comparison:
    """A question with options, and the vectors of all texts that are compared for it."""

    question: Question
    claimed: bool
    """As of `weigh`."""
    topic: str
    """What is asked about; empty where it is unknown."""
    rows: Mapping[str, NDArray[np.float64]]
    """By text."""

    def with_words(self, by_images: Weighed, at: int, claim: str, sentences: Sequence[Sentence]) -> Weighed:
        """The option at a place with what the sentence nearest to its claim says; as it is without any."""
        option = self.question.options[at]
        thing = named_thing(self.question, option)
        # A sentence about another thing that shares the option's words says nothing of this one.
        about = [s for s in sentences if not thing or thing & stems_of(s)]
        nearest, words = _nearest(claim, option, about, self.rows)
        if nearest is None:
            return by_images
        relevance, said = text_relevance(words, 0.0), self._said(at, nearest)
        unnamed = relevance >= SURE_RELEVANCE and not said.coverage
        return replace(
            by_images,
            sentence=nearest,
            words=words,
            relevance=relevance,
            agreement=said,
            nearer=unnamed and self._is_nearer(claim, nearest),
            on_topic=self._is_on_topic(nearest),
            asked=lexical_overlap(self._asked, stems_of(nearest)) if self._all_numbers else 0.0,
        )

    @property
    def _asked(self) -> tuple[str, ...]:
        return content_words(self.question.text)

    @cached_property
    def _all_numbers(self) -> bool:
        return all(map(numbers, self.question.options))

    @cached_property
    def _answers(self) -> set[str]:
        """Words of the options that the question has not."""
        return {w for option in self.question.options for w in content_words(option)} - set(self._asked)

    @cached_property
    def _negated(self) -> bool:
        """Whether what is not so is asked for: to "What does it not eat?" it is what the text denies."""
        asked, options = self.question.text, self.question.options
        return Form.NEGATED.search(asked) is not None and not any(map(denies, options))

    def _said(self, at: int, nearest: Sentence) -> Agreement:
        """What a sentence says of an option."""
        options = self.question.options
        rivals = [_body(other) for place, other in enumerate(options) if place != at]
        body = f"{_body(options[at])} {_counted_noun(self.question)}".strip()
        body = f"not {body}" if self._negated else body
        said = agreement(body, _part_about(nearest, self._asked, options[at], self._answers), rivals)
        if self.claimed and names_same_dates(self.question.text, nearest.text):
            # What is said before it may be of other days.
            own_part = agreement(body, nearest.text, rivals)
            return replace(said, verdict=own_part.verdict, reasons=own_part.reasons)
        return said

    def _is_nearer(self, claim: str, nearest: Sentence) -> bool:
        """Whether a claim is nearer to a sentence than what is asked about alone."""
        near = self.rows[nearest.context]
        return not self.topic or float(self.rows[claim] @ near) > float(self.rows[self.topic] @ near)

    def _is_on_topic(self, nearest: Sentence) -> bool:
        """What a video shows and says was looked for by the whole question."""
        return (
            not self.topic
            or nearest.origin == "window"
            or bool(word_set(self.topic) & stems_of(nearest))
            or float(self.rows[self.topic] @ self.rows[nearest.context]) >= ON_TOPIC
        )


def _counted_noun(question: Question) -> str:
    """What a question counts whose options are but numbers: "days" of "How many days ...?"; else empty."""
    bare = all(numbers(option) and all(map(numbers, tokens(option))) for option in question.options)
    found = Form.HOW_MANY.search(question.text) if bare else None
    return found["noun"] if found else ""


def _may_count(noun: str, text: str) -> bool:
    """Whether a text has no number, or one that may be of what is counted: "3 days" counts no people."""
    held = counted(text)
    own = stem(noun.casefold())
    free = (own in one.units or not compiled(MEASURES).search(one.after) for one in held)
    return not held or any(free)


def _part_about(sentence: Sentence, asked: Sequence[str], option: str, answers: Collection[str]) -> str:
    """The part of a sentence that speaks of what is asked, or all of it where that part has none of the words
    of the options, `answers`: "Insert the lever and remove the tube"."""
    part = part_about(sentence.context, asked, option)
    beside = answers and not numbers(option) and not word_set(part) & set(answers)
    return sentence.context if beside else part


def _informative_sentences(reading: Reading, has_images: bool) -> list[Sentence]:
    """The sentences that can distinguish the options.

    Which thing is seen in a video's event is in no passage: passages that name all the options
    would drown what the images say.
    """
    sentences = sentences_of(reading)
    question = reading.question
    if not has_images or any(two_hop(option) for option in question.options):
        return sentences
    return [s for s in sentences if s.origin == "window"] if asks_for_thing(question.text) else sentences


def _nearest(
    claim: str, option: str, sentences: Sequence[Sentence], rows: Mapping[str, NDArray[np.float64]]
) -> tuple[Sentence | None, float]:
    best, most, likest = None, -math.inf, 0.0
    wanted, own = content_words(claim), content_words(option)
    for sentence in sentences:
        words_of_sentence = stems_of(sentence)
        words = float(rows[claim] @ rows[sentence.context]) + OVERLAP_WEIGHT * lexical_overlap(
            wanted, words_of_sentence
        )
        rank = round(words + OWN_WORDS * lexical_overlap(own, words_of_sentence), 6)
        if rank > most:
            best, most, likest = sentence, rank, round(words, 6)
    return best, likest


def stems_of(sentence: Sentence) -> frozenset[str]:
    """Stems of the content words of a sentence, its title and what it continues."""
    return word_set(f"{sentence.title} {sentence.context}")


def _body(option: str) -> str:
    hop = two_hop(option)
    return hop.claim if hop else option
