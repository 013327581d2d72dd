"""An open question answered by the evidence sentence that answers it best, quoted unchanged.

Sentences of passages are ordered, and their confidence is given, by the fitted model of `quotation`. Each
sentence of the windows is scored by

    value = cosine(question, sentence) + 0.12 overlap + cue

with the overlap weighted by how rare a word is among the sentences at hand, and a cue for holding the kind of
thing that is asked for. Its confidence is `rag.relevance`'s curve for answers; a cue can only take away from
it, but for a measure ("110 Nm") with all the words of a question for one ("how tight", "how far"). Of the
best of both the more confident one is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial

from rag.function_words import is_english
from rag.reasoners.embedded.agreement import denies
from rag.reasoners.embedded.answer_types import THING, AnswerType, answer_type
from rag.reasoners.embedded.calendar_terms import dates, is_open_ended, names_same_dates, years
from rag.reasoners.embedded.contrast import names_another
from rag.reasoners.embedded.opposites import opposites
from rag.reasoners.embedded.over_time import count_open
from rag.reasoners.embedded.procedures import UNSURE, described_open, steps_open
from rag.reasoners.embedded.question_forms import Form, focus_noun, parts, speech_question
from rag.reasoners.embedded.question_parts import without_source_sentences
from rag.reasoners.embedded.quotation import PassageText, Scored, fitted_weights, lacks_what_is_named, names
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.sentences import (
    Sentence,
    contrasts,
    distinct,
    place_of,
    said_of_another,
    sentences_of,
    sequence_of,
    shortlist,
)
from rag.reasoners.roles.answer_open import OpenAnswer
from rag.reasoners.roles.reading import Reading
from rag.relevance import OVERLAP_WEIGHT, ImageScoreCalibrator, answer_confidence
from rag.words import content_words, is_participle, lexical_overlap, rarity, tokens, word_set

TYPE_BONUS = 0.08
FOCUS_BONUS = 0.06
"""For holding the noun of "which NOUN" or "what NOUN"."""
TYPE_MALUS = 0.10
"""Off for a sentence without the kind of thing a strict question asks for; half of it for the others."""
MEASURE_BONUS = 0.08
FULL = 0.999
_ORDERED = re.compile(
    r"\b(?:then|next|afterwards|before|after|until|when|once|followed|precede[sd]?)\b", re.IGNORECASE
)
"""In a sentence that itself says what comes before or after what."""
_ENTRY = re.compile(r"(?P<key>[^\W\d_][^.:;,!?]{1,40}):\s+\S")
_NAMES = re.compile(r",|/|\b(?:and|or)\b")
STATED = 0.6
"""Confidence of an entry or a row that has the name of what is asked."""
MOST_BESIDE = 0.6
"""Confidence of a sentence that is taken for its place alone."""
MOST_AFTER = 3
"""Sentences after the best one of which one may say the same of another day or year."""
LEAST_OF_EVENT = 0.5
"""Share of the words of an event that a line of a video has which says that it happens."""
NEAR = 0.05
"""Value, or confidence, that a sentence which backs the answer may lack of the best one's."""
MOST_COMPARED = 96
"""Sentences of passages that are compared with a question in other words than theirs."""
NEAR_IN_MEANING, LEAD, ALONE = 0.55, 0.1, 0.5
"""Cosine of the nearest sentence, how far it is before the next, and its confidence
(docs/how-to/answer-from-text.md)."""
LEAST = 0.05
"""Confidence below which no sentence is an answer, whatever the threshold."""


def answer_open(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> OpenAnswer:
    """How often an event is seen or the steps of a procedure, where that is asked; else the best sentence, or
    an empty text where none comes near."""
    found = count_open(reading, vectors, calibrator) or steps_open(reading)
    if found is None:
        found = _quoted(reading, vectors)
        described = described_open(reading, found)
        if described is None and found.confidence < UNSURE:
            described = _nearest_by_far(reading, vectors)
        found = described or found
    return found


def _nearest_by_far(reading: Reading, vectors: SentenceVectors) -> OpenAnswer | None:
    """The sentence of a passage that is by far the nearest in meaning, whatever words it shares with the
    question: "What is the code?", "the combination is 7302". None where none is, or where its passage lacks
    a name, a code or a number that the question gives, or where it names another thing in place of one; nor
    in other languages than English, the bundled encoder's, where too much is near.

    All sentences are compared, without the title of their passage, which makes them alike.
    """
    question = without_source_sentences(reading.question.text)
    if not is_english(tokens(question)):
        return None
    speaking = _speaking(question, sentences_of(reading))
    read = [one for one in speaking if one.origin == "passage"][:MOST_COMPARED]
    rows = vectors.of([question, *(one.text for one in read)])
    cosines = [round(float(rows[question] @ rows[one.text]), 6) for one in read]
    if len(cosines) < 2:
        return None
    first, second = sorted(cosines, reverse=True)[:2]
    if first < NEAR_IN_MEANING or first - second < LEAD:
        return None
    best = read[cosines.index(first)]
    passage = reading.passages[best.index].passage
    if (
        lacks_what_is_named(question, f"{passage.title} {passage.text}")
        or names_another(question, best.context)
        or contrasts(question, [best], speaking, reading)
    ):
        return None
    return OpenAnswer(
        text=best.context if best.is_row else best.text,
        confidence=ALONE,
        explanation=f"Quoted from {place_of(best)}: by far the nearest in meaning of all sentences read.",
        passages=(best.index,),
    )


def ranked_answers(reading: Reading, vectors: SentenceVectors) -> list[Scored]:
    """The sentences that may answer, the one to quote first; none where none comes near."""
    return _ranked(reading, cosines_of_shortlist(reading, vectors))


def _ranked(reading: Reading, asked: Shortlisted) -> list[Scored]:
    # A sign or a number read off a screen answers nothing by itself.
    ranked = [
        one
        for one in scored_sentences(reading, asked)
        if one.overlap or one.sentence.origin == "passage" or len(content_words(one.sentence.context)) > 1
    ]
    ranked = _stating(_beside(ranked, reading, asked), reading, asked)
    return ranked if ranked and ranked[0].confidence >= LEAST else []


def _quoted(reading: Reading, vectors: SentenceVectors) -> OpenAnswer:
    asked = cosines_of_shortlist(reading, vectors)
    ranked = _ranked(reading, asked)
    if not ranked:
        return OpenAnswer(text="", confidence=0.0, explanation=_refusal(reading, asked))
    best = ranked[0]
    support = [best, *_also(ranked)]
    windows = sorted({s.sentence.index for s in support if s.sentence.origin == "window"})
    passages = sorted({s.sentence.index for s in support if s.sentence.origin == "passage"})
    return OpenAnswer(
        text=best.sentence.context if best.sentence.is_row else best.sentence.text,
        confidence=best.confidence,
        explanation=_explanation(best, reading.question.text),
        windows=tuple(windows),
        passages=tuple(passages),
    )


def _refusal(reading: Reading, asked: Shortlisted) -> str:
    """That nothing is answered, and which other thing the nearest sentence is about, where it is known."""
    others = contrasts(asked.question, asked.cosines, asked.sentences, reading)
    why = said_of_another(asked.question, others)
    return f"No sentence of the evidence speaks to the question{': ' if why else ''}{why}."


def _beside(ranked: list[Scored], reading: Reading, asked: Shortlisted) -> list[Scored]:
    """For a question what comes before or after an event: first the sentence that says so ("After X, do Y"),
    or where the best one only says that the event happens, the sentence beside it. Where a passage has none
    there, and the best one says little else, nothing; a window may show it.

    Neither where it lacks a word of what is asked beside the event that the best one has. To what happens, or
    is said, beside a line of a video (`Form.WHAT_ELSE`) only the line beside it is an answer.
    """
    taken = parts(reading.question.text)
    if not ranked or taken.position == "within":
        return ranked
    event, best = content_words(taken.event), ranked[0]
    held = word_set(best.sentence.text) & word_set(taken.core) - set(event)
    for one in ranked:
        said = parts(one.sentence.text)
        as_asked = said.position == taken.position and held <= word_set(one.sentence.text)
        if as_asked and lexical_overlap(event, content_words(said.event)) == 1:
            return [one, *(other for other in ranked if other is not one)]
    step = 1 if taken.position == "after" else -1
    asks_else = Form.WHAT_ELSE.search(taken.core)
    if asks_else and best.sentence.origin == "window":
        found = _line_beside(ranked, event, word_set(asks_else["who"] or ""), step, asked)
        return (
            [found, *(one for one in ranked if one.sentence not in (found.sentence, found.anchor))]
            if found
            else []
        )
    if lexical_overlap(event, content_words(best.sentence.text)) < 1 or _ORDERED.search(best.sentence.text):
        return ranked
    place = asked.sequence.index(best.sentence) + step
    for beside in asked.sequence[max(0, place) : place + 1]:
        if _source(beside) == _source(best.sentence) and held <= word_set(beside.text):
            return [_moved(best, beside), *(one for one in ranked[1:] if one.sentence != beside)]
    little = len(content_words(best.sentence.text)) < 2 * len(event)
    return [] if little and best.sentence.origin == "passage" and not held else ranked


def _line_beside(
    ranked: Sequence[Scored], event: Sequence[str], who: AbstractSet[str], step: int, asked: Shortlisted
) -> Scored | None:
    """The line of a video just after (`step` 1) or before (-1) the one that has most words of an event, or of
    the next ones the first on `who`; None where none has half of the words, or none is there."""
    anchor = max(ranked, key=lambda one: lexical_overlap(event, word_set(one.sentence.text)))
    near = anchor.sentence
    if lexical_overlap(event, word_set(near.text)) < LEAST_OF_EVENT:
        return None
    for place, one in enumerate(asked.sequence):
        # Windows overlap: one may end with the line that another one goes on from.
        if (one.origin, one.kind, one.start, one.text) != (near.origin, near.kind, near.start, near.text):
            continue
        beside = asked.sequence[place + 1 :] if step > 0 else asked.sequence[:place][::-1]
        for other in beside[:MOST_AFTER]:
            if _source(other) == _source(one) and who <= word_set(other.context):
                return _moved(anchor, other)
    return None


def _moved(anchor: Scored, beside: Sentence) -> Scored:
    """The sentence beside the one with the event, no surer than that."""
    confidence = min(anchor.confidence, MOST_BESIDE)
    return replace(anchor, sentence=beside, confidence=confidence, anchor=anchor.sentence)


def _stating(ranked: list[Scored], reading: Reading, asked: Shortlisted) -> list[Scored]:
    """First what states just what is asked, where the best sentence does not: an entry or a row that has the
    name of what is asked ("In stock: 44."), or the sentence after it with the verb ("What was stolen ...?").

    The passage must have all words of the question.
    """
    if not ranked or ranked[0].sentence.origin != "passage":
        return ranked
    question, best = asked.question, ranked[0].sentence
    wanted, kind = word_set(question), answer_type(question)
    passage = reading.passages[best.index].passage
    if wanted - word_set(f"{passage.title} {passage.text}"):
        return ranked
    sequence = [one for one in asked.sequence if _source(one) == _source(best)]
    places = {one: at for at, one in enumerate(sequence)}
    after = {one: (places[one] - places[best]) % len(sequence) for one in sequence}
    held = word_set(best.text)
    verb = Form.WHAT_WAS_DONE.search(question)
    done = word_set(verb["verb"]) - held if verb and is_participle(verb["verb"]) else set()
    for one in sorted((one for one in ranked if one.sentence in after), key=lambda one: after[one.sentence]):
        sentence = one.sentence
        keys = (word_set(key) for key in _keys_of(sentence))
        named = any(key and key <= wanted and (sentence is best or not key <= held) for key in keys)
        sure = 0.0
        if named and (kind.name == "thing" or kind.strength(sentence.context) > 0):
            sure = STATED
        elif after[sentence] == 1 and done and done <= word_set(sentence.text):
            sure = min(ranked[0].confidence, MOST_BESIDE) if names(sentence.text) <= names(question) else 0.0
        if sure:
            first = replace(one, confidence=max(one.confidence, sure))
            return [first, *(other for other in ranked if other is not one)]
    return ranked


def _keys_of(sentence: Sentence) -> list[str]:
    """What an entry gives the value of ("In stock" of "In stock: 44."), or each thing that the first cell of
    a row names ("Students and pensioners")."""
    if sentence.is_row:
        return _NAMES.split(sentence.text.split(" | ")[0])
    entry = _ENTRY.match(sentence.text)
    return [entry["key"]] if entry else []


def _source(sentence: Sentence) -> tuple[str, int, str]:
    """Within one, sentences follow each other as they are said or written."""
    return sentence.origin, sentence.index, sentence.kind


def answer_unaided(reading: Reading, vectors: SentenceVectors) -> OpenAnswer:
    """From the passages alone: there is no knowledge beside them."""
    return _quoted(reading, vectors)


@dataclass(frozen=True, slots=True)
class Shortlisted:
    """What is asked of a reading, all its sentences, and the cosines of those worth a vector."""

    question: str
    """Without sentences that only say which video is meant."""
    core: str
    """What is asked, without scene and speaker."""
    wanted: tuple[str, ...]
    """Stems of what is asked."""
    kind: AnswerType
    sequence: tuple[Sentence, ...]
    """With a text as often as it occurs: what follows what."""
    sentences: tuple[Sentence, ...]
    """Each text once."""
    cosines: dict[Sentence, float]


def cosines_of_shortlist(reading: Reading, vectors: SentenceVectors) -> Shortlisted:
    """Cosine of the question and each sentence in its context, below its title where it has one."""
    question = without_source_sentences(reading.question.text)
    core = parts(question).asked or question
    core = speech_question(core) or core
    kind = answer_type(core)
    wanted = content_words(core) or content_words(question)
    sequence = sequence_of(reading)
    sentences = distinct(sequence)
    texts = {
        one: f"{one.title}. {one.context}" if one.title else one.context
        for one in shortlist(wanted, _speaking(core, sentences), kind)
    }
    rows = vectors.of([core, *texts.values()], reading.text_vectors) if texts else {}
    cosines = {one: round(float(rows[core] @ rows[text]), 6) for one, text in texts.items()}
    return Shortlisted(question, core, wanted, kind, tuple(sequence), tuple(sentences), cosines)


def _speaking(question: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    """Those that may answer: to "What must not be used ...?" what is used is no answer."""
    negated = Form.NEGATED.search(question) is not None
    return [one for one in sentences if not negated or denies(one.text)]


def scored_sentences(reading: Reading, asked: Shortlisted) -> list[Scored]:
    """First the one to quote: of the best of the windows and the best of the passages the more confident.

    Then the others by value; equal ones in the order of reading. Sentences about another thing than the
    question are left out once all are scored, so that those that remain are no surer for it.
    """
    if not asked.cosines:
        return []
    weights = rarity([word_set(f"{one.title} {one.context}") for one in asked.cosines])
    spoken = [
        _score(one, cosine, asked, weights) for one, cosine in asked.cosines.items() if one.origin == "window"
    ]
    read = [one for one in asked.sentences if one.origin == "passage"]
    written = PassageText(asked.core, read, [passage.score for passage in reading.passages]).scored(
        {one: cosine for one, cosine in asked.cosines.items() if one.origin == "passage"}, fitted_weights()
    )
    others = contrasts(asked.question, asked.cosines, asked.sentences, reading)
    dated = _of_time_asked(max([*spoken, *written], key=lambda one: one.confidence), asked)
    spoken, written = (
        sorted((one for one in scored if one.sentence not in others), key=lambda one: -one.value)
        for scored in (spoken, written)
    )
    first = [dated] if dated else [*spoken[:1], *written[:1]]
    if not first:
        return []
    best = max(first, key=lambda one: one.confidence)
    rest = [one for one in (*spoken, *written) if one.sentence is not best.sentence]
    return [best, *sorted(rest, key=lambda one: -one.value)]


def _of_time_asked(best: Scored, asked: Shortlisted) -> Scored | None:
    """The sentence on the day or in the year that is asked about just after the best one, which names others,
    or no day: "Open Monday to Friday. On Sundays it is closed.", "In 2022 it was 12 tons. In 2023 it was 9.".
    None where there is none, or where the best one names it.
    """
    question, said = asked.question, best.sentence.context
    if dates(question).days and not names_same_dates(question, said) and not is_open_ended(said):
        return _just_after(best, asked, partial(names_same_dates, question), alike=bool(dates(said).days))
    wanted = years(question)
    if wanted and years(said) and wanted.isdisjoint(years(said)):
        return _just_after(best, asked, lambda text: not wanted.isdisjoint(years(text)), alike=True)
    return None


def _just_after(
    best: Scored, asked: Shortlisted, names_it: Callable[[str], bool], *, alike: bool
) -> Scored | None:
    """The first of the sentences after the best one that names what is asked about, unless the best one
    holds more of what is asked for. `alike`: else it has a word of the question, or its opposite."""
    wanted = {word for word in asked.wanted if not dates(word).said}
    wanted |= {other for word in wanted for other in opposites(word)}
    place = asked.sequence.index(best.sentence) + 1
    for one in asked.sequence[place : place + MOST_AFTER]:
        fits = asked.kind.strength(one.text) >= asked.kind.strength(best.sentence.text)
        near = _source(one) == _source(best.sentence) and names_it(one.text)
        if near and fits and (alike or wanted & word_set(one.text)):
            return replace(best, sentence=one, confidence=min(best.confidence, MOST_BESIDE))
    return None


def _score(sentence: Sentence, cosine: float, asked: Shortlisted, weights: Mapping[str, float]) -> Scored:
    """A sentence of a window, whose time says when it happens."""
    wanted, focus = asked.wanted, focus_noun(asked.core)
    kind = THING if Form.MOMENT.search(asked.core) else asked.kind
    rarest = max(weights.values())
    known = {word: weights.get(word, rarest) for word in wanted}
    said = word_set(sentence.context)
    overlap = lexical_overlap(wanted, said, known)
    if sentence.title:
        overlap = (overlap + lexical_overlap(wanted, said | word_set(sentence.title), known)) / 2
    strength = kind.strength(sentence.text)
    bonus = TYPE_BONUS * strength if kind.name != "thing" else 0.0
    bonus += FOCUS_BONUS if focus and focus in said else 0.0
    malus = 0.0 if strength or kind.name == "thing" else TYPE_MALUS * (1.0 if kind.strict else 0.5)
    malus += TYPE_MALUS if sentence.text.rstrip().endswith("?") else 0.0
    value = round(cosine + OVERLAP_WEIGHT * overlap + bonus - malus, 6)
    sure = MEASURE_BONUS if overlap > FULL and kind.measures(sentence.text) else 0.0
    confidence = answer_confidence(cosine - malus + sure, overlap)
    return Scored(sentence, value, confidence, round(overlap, 6), kind is asked.kind and strength == 1)


def _also(ranked: Sequence[Scored]) -> list[Scored]:
    """At most two other sentences that come near the best, from another place: they back the answer.

    Values of windows and of passages have different scales; between them the confidence says what is near.
    """
    best, found = ranked[0], list[Scored]()
    for other in ranked[1:]:
        alike = other.sentence.origin == best.sentence.origin
        behind = best.value - other.value if alike else best.confidence - other.confidence
        if behind <= NEAR and not (alike and other.sentence.index == best.sentence.index):
            found.append(other)
    return found[:2]


def _explanation(best: Scored, question: str) -> str:
    kind = answer_type(without_source_sentences(question))
    claims = [f"holds {best.overlap:.0%} of the question's words"] if best.overlap else []
    if best.holds_type and kind.name != "thing":
        claims.append(f"names what a “{kind.name}” question asks for")
    why = f"; it {' and '.join(claims)}" if claims else ""
    row = f" (“{best.sentence.text}”)" if best.sentence.is_row else ""
    place = place_of(best.sentence) + row
    if best.anchor is not None:
        return f"Quoted from {place}: it comes just {parts(question).position} “{best.anchor.text}”."
    return f"Quoted from {place}: of all sentences read it fits best{why}."
