"""An open question answered by the sentence that answers it best, quoted unchanged."""

from __future__ import annotations

from collections.abc import Sequence

from rag.reasoners.embedded.over_time import count_open
from rag.reasoners.embedded.question_forms import parts
from rag.reasoners.embedded.question_parts import without_source_sentences
from rag.reasoners.embedded.quotation import AskedText, Scored, fitted_weights, pieces
from rag.reasoners.embedded.reader import open_reader
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.sentences import Sentence, place_of, sequence_of
from rag.reasoners.roles.answer_open import OpenAnswer
from rag.reasoners.roles.reading import Reading
from rag.records import SURE
from rag.relevance import ImageScoreCalibrator

LEAST = 0.05
"""Confidence below which no sentence is an answer, whatever the threshold."""
NEAR = 0.4
"""Value that a sentence which backs the answer may lack of the best one's."""
MOST_BACKING = 2
SAYS_EVENT = 0.5
"""Share of an event's pieces from which a line says it."""
BY_TIME = SURE - 0.01
"""Confidence of a line that is known by its time alone."""


def answer_open(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> OpenAnswer:
    """How often an event is seen, where that is asked; else the best sentence, or an empty text where none
    comes near."""
    return count_open(reading, vectors, calibrator) or _quoted(reading, vectors)


def answer_unaided(reading: Reading, vectors: SentenceVectors) -> OpenAnswer:
    """From the passages alone: there is no knowledge beside them."""
    return _quoted(reading, vectors)


def ranked_answers(reading: Reading, vectors: SentenceVectors) -> list[Scored]:
    """The sentences that may answer, the one to quote first; none where none comes near."""
    question = without_source_sentences(reading.question.text)
    asked = asked_text(question, reading)
    if not asked.sentences:
        return []
    fitted = fitted_weights()
    reads = read_values(asked, question)
    places = asked.shortlist(reads, fitted)
    vector = vectors.of([question])[question]
    texts = [asked.sentences[at].context for at in places]
    rows = vectors.of(texts, reading.text_vectors)
    cosines = [round(float(vector @ rows[text]), 6) for text in texts]
    ranked = sorted(asked.scored(places, reads, cosines, fitted), key=lambda one: -one.value)
    return ranked if ranked[0].confidence >= LEAST else []


def asked_text(question: str, reading: Reading) -> AskedText:
    """All that was read, as it is compared with a question."""
    scores = {
        "window": [window.retrieval_score for window in reading.windows],
        "passage": [passage.score for passage in reading.passages],
    }
    return AskedText(question, sequence_of(reading), scores)


def read_values(asked: AskedText, question: str) -> list[float]:
    """What the cross-encoder says of each sentence, in their order."""
    said = [one.context if one.is_row else one.text for one in asked.sentences]
    texts = [[said[at] for at in part] for part in asked.parts()]
    return [value for part in open_reader().values(question, texts) for value in part]


def _quoted(reading: Reading, vectors: SentenceVectors) -> OpenAnswer:
    ranked = ranked_answers(reading, vectors)
    best = _in_time(reading, ranked[0]) if ranked else None
    if best is None:
        why = "No sentence of the evidence speaks to the question."
        return OpenAnswer(text="", confidence=0.0, explanation=why)
    support = [best, *_backing(ranked)] if best is ranked[0] else [best]
    return OpenAnswer(
        text=best.sentence.context if best.sentence.is_row else best.sentence.text,
        confidence=best.confidence,
        explanation=f"Quoted from {place_of(best.sentence)}: of all sentences read it fits best.",
        windows=tuple(sorted({one.sentence.index for one in support if one.sentence.origin == "window"})),
        passages=tuple(sorted({one.sentence.index for one in support if one.sentence.origin == "passage"})),
    )


def _in_time(reading: Reading, best: Scored) -> Scored | None:
    """To what comes before or after an event of a video: the line just before or after the one that says the
    event, by their times, where the best sentence is one of the two; None where there is none. Else the
    best."""
    anchor, lines = reading.anchor, [one for one in sequence_of(reading) if one.origin == "window"]
    event = pieces(anchor.description)
    if anchor.position == "within" or not event or best.sentence.origin != "window":
        return best
    says = max(lines, key=lambda one: len(event & pieces(one.text)))
    ordered = parts(says.text).position == anchor.position
    if ordered or len(event & pieces(says.text)) < SAYS_EVENT * len(event):
        return best
    videos = [window.window.video_id for window in reading.windows]
    near = [one for one in lines if (one.kind, videos[one.index]) == (says.kind, videos[says.index])]
    if anchor.position == "before":
        found = max((one for one in near if one.start < says.start), key=_start, default=None)
    else:
        found = min((one for one in near if one.start > says.start), key=_start, default=None)
    if best.sentence.text not in (says.text, found.text if found else ""):
        return best
    return Scored(found, best.value, BY_TIME) if found else None


def _start(line: Sentence) -> float:
    return line.start


def _backing(ranked: Sequence[Scored]) -> list[Scored]:
    """At most two other sentences that come near the best, from another place: they back the answer."""
    best = ranked[0]
    place = (best.sentence.origin, best.sentence.index)
    near = (one for one in ranked[1:] if best.value - one.value <= NEAR)
    return [one for one in near if (one.sentence.origin, one.sentence.index) != place][:MOST_BACKING]
