"""Markdown (`.md`) as CommonMark with tables: made a web page of by markdown-it, and read as one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from corpora.passages.document import Document, make_document
from corpora.passages.plain_text import doubts, pieces, refuse_binary
from corpora.passages.web_page import text_of
from corpora.records import Problem

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_NESTING = 100
"""Lists and quotations within one another; markdown-it leaves out what is deeper."""
LONGEST_BEGINNING = 20_000
_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title[ \t]*[:=](.+)$", re.MULTILINE | re.IGNORECASE)
_OPENED = re.compile(r"<(?!(?:br|hr|wbr)>)([a-z][\w-]*)>", re.IGNORECASE)
"""A tag without attributes, of an element that may be closed."""


def read(path: str) -> Iterator[Document | Problem]:
    """As plain text; the title is the front matter's, else the first heading."""
    refuse_binary(path)
    title = None
    for piece in pieces(path):
        front = _FRONT_MATTER.match(piece) if title is None else None
        body = piece[front.end() :] if front else piece
        if title is None:
            stated = _FRONT_TITLE.search(front[2]) if front else None
            title = stated[1].strip().strip("\"'") if stated else first_heading(body)
        document = make_document(title, plain(body))
        if document is not None:
            yield document
    yield from doubts(path)


def plain(text: str) -> str:
    """Text without marks: a paragraph a line, code as it is, tables as a passage has them."""
    return text_of(_parser().render(text, {"closed": text.lower()}))


def first_heading(text: str) -> str:
    """Of the beginning of a text; empty without one."""
    tokens = _parser().parse(text[:LONGEST_BEGINNING])
    at = next((at for at, token in enumerate(tokens) if token.type == "heading_open"), None)
    return "" if at is None else plain(tokens[at + 1].content).strip()


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from markdown_it.common.utils import escapeHtml

    def image(_: object, tokens: Sequence[Token], at: int, _options: object, _env: object) -> str:
        return escapeHtml(tokens[at].content)

    def tag(_: object, tokens: Sequence[Token], at: int, _options: object, env: Any) -> str:
        # "<file>" in a text is a word in brackets, though CommonMark has it for an element.
        found = _OPENED.fullmatch(tokens[at].content)
        is_word = found and f"</{found[1].lower()}" not in env["closed"]
        return escapeHtml(tokens[at].content) if is_word else tokens[at].content

    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    parser.add_render_rule("image", image)
    parser.add_render_rule("html_inline", tag)
    return parser
