"""From what was read to whole sentences, each with its place, and their relevance to a text.

Subtitle cues break sentences at the edge of the screen; here they are put
together again before anything is compared or quoted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from corpora.passages.tables import cells_of, is_rule, unescaped
from corpora.records import SPOKEN, Evidence
from rag.function_words import FUNCTION_WORDS
from rag.reasoners.embedded.answer_types import AnswerType
from rag.reasoners.embedded.calendar_terms import dates, names_other_dates, names_same_dates
from rag.reasoners.embedded.contrast import Contrast, find_contrast
from rag.reasoners.embedded.question_forms import Form, asks_openly
from rag.reasoners.roles.reading import Reading, ReadPassage, ReadWindow
from rag.relevance import text_relevance
from rag.words import CLOSED, codes, content_words, lexical_overlap, split_sentences, word_set

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag.reasoners.embedded.scoring import SentenceVectors
    from rag.reasoners.roles.material import VideoView


MAX_GAP = 2.0
"""Seconds of silence between two cues after which they are two sentences."""
MAX_WORDS = 45
"""Speech without punctuation is cut at the last cue that ends before this."""
LONGEST_SENTENCE = 2 * MAX_WORDS
"""Words of a spoken sentence that stays whole because it has an end."""
MIN_WORDS = 4
"""Words on end that make a sentence of a description; tags, separated by commas, are shorter."""
MOST_SENTENCES = 16
TITLE_SHARE = 0.3
TYPE_SHARE = 0.3
PLACE_SHARE = 0.4
"""Weights of a shared title, of the kind of thing asked for, and of a high place in retrieval, against
a weight of 1 for all of the question's words in the sentence itself."""
HEADING_WORDS = 8
"""A wrapped line of prose is longer."""
LABEL_WORDS = 2
"""Of a first sentence in a list item, which then is no sentence: "Bees."."""

PLACES = {
    "subtitle": "the subtitles",
    "asr": "what is said",
    "ocr": "the text on screen",
    "caption": "the caption",
    "chapter": "the chapter title",
    "tag": "the tags",
}

_FIGURED = re.compile(r"[\d:]")
"""In a short line this is a statement, not a heading: "Torque: 110 Nm"."""
_NUMBERED = re.compile(r"\d{1,2}(?:\.\d{1,2})*\.?\s+(?=[^\W\d_]+\s)")
"""Before a heading of two words or more that is alone: "5 Error codes"."""
_RELEASE = re.compile(
    r"\s*(?:(?:v|version )\d{1,3}(?:\.\d{1,3}){1,3}|\d{1,3}(?:\.\d{1,3}){2,3})"
    r"(?:[\s(\[–-]+\d{4}-\d\d-\d\d[)\]]?)?\s*|\s*\d{1,3}\.\d{1,3}[\s(\[–-]+\d{4}-\d\d-\d\d[)\]]?\s*",
    re.IGNORECASE,
)
"""A heading of what is listed below it: "4.1.0 (2023-11-27)"."""
CODES_BETWEEN = re.compile(
    r"[^\W\d_]\d+\s*(?:[-–…/]\s*[^\W\d_]?\d|\b(?:to|through|bis|and later|or later)\b)", re.IGNORECASE
)
"""Between two codes, or after one: others are meant too."""
ITEM = re.compile(r"^\s*(?:[-*•–]|\(?(?:\d{1,3}|[a-z])[.)])\s+")
_ROW = re.compile(r"^\s*\|(?P<cells>.+)\|\s*$")
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


def joined_cues(cues: Sequence[Evidence]) -> list[tuple[str, float, float]]:
    """Spoken cues put together into sentences: (text, start, end), in time order.

    A cue that repeats the end of the one before it (rolling captions) adds only what is new.
    """
    runs: list[list[tuple[str, float, float]]] = []
    last = ""
    for cue in sorted(cues, key=lambda cue: (cue.start, cue.end, cue.text)):
        text = _new_text(last, " ".join(cue.text.split()))
        last = " ".join(cue.text.split())
        if not text:
            continue
        if runs and _continues(runs[-1], cue):
            runs[-1].append((text, cue.start, cue.end))
        else:
            runs.append([(text, cue.start, cue.end)])
    return [sentence for run in runs for sentence in _sentences_of_run(run)]


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
        released = f"{heading}: " if _RELEASE.fullmatch(heading) else ""
        before = ""
        for label, text, said in _said(body, asked):
            is_row = said != text
            title = ": ".join(part for part in (read.passage.title, heading, label.rstrip(".")) if part)
            if _is_other(f"{released}{said}", asked):
                continue
            text, said = f"{released}{text}", f"{released}{said}"
            context = said if is_row else _context(before, said)
            yield Sentence(text, context, title, "passage", index, "passage")
            before = "" if is_row and _asks(said) else said


def _said(body: str, asked: frozenset[str]) -> Iterable[tuple[str, str, str]]:
    """Sentences of paragraphs and list items, and rows of tables: the label of an item, if any, the text, and
    what it says. A row says its cells below the heads of their columns: of models, of the one that is asked
    about."""
    paragraph: list[str] = []
    labelled = False
    heads: list[str] = []
    for line, below in pairwise([*body.split("\n"), "", ""]):
        row = _ROW.match(line)
        item = ITEM.match(line)
        if (row or item or not line.strip()) and paragraph:
            label, texts = _labelled(split_sentences(" ".join(paragraph)), labelled)
            yield from ((label, text, text) for text in texts)
            paragraph = []
        labelled = bool(item and item[0].strip()[:1].isdecimal()) or (
            labelled and not item and bool(paragraph)
        )
        if row is None:
            heads = []
            paragraph += [line[item.end() :] if item else line] if line.strip() else []
        elif is_rule(below):
            heads = cells_of(line)
        elif content_words(row["cells"]):
            cells = cells_of(line)
            pairs = [*zip_longest(heads[: len(cells)], cells, fillvalue="")]
            named = [pair for pair in pairs[1:] if codes(pair[0]) & asked]
            # "T24" and "T30": columns of the same thing of several models.
            coded = all(codes(head) for head, _ in pairs[1:])
            pairs = [pairs[0], *named] if named and coded else pairs
            yield "", row["cells"].strip(), unescaped(", ".join(" ".join(pair).strip() for pair in pairs))


def _labelled(sentences: Sequence[str], is_item: bool) -> tuple[str, Sequence[str]]:
    """The label of a numbered item, and the sentences below it: "3. Bees. They need water."."""
    words = sentences[0].rstrip(".").split() if sentences else []
    is_label = 0 < len(words) <= LABEL_WORDS and not any(word.casefold() in FUNCTION_WORDS for word in words)
    if not is_item or len(sentences) < 2 or not is_label or _FIGURED.search(sentences[0]):
        return "", sentences
    return sentences[0], sentences[1:]


def sections(text: str) -> Iterable[tuple[str, str]]:
    """Heading (or empty) and the text below it: a heading is no part of the sentence below it."""
    heading = ""
    body: list[str] = []
    lines = text.split("\n")
    for at, line in enumerate(lines):
        below = next((other for other in lines[at + 1 :] if other.strip()), "")
        above = lines[at - 1].strip() if at else ""
        alone = not above and not "".join(lines[at + 1 : at + 2]).strip()
        # At the end of a passage it is that of the next one.
        opens = _follows_heading(below) if below else any(map(CLOSED.search, lines[:at]))
        numbered = _NUMBERED.match(line) and _heads(_named(line), above) and opens
        if alone and (numbered or _RELEASE.fullmatch(line)):
            yield heading, "\n".join(body)
            heading, body = _named(line).strip(), []
        elif _heads(line, above) and below and not _heads(below, ""):
            yield heading, "\n".join(body)
            heading, body = line.strip(), []
        else:
            body.append(line)
    yield heading, "\n".join(body)


def _follows_heading(line: str) -> bool:
    """Prose, a list item or a row: not the next of several short lines."""
    return (
        bool(CLOSED.search(line) or ITEM.match(line) or _ROW.match(line)) or len(line.split()) > HEADING_WORDS
    )


def _named(line: str) -> str:
    """A heading without its number."""
    return _NUMBERED.sub("", line, count=1)


def _heads(line: str, above: str) -> bool:
    """Short, opened by a capital, without a stop, a figure or a colon, and not the middle of a sentence."""
    words = line.split()
    return (
        0 < len(words) <= HEADING_WORDS
        and words[0][0].isalpha()
        and not words[0][0].islower()
        and line.rstrip()[-1] not in ".!?…。！？।॥۔؟;,"
        and not _FIGURED.search(line)
        and words[-1].casefold() not in FUNCTION_WORDS
        and (not above or bool(CLOSED.search(above)))
    )


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


def _continues(run: Sequence[tuple[str, float, float]], cue: Evidence) -> bool:
    words = sum(len(text.split()) for text, _, _ in run)
    closed = bool(CLOSED.search(run[-1][0]))
    return cue.start - run[-1][2] <= MAX_GAP and (words < MAX_WORDS or not closed) and words < 4 * MAX_WORDS


def _sentences_of_run(run: Sequence[tuple[str, float, float]]) -> Iterable[tuple[str, float, float]]:
    """Cut the joined text at sentence ends; a sentence lasts from its first cue to its last."""
    spans: list[tuple[int, int, float, float]] = []
    at = 0
    for part, start, end in run:
        spans.append((at, at + len(part), start, end))
        at += len(part) + 1
    edges = {begin for begin, _, _, _ in spans}
    position = 0
    for sentence in _limited(split_sentences(" ".join(part for part, _, _ in run)), edges):
        stop = position + len(sentence)
        held = [(start, end) for begin, upto, start, end in spans if begin < stop and upto > position]
        yield sentence, held[0][0], held[-1][1]
        position = stop + 1


def _limited(sentences: Iterable[str], edges: Collection[int]) -> Iterable[str]:
    """Sentences that are too long in pieces, cut where a cue begins if one does; `edges`: those offsets."""
    position = 0
    for sentence in sentences:
        words = sentence.split(" ")
        whole = len(words) <= LONGEST_SENTENCE and CLOSED.search(sentence)
        while len(words) > MAX_WORDS and not whole:
            cut = _last_edge(words, position, edges)
            piece = " ".join(words[:cut])
            yield piece
            words = words[cut:]
            position += len(piece) + 1
        yield " ".join(words)
        position += len(" ".join(words)) + 1


def _last_edge(words: Sequence[str], position: int, edges: Collection[int]) -> int:
    """How many of `words`, which begin at `position`, come before the last edge within `MAX_WORDS`."""
    offset, last = position, 0
    for count, word in enumerate(words[:MAX_WORDS], start=1):
        offset += len(word) + 1
        last = count if offset in edges else last
    return last or MAX_WORDS


def _new_text(last: str, text: str) -> str:
    if not last:
        return text
    if text == last:
        return ""
    if text.startswith(last + " "):
        return text[len(last) + 1 :]
    lines = last.split(" ")
    for size in range(min(len(lines), 12), 2, -1):
        tail = " ".join(lines[-size:])
        if text.startswith(tail + " "):
            return text[len(tail) + 1 :]
    return text


MOST_LINES = 24
"""Lines that are worth a vector for one text; those that share most of its words."""


@dataclass(frozen=True, slots=True)
class ScoredLine:
    """[start, end) seconds."""

    text: str
    kind: str
    start: float
    end: float
    relevance: float = 0.0


def lines(view: VideoView) -> list[ScoredLine]:
    """Spoken cues put together into sentences, all else unchanged; in time order, each once."""
    found: dict[tuple[str, str, float], ScoredLine] = {}
    for kind in SPOKEN:
        spoken = [evidence for evidence in view.texts if evidence.kind == kind]
        for text, start, end in joined_cues(spoken):
            found.setdefault((kind, text, start), ScoredLine(text, kind, start, end))
    for evidence in view.texts:
        if evidence.kind not in SPOKEN:
            text = " ".join(evidence.text.split())
            found.setdefault(
                (evidence.kind, evidence.text, evidence.start),
                ScoredLine(text, evidence.kind, evidence.start, evidence.end),
            )
    return sorted(found.values(), key=lambda line: (line.start, line.end, line.kind, line.text))


def rank_lines(text: str, view: VideoView, vectors: SentenceVectors) -> list[ScoredLine]:
    """Lines with their relevance to `text`, best first; of equal ones the earlier."""
    wanted = content_words(text)
    if not wanted:
        return []
    held = lines(view)
    shared = [lexical_overlap(wanted, word_set(line.text)) for line in held]
    order = sorted(range(len(held)), key=lambda at: (-shared[at], at))[:MOST_LINES]
    kept = [held[at] for at in sorted(order)]
    scores = relevances(text, [line.text for line in kept], vectors)
    scored = [replace(line, relevance=score) for line, score in zip(kept, scores, strict=True)]
    return sorted(scored, key=lambda line: (-line.relevance, line.start, line.end, line.text))


def relevances(
    text: str,
    others: Sequence[str],
    vectors: SentenceVectors,
    stored: Mapping[str, NDArray[np.float32]] = MappingProxyType({}),
) -> list[float]:
    """Of each of the others to `text`, in [0, 1] (`text_relevance`).

    `stored`: vectors float32 (dim,) that need not be encoded, by text.
    """
    rows = vectors.of([text, *others], stored)
    wanted = content_words(text)
    return [
        text_relevance(float(rows[text] @ rows[other]), lexical_overlap(wanted, word_set(other)))
        for other in others
    ]
