"""An open question answered by the evidence sentence that answers it best, quoted unchanged.

Each sentence of the windows and passages that were read is scored by

    value = cosine(question, sentence) + 0.12 overlap + cue

with the overlap weighted by how rare a word is among the sentences at hand
(words of a passage's title count half), and a cue for holding the kind of
thing that is asked for. The confidence is `rag.relevance`'s
curve for answers; a cue can only take away from it, but for a measure ("110 Nm")
with all the words of a question for one ("how tight", "how far").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag.reasoners.embedded.answer_types import AnswerType, answer_type, focus_noun
from rag.reasoners.embedded.rewriting import parts, without_source_sentences
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.sentences import Sentence, sentences_of, shortlist, speech_question
from rag.reasoners.roles.answer_open import OpenAnswer
from rag.reasoners.roles.reading import Reading
from rag.relevance import answer_confidence, content_words, lexical_overlap, rarity

if TYPE_CHECKING:
    from numpy.typing import NDArray

TYPE_BONUS = 0.08
FOCUS_BONUS = 0.06
"""For holding the noun of "which NOUN" or "what NOUN"."""
TYPE_MALUS = 0.10
"""Off for a sentence without the kind of thing a strict question asks for; half of it for the others."""
MEASURE_BONUS = 0.08
FULL = 0.999
LEAST = 0.05
"""Confidence below which no sentence is an answer, whatever the threshold."""

PLACES = {
    "subtitle": "the subtitles",
    "asr": "what is said",
    "ocr": "the text on screen",
    "caption": "the caption",
    "chapter": "the chapter title",
    "tag": "the tags",
}


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence with its value as an answer (unbounded) and its confidence in [0, 1]."""

    sentence: Sentence
    value: float
    confidence: float
    overlap: float
    holds_type: bool


def answer_open(reading: Reading, vectors: SentenceVectors) -> OpenAnswer:
    """The best sentence, or an empty text where none comes near."""
    ranked = scored_sentences(reading, vectors)
    if not ranked or ranked[0].confidence < LEAST:
        return OpenAnswer(
            text="", confidence=0.0, explanation="No sentence of the evidence speaks to the question."
        )
    best = ranked[0]
    support = [best, *_also(ranked)]
    windows = sorted({s.sentence.index for s in support if s.sentence.origin == "window"})
    passages = sorted({s.sentence.index for s in support if s.sentence.origin == "passage"})
    return OpenAnswer(
        text=best.sentence.text,
        confidence=best.confidence,
        explanation=_explanation(best, answer_type(without_source_sentences(reading.question.text))),
        windows=tuple(windows),
        passages=tuple(passages),
    )


def answer_unaided(reading: Reading, vectors: SentenceVectors) -> OpenAnswer:
    """From the passages alone: there is no knowledge beside them."""
    return answer_open(reading, vectors)


def scored_sentences(reading: Reading, vectors: SentenceVectors) -> list[Scored]:
    """Best first; equal ones in the order of reading."""
    question = without_source_sentences(reading.question.text)
    core = parts(question).asked or question
    core = speech_question(core) or core
    kind = answer_type(core)
    wanted = content_words(core) or content_words(question)
    candidates = shortlist(wanted, sentences_of(reading), kind)
    if not candidates:
        return []
    weights = rarity([set(content_words(f"{s.title} {s.context}")) for s in candidates])
    focus = focus_noun(core)
    cosines = _cosines(core, candidates, vectors)
    scored = [
        _score(sentence, float(cosine), wanted, weights, kind, focus)
        for sentence, cosine in zip(candidates, cosines, strict=True)
    ]
    order = sorted(range(len(scored)), key=lambda i: (-scored[i].value, i))
    return [scored[i] for i in order]


def _score(
    sentence: Sentence,
    cosine: float,
    wanted: Sequence[str],
    weights: Mapping[str, float],
    kind: AnswerType,
    focus: str,
) -> Scored:
    rarest = max(weights.values())
    known = {word: weights.get(word, rarest) for word in wanted}
    said = set(content_words(sentence.context))
    overlap = lexical_overlap(wanted, said, known)
    if sentence.title:
        overlap = (overlap + lexical_overlap(wanted, said | set(content_words(sentence.title)), known)) / 2
    strength = kind.strength(sentence.text)
    bonus = TYPE_BONUS * strength if kind.name != "thing" else 0.0
    bonus += FOCUS_BONUS if focus and focus in said else 0.0
    malus = 0.0 if strength or kind.name == "thing" else TYPE_MALUS * (1.0 if kind.strict else 0.5)
    malus += TYPE_MALUS if sentence.text.rstrip().endswith("?") else 0.0
    value = round(cosine + 0.12 * overlap + bonus - malus, 6)
    sure = MEASURE_BONUS if overlap > FULL and kind.measures(sentence.text) else 0.0
    confidence = answer_confidence(cosine - malus + sure, overlap)
    return Scored(sentence, value, confidence, round(overlap, 6), strength > 0)


def _cosines(question: str, sentences: Sequence[Sentence], vectors: SentenceVectors) -> NDArray[np.float64]:
    """(n,) the cosine of each sentence in its context, below its title where it has one."""
    texts = [f"{s.title}. {s.context}" if s.title else s.context for s in sentences]
    rows = vectors.of([question, *texts])
    return np.array([round(float(rows[question] @ rows[text]), 6) for text in texts])


def _also(ranked: Sequence[Scored]) -> list[Scored]:
    """Other sentences that come near the best, from another place: they back the answer."""
    best = ranked[0]
    return [
        other
        for other in ranked[1:3]
        if other.value >= best.value - 0.05
        and (other.sentence.origin, other.sentence.index) != (best.sentence.origin, best.sentence.index)
    ]


def _explanation(best: Scored, kind: AnswerType) -> str:
    sentence = best.sentence
    if sentence.origin == "passage":
        place = f"the passage “{sentence.title}”" if sentence.title else "a passage"
    else:
        place = f"{PLACES[sentence.kind]} at {sentence.start:.1f}-{sentence.end:.1f} s"
    shared = f"{best.overlap:.0%} of the question's words"
    sort = (
        f" and names what a “{kind.name}” question asks for"
        if best.holds_type and kind.name != "thing"
        else ""
    )
    return f"Quoted from {place}: of all sentences read it is nearest in meaning, holds {shared}{sort}."
