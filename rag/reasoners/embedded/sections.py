"""Passages by their parts: headings, paragraphs, list items and rows of tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise, zip_longest

from corpora.passages.tables import cells_of, is_rule, unescaped
from rag.function_words import FUNCTION_WORDS
from rag.words import CLOSED, content_words, split_sentences

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
