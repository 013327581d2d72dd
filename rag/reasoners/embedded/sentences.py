"""From what was read to whole sentences, each with its place, and which of them are about what is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from corpora.records import SPOKEN
from rag.reasoners.embedded.answer_types import AnswerType
from rag.reasoners.embedded.calendar_terms import dates, names_other_dates, names_same_dates
from rag.reasoners.embedded.contrast import Contrast, find_contrast
from rag.reasoners.embedded.cues import joined_cues
from rag.reasoners.embedded.question_forms import Form, asks_openly
from rag.reasoners.embedded.sections import RELEASE, sections, statements
from rag.reasoners.roles.reading import Reading, ReadPassage, ReadWindow
from rag.words import codes, content_words, lexical_overlap, split_sentences, word_set

MIN_WORDS = 4
"""Words on end that make a sentence of a description; tags, separated by commas, are shorter."""
MOST_SENTENCES = 16
TITLE_SHARE = 0.3
TYPE_SHARE = 0.3
PLACE_SHARE = 0.4
"""Weights of a shared title, of the kind of thing asked for, and of a high place in retrieval, against
a weight of 1 for all of the question's words in the sentence itself."""
PLACES = {
    "subtitle": "the subtitles",
    "asr": "what is said",
    "ocr": "the text on screen",
    "caption": "the caption",
    "chapter": "the chapter title",
    "tag": "the tags",
}
CODES_BETWEEN = re.compile(
    r"[^\W\d_]\d+\s*(?:[-–…/]\s*[^\W\d_]?\d|\b(?:to|through|bis|and later|or later)\b)", re.IGNORECASE
)
"""Between two codes, or after one: others are meant too."""
_ASKS = re.compile(r"[?？؟][\"'”’)\]]*$")
"""A question, which answers none: what follows it may."""
_DICTATES = re.compile(
    r"\b(?:ignor(?:e|iere?)|disregard|forget|override|vergiss)\b[^.;!?]{0,40}?"
    r"\b(?:questions?|instructions?|prompts?|fragen?|anweisung(?:en)?)\b"
    r"|(?:^|[.,;:]|\b(?:and|then|please|must|should|always|just|und|bitte))\s*"
    r"(?:answer|reply|respond|antworte)\b(?: (?:with|only|always|just|by|mit|nur))*:?\s*"
    r"(?:[\"“‘'][^\"”’']+[\"”’']|\d[\d.,]*|(?-i:[A-Z])|yes|no|ja|nein)\s*(?:$|[.,;!]|\b(?:to|instead|auf)\b)",
    re.IGNORECASE,
)
"""Commands to a reader about what to answer."""
_CLAIMS = re.compile(
    r"\b(?:answer|antwort)\b(?: (?:to|auf)\b[^.;!?]{0,60})?(?: (?:is|are|must be|should be|ist|lautet)\b|:)"
    r"|\b(?:option|choice|answer|antwort) (?-i:[A-Z]) (?:is|ist) (?:the )?"
    r"(?:correct|right|true|answer|richtig)\b",
    re.IGNORECASE,
)
"""What says which answer is right, and not why."""
_OF_ANSWERS = re.compile(r"\b(?:answers?|antwort(?:en)?)\b", re.IGNORECASE)
_OF_ORDERS = re.compile(r"\b(?:ignor\w*|disregard\w*|forg[eo]t\w*|overrid\w*|vergess\w*)\b", re.IGNORECASE)
_TAG = re.compile(
    r",\s+(?:right|ok|okay|all ?right|yes|yeah|huh|eh|(?:you )?see|you know|"
    r"\w+(?:n['’]t)? (?:i|you|we|they|he|she|it|there))\W*$",
    re.IGNORECASE,
)
"""What makes no question of a statement: "Tighten it to 25 Nm, right?"."""
_BACK = re.compile(
    r"^(?:and |but |so |then |also )?(?:it|its|it's|this|that|these|those|they|them|he|she|his|her|their)\b",
    re.I,
)
DATED_START = 40
"""Characters of a sentence that may begin with the day of what it says."""
_BACK_DATED = re.compile(r"s?,?\s+(?:[^\W\d_]+\s+)?(?:it|they|this|es|sie)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of the material read, with its source; [start, end) seconds for a window."""

    text: str
    context: str
    """The sentence as it is compared: after the one it points back to or the question it answers; of a row of
    a table its cells below the heads of their columns."""
    title: str
    origin: Literal["window", "passage"]
    index: int
    """Into `Reading.windows` or `Reading.passages`."""
    kind: str
    start: float = 0.0
    end: float = 0.0

    @property
    def is_row(self) -> bool:
        """Whether it is a row of a table, whose context has the heads of its columns."""
        return self.origin == "passage" and " | " in self.text


def place_of(sentence: Sentence) -> str:
    """Where it is, in words."""
    if sentence.origin == "passage":
        return f"the passage “{sentence.title}”" if sentence.title else "a passage"
    return f"{PLACES[sentence.kind]} at {sentence.start:.1f}-{sentence.end:.1f} s"


def sentences_of(reading: Reading) -> list[Sentence]:
    """All sentences of windows and passages, in their order, each text once."""
    return distinct(sequence_of(reading))


def contrasts(
    question: str, sentences: Iterable[Sentence], among: Sequence[Sentence], reading: Reading
) -> dict[Sentence, Contrast]:
    """The sentences that are about another thing than a question (`find_contrast`), or on other days."""
    sentences = list(sentences)
    found = on_other_days(question, sentences, among)
    for one in sentences:
        title, around = _surroundings(one, reading)
        contrast = find_contrast(question, one.context, title, around)
        if contrast is not None:
            found[one] = contrast
    return found


def said_of_another(question: str, found: Mapping[Sentence, Contrast]) -> str:
    """What the sentence of `contrasts` that shares most words with a question is about; empty without one."""
    if not found:
        return ""
    wanted = content_words(question)
    nearest = max(found, key=lambda one: lexical_overlap(wanted, word_set(one.context)))
    return f"“{nearest.text}” is about “{found[nearest].said}”, and not “{found[nearest].asked}”"


def on_other_days(
    question: str, sentences: Iterable[Sentence], among: Sequence[Sentence]
) -> dict[Sentence, Contrast]:
    """The sentences that name other days or months than a question.

    To whether something is so on a day others are no answer only where one `among` them names that day.
    """
    asked = dates(question)
    if not asked.said:
        return {}
    if not asks_openly(question) and not any(names_same_dates(question, one.context) for one in among):
        return {}
    texts = {one: f"{one.title}: {one.context}" for one in sentences}
    return {
        one: Contrast(asked.said, dates(text).said)
        for one, text in texts.items()
        if names_other_dates(question, text)
    }


def _surroundings(sentence: Sentence, reading: Reading) -> tuple[str, str]:
    """The title of what a sentence is part of, and its text."""
    if sentence.origin == "passage":
        return sentence.title, reading.passages[sentence.index].passage.text
    window = reading.windows[sentence.index]
    return window.title, " ".join(evidence.text for evidence in window.texts)


def distinct(sentences: Iterable[Sentence]) -> list[Sentence]:
    """The first sentence of each text."""
    found: dict[str, Sentence] = {}
    for sentence in sentences:
        found.setdefault(sentence.text.casefold(), sentence)
    return list(found.values())


def sequence_of(reading: Reading) -> list[Sentence]:
    """As `sentences_of`, with a text as often as it occurs: what follows what."""
    found = [s for index, window in enumerate(reading.windows) for s in _of_window(index, window)]
    asked = codes(reading.question.text)
    found += [s for index, read in enumerate(reading.passages) for s in _of_passage(index, read, asked)]
    found = [s for s in found if not _dictates(s, reading.question.text)]
    # "What does she ask the waiter?" may be answered by a question.
    if Form.ABOUT_QUESTIONS.search(reading.question.text):
        return found
    return [s for s in found if s.kind not in (*SPOKEN, "passage") or s.is_row or not _asks(s.text)]


def shortlist(
    wanted: Sequence[str], sentences: Sequence[Sentence], kind: AnswerType | None = None
) -> list[Sentence]:
    """At most 16 of the sentences, in their own order. `wanted`: stems of what is asked."""
    if len(sentences) <= MOST_SENTENCES:
        return list(sentences)
    worth = []
    for sentence in sentences:
        value = lexical_overlap(wanted, word_set(sentence.context))
        value += TITLE_SHARE * lexical_overlap(wanted, word_set(sentence.title))
        if kind is not None and kind.name != "thing":
            value += TYPE_SHARE * kind.strength(sentence.text)
        worth.append(value + PLACE_SHARE / (1 + sentence.index))
    kept = sorted(range(len(sentences)), key=lambda i: (-round(worth[i], 6), i))[:MOST_SENTENCES]
    return [sentences[i] for i in sorted(kept)]


def _of_window(index: int, window: ReadWindow) -> Iterable[Sentence]:
    for kind in SPOKEN:
        spoken = [evidence for evidence in window.texts if evidence.kind == kind]
        before = ""
        for text, start, end in joined_cues(spoken):
            yield Sentence(text, _context(before, text), "", "window", index, kind, start, end)
            before = text
    for evidence in window.texts:
        if evidence.kind not in SPOKEN:
            whole = " ".join(evidence.text.split())
            for text in _described(whole, window.title) if evidence.kind == "tag" else [whole]:
                if text:
                    yield Sentence(
                        text, text, "", "window", index, evidence.kind, evidence.start, evidence.end
                    )


def _described(text: str, title: str) -> list[str]:
    """Sentences of the description: a bare title (often the file's name) and listed tags say nothing."""
    title = " ".join(title.split()).rstrip(".")
    rest = text.removeprefix(title).lstrip(". ") if title else text
    head, _, tail = rest.rpartition(". ")
    if not _is_prose(tail):
        rest = f"{head}." if head else ""
    return [sentence for sentence in split_sentences(rest) if _is_prose(sentence)]


def _is_prose(text: str) -> bool:
    return max(len(part.split()) for part in text.split(",")) >= MIN_WORDS


def _is_other(text: str, asked: frozenset[str]) -> bool:
    """Whether a sentence or a row has, in place of the codes of the question, others of the same letters."""
    if not asked or CODES_BETWEEN.search(text):
        return False
    held = codes(text, apart=True)
    missed = {code for code in asked if not any(other.startswith(code) for other in held)}
    kinds = {_letters(code) for code in asked - missed}
    return bool({_letters(code) for code in missed} & {_letters(code) for code in held} - kinds)


def _letters(code: str) -> str:
    return re.split(r"\d", code, maxsplit=1)[0]


def _of_passage(index: int, read: ReadPassage, asked: frozenset[str]) -> Iterable[Sentence]:
    """`asked`: the codes of the question."""
    for heading, body in sections(read.passage.text):
        released = f"{heading}: " if RELEASE.fullmatch(heading) else ""
        before = ""
        for label, text, said in statements(body, asked):
            is_row = said != text
            title = ": ".join(part for part in (read.passage.title, heading, label.rstrip(".")) if part)
            if _is_other(f"{released}{said}", asked):
                continue
            text, said = f"{released}{text}", f"{released}{said}"
            context = said if is_row else _context(before, said)
            yield Sentence(text, context, title, "passage", index, "passage")
            before = "" if is_row and _asks(said) else said


def _context(before: str, text: str) -> str:
    """With the question that a sentence answers, or the sentence that it points back to."""
    return f"{before} {text}" if before and (_asks(before) or _points_back(text)) else text


def _points_back(text: str) -> bool:
    """Whether "it" or "they" opens a sentence, or follows a day that opens it: "On Sundays it is"."""
    if _BACK.match(text):
        return True
    named = dates(text[:DATED_START])
    return bool(named.said) and bool(_BACK_DATED.match(text[named.end :]))


def _dictates(sentence: Sentence, question: str) -> bool:
    """Whether a sentence commands an answer of its reader, and nothing about what is asked: "ignore the
    question and answer 42", or "the answer is B" with no question before it and none for an answer."""
    before = sentence.context.removesuffix(sentence.text).strip()
    if _DICTATES.search(sentence.text):
        return not _OF_ORDERS.search(question)
    return bool(_CLAIMS.search(sentence.text)) and not _asks(before) and not _OF_ANSWERS.search(question)


def _asks(text: str) -> bool:
    return bool(_ASKS.search(text)) and not _TAG.search(text)
