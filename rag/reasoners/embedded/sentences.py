"""From what was read to whole sentences, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Literal

from corpora.passages.tables import cells_of, is_rule, unescaped
from corpora.records import SPOKEN
from rag.cues import joined_cues
from rag.function_words import FUNCTION_WORDS
from rag.reasoners.roles.reading import Reading, ReadPassage, ReadWindow
from rag.records import is_still
from rag.words import CLOSED, content_words, split_sentences

MIN_WORDS = 4
"""Words on end that make a sentence of a description; tags, separated by commas, are shorter."""
MOST_SENTENCES = 10
PLACES = {
    "subtitle": "the subtitles",
    "asr": "what is said",
    "ocr": "the text on screen",
    "caption": "the caption",
    "chapter": "the chapter title",
    "tag": "the tags",
}
_ASKS = re.compile(r"[?？؟][\"'”’)\]]*$")
"""A question, which answers none: what follows it may."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of the material read, with its source; [start, end) seconds for a window."""

    text: str
    context: str
    """The sentence as it is compared: after the question it answers; of a row of a table its cells below the
    heads of their columns."""
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

    @property
    def seen_alone(self) -> bool:
        """Whether it is what a model said of frames, which nobody wrote or spoke: never a sure answer."""
        return self.kind == "caption"

    @property
    def said(self) -> str:
        """It as it is read and quoted: a row of a table with the heads of its columns."""
        return self.context if self.is_row else self.text


def place_of(sentence: Sentence) -> str:
    """Where it is, in words."""
    if sentence.origin == "passage":
        return f"the passage “{sentence.title}”" if sentence.title else "a passage"
    if is_still(sentence.start, sentence.end):
        return PLACES[sentence.kind]
    return f"{PLACES[sentence.kind]} at {sentence.start:.1f}-{sentence.end:.1f} s"


def of_one_text(one: Sentence, other: Sentence) -> bool:
    """Whether two sentences are of the same passage, or of the same kind of text of a window. A row of a
    table is a text of its own."""
    places = [(each.origin, each.index, each.kind) for each in (one, other)]
    return places[0] == places[1] and not (one.is_row or other.is_row)


def sentences_of(reading: Reading) -> list[Sentence]:
    """All sentences of windows and passages, in their order, each text once."""
    found: dict[str, Sentence] = {}
    for sentence in sequence_of(reading):
        found.setdefault(sentence.text.casefold(), sentence)
    return list(found.values())


def sequence_of(reading: Reading) -> list[Sentence]:
    """List sentences as `sentences_of`, each text as often as it occurs: what follows what."""
    found = [s for index, window in enumerate(reading.windows) for s in _of_window(index, window)]
    found += [s for index, read in enumerate(reading.passages) for s in _of_passage(index, read)]
    return [s for s in found if s.kind not in (*SPOKEN, "passage") or s.is_row or not _ASKS.search(s.text)]


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


def _of_passage(index: int, read: ReadPassage) -> Iterable[Sentence]:
    for heading, body in sections(read.passage.text):
        before = ""
        title = ": ".join(part for part in (read.passage.title, heading) if part)
        for text, said in statements(body):
            is_row = said != text
            context = said if is_row else _context(before, said)
            yield Sentence(text, context, title, "passage", index, "passage")
            before = "" if is_row else said


def _context(before: str, text: str) -> str:
    """With the question that a sentence answers."""
    return f"{before} {text}" if _ASKS.search(before) else text


HEADING_WORDS = 8
"""A wrapped line of prose is longer."""
_FIGURED = re.compile(r"[\d:]")
"""In a short line this is a statement, not a heading: "Torque: 110 Nm"."""
ITEM = re.compile(r"^\s*(?:[-*•–]|\(?(?:\d{1,3}|[a-z])[.)])\s+")
_ROW = re.compile(r"^\s*\|(?P<cells>.+)\|\s*$")


def sections(text: str) -> Iterable[tuple[str, str]]:
    """Heading (or empty) and the text below it: a heading is no part of the sentence below it."""
    heading = above = ""
    body: list[str] = []
    lines = text.split("\n")
    for at, line in enumerate(lines):
        below = next((other for other in lines[at + 1 :] if other.strip()), "")
        # A line that opens in lower case goes on with the sentence above it.
        goes_on = lines[at + 1 : at + 2] == [below] and below.lstrip()[:1].islower()
        if _heads(line, above) and below and not goes_on and not _heads(below, ""):
            yield heading, "\n".join(body)
            heading, body = line.strip(), []
        else:
            body.append(line)
        above = line.strip()
    yield heading, "\n".join(body)


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


def statements(body: str) -> Iterable[tuple[str, str]]:
    """Sentences of paragraphs and list items, and rows of tables: the text, and what it says. A row says its
    cells below the heads of their columns."""
    paragraph: list[str] = []
    heads: list[str] = []
    for line, below in pairwise([*body.split("\n"), "", ""]):
        row = _ROW.match(line)
        item = ITEM.match(line)
        if (row or item or not line.strip()) and paragraph:
            yield from ((text, text) for text in split_sentences(" ".join(paragraph)))
            paragraph = []
        if row is None:
            heads = []
            paragraph += [line[item.end() :] if item else line] if line.strip() else []
        elif is_rule(below):
            heads = cells_of(line)
        elif content_words(row["cells"]):
            cells = cells_of(line)
            pairs = [*zip_longest(heads[: len(cells)], cells, fillvalue="")]
            yield row["cells"].strip(), unescaped(", ".join(" ".join(pair).strip() for pair in pairs))
