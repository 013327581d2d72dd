"""Passages by their parts: headings, paragraphs, list items and rows of tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise, zip_longest

from corpora.passages.tables import cells_of, is_rule, unescaped
from rag.function_words import FUNCTION_WORDS
from rag.words import CLOSED, content_words, split_sentences

HEADING_WORDS = 8
"""A wrapped line of prose is longer."""
LABEL_WORDS = 2
"""Of a first sentence in a list item, which then is no sentence: "Bees."."""
_FIGURED = re.compile(r"[\d:]")
"""In a short line this is a statement, not a heading: "Torque: 110 Nm"."""
_NUMBERED = re.compile(r"\d{1,2}(?:\.\d{1,2})*\.?\s+(?=[^\W\d_]+\s)")
"""Before a heading of two words or more that is alone: "5 Error codes"."""
RELEASE = re.compile(
    r"\s*(?:(?:v|version )\d{1,3}(?:\.\d{1,3}){1,3}|\d{1,3}(?:\.\d{1,3}){2,3})"
    r"(?:[\s(\[–-]+\d{4}-\d\d-\d\d[)\]]?)?\s*|\s*\d{1,3}\.\d{1,3}[\s(\[–-]+\d{4}-\d\d-\d\d[)\]]?\s*",
    re.IGNORECASE,
)
"""A heading of what is listed below it: "4.1.0 (2023-11-27)"."""
ITEM = re.compile(r"^\s*(?:[-*•–]|\(?(?:\d{1,3}|[a-z])[.)])\s+")
_ROW = re.compile(r"^\s*\|(?P<cells>.+)\|\s*$")


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
        if alone and (numbered or RELEASE.fullmatch(line)):
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


def statements(body: str) -> Iterable[tuple[str, str, str]]:
    """Sentences of paragraphs and list items, and rows of tables: the label of an item, if any, the text, and
    what it says. A row says its cells below the heads of their columns."""
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
            yield "", row["cells"].strip(), unescaped(", ".join(" ".join(pair).strip() for pair in pairs))


def _labelled(sentences: Sequence[str], is_item: bool) -> tuple[str, Sequence[str]]:
    """The label of a numbered item, and the sentences below it: "3. Bees. They need water."."""
    words = sentences[0].rstrip(".").split() if sentences else []
    is_label = 0 < len(words) <= LABEL_WORDS and not any(word.casefold() in FUNCTION_WORDS for word in words)
    if not is_item or len(sentences) < 2 or not is_label or _FIGURED.search(sentences[0]):
        return "", sentences
    return sentences[0], sentences[1:]
