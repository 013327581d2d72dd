"""An open question answered by the sentence that answers it best, quoted unchanged."""

from __future__ import annotations

from rag.reasoners.embedded.over_time import count_open
from rag.reasoners.embedded.question_forms import parts
from rag.reasoners.embedded.quotation import AskedText, Ranked, asks_for_number, fitted_weights
from rag.reasoners.embedded.reader import open_reader
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.sentences import Sentence, place_of, sequence_of
from rag.reasoners.embedded.units import share, units
from rag.reasoners.roles.answers import OpenAnswer
from rag.reasoners.roles.reading import Reading
from rag.records import UNSURE
from rag.relevance import ImageScoreCalibrator
from rag.words import numbers

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
    """From the passages alone: there is no knowledge beside them."""
    return _quoted(reading, vectors)


def ranked_answers(reading: Reading, vectors: SentenceVectors) -> Ranked:
    """The sentences that may answer, the one to quote first; none where nothing was read."""
    question = reading.question.text
    asked = asked_text(question, reading)
    if not asked.sentences:
        return Ranked((), 0.0)
    fitted = fitted_weights()
    places, rows = asked.shortlist(read_values(asked, question), fitted)
    vector = vectors.of([question])[question]
    texts = [asked.sentences[at].context for at in places]
    known = vectors.of(texts, reading.text_vectors)
    cosines = [round(float(vector @ known[text]), 6) for text in texts]
    ranked = asked.ranked(places, rows, cosines, fitted)
    best = ranked.found[0].sentence
    if asks_for_number(vector, vectors.encoder, fitted) and not numbers(f"{best.title} {best.context}"):
        return Ranked(ranked.found, min(ranked.confidence, UNSURE))
    return ranked


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
    nearest = tuple(dict.fromkeys(one.sentence.text for one in ranked.found))[:MOST_NEAREST]
    best = _in_time(reading, ranked.found[0].sentence) if ranked.confidence >= LEAST else None
    if best is None:
        why = "No sentence of the evidence surely speaks to the question."
        return OpenAnswer(text="", confidence=0.0, explanation=why, nearest=nearest)
    # A line that is known by its time alone is never sure.
    sure = ranked.confidence if best is ranked.found[0].sentence else UNSURE
    return OpenAnswer(
        text=best.context if best.is_row else best.text,
        confidence=sure,
        explanation=f"Quoted from {place_of(best)}: of all sentences read it fits best.",
        windows=(best.index,) if best.origin == "window" else (),
        passages=(best.index,) if best.origin == "passage" else (),
        nearest=nearest,
    )


def _in_time(reading: Reading, best: Sentence) -> Sentence | None:
    """The sentence to quote for a question about what comes just before or after an event.

    Of the lines of one video this is the neighbour, by time, of the line that says the event. `best` where
    the question has no such event or `best` is neither of the two lines; None where there is no neighbour.
    """
    anchor, lines = reading.anchor, [one for one in sequence_of(reading) if one.origin == "window"]
    event = units(anchor.description)
    if anchor.position == "within" or not event or best.origin != "window":
        return best
    says = max(lines, key=lambda one: share(event, units(one.text)))
    # A line that orders two events by itself is the answer.
    if parts(says.text).position == anchor.position or share(event, units(says.text)) < SAYS_EVENT:
        return best
    videos = [window.window.video_id for window in reading.windows]
    near = [one for one in lines if (one.kind, videos[one.index]) == (says.kind, videos[says.index])]
    if anchor.position == "before":
        found = max((one for one in near if one.start < says.start), key=_start, default=None)
    else:
        found = min((one for one in near if one.start > says.start), key=_start, default=None)
    return found if best.text in (says.text, found.text if found else "") else best


def _start(line: Sentence) -> float:
    return line.start
