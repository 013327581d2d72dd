"""Markdown (`.md`): markdown-it turns it into HTML (CommonMark with tables), which is read like a web page.

What only looks like markup is text: `<file>`, `10*20*30`, `[Ann]: Yes`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from corpora.passages.document import Document, make_document
from corpora.passages.plain_text import doubts, pieces, refuse_binary
from corpora.passages.web_page import text_of
from corpora.records import Problem

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

MAX_NESTING = 100
"""Lists and quotations within one another; markdown-it leaves out what is deeper."""
LONGEST_BEGINNING = 20_000
_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title[ \t]*[:=](.+)$", re.MULTILINE | re.IGNORECASE)
_REFERENCE = re.compile(r"!?\[([^\[\]]{1,500})\]\[[^\[\]]{0,200}\]")
_VALUE = r"""(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+)"""
_ATTRIBUTES = rf"(?:\s+(?:open|hidden|checked|disabled|controls|nowrap|[\w:-]+\s*=\s*{_VALUE}))*\s*/?"
_INLINE = re.compile(
    r"</?(?:a|abbr|b|big|cite|code|del|em|font|i|img|input|ins|kbd|mark|picture|q|s|samp|small|source|span|strike"
    rf"|strong|sub|sup|tt|u|var){_ATTRIBUTES}>",
    re.IGNORECASE,
)
_BLOCK = re.compile(
    r"</?(?:blockquote|br|center|dd|details|div|dl|dt|h[1-6]|hr|li|ol|p|pre|summary|table|tbody|td|tfoot|th|thead"
    rf"|tr|ul){_ATTRIBUTES}>",
    re.IGNORECASE,
)
"""The elements of a page that people write in Markdown; any other is text."""


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
    """Text without marks, with its line ends; code as it is, tables as a passage has them."""
    return text_of(_parser().render(text))


def first_heading(text: str) -> str:
    """The first heading in the first `LONGEST_BEGINNING` characters; empty without one."""
    tokens = _parser().parse(text[:LONGEST_BEGINNING])
    at = next((at for at, token in enumerate(tokens) if token.type == "heading_open"), None)
    return "" if at is None else text_of(_parser().renderInline(tokens[at + 1].content)).strip()


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from markdown_it.common.utils import escapeHtml

    def image(_: object, tokens: Sequence[Token], at: int, *_more: object) -> str:
        return escapeHtml(tokens[at].content)

    def text(_: object, tokens: Sequence[Token], at: int, *_more: object) -> str:
        return escapeHtml(_REFERENCE.sub(r"\1", tokens[at].content))

    def html(_: object, tokens: Sequence[Token], at: int, *_more: object) -> str:
        around = "<br><br>" if tokens[at].type == "html_block" else ""
        held = _INLINE.sub("", _without_comments(tokens[at].content))
        parts, end = list[str](), 0
        for tag in _BLOCK.finditer(held):
            parts += [held[end : tag.start()].replace("<", "&lt;"), tag[0]]
            end = tag.end()
        return "".join([around, *parts, held[end:].replace("<", "&lt;"), around])

    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING, "breaks": True})
    # A line such as "[Ann]: Yes" is no definition of a link.
    parser.enable(["table", "strikethrough"]).disable("reference")
    parser.core.ruler.push("stars", _keep_stars)
    for name, rule in {"image": image, "text": text, "html_inline": html, "html_block": html}.items():
        parser.add_render_rule(name, rule)
    return parser


def _without_comments(text: str) -> str:
    parts, position = list[str](), 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts.append(text[position:start])
        position = end + 3
    return "".join(parts) + text[position:]


def _keep_stars(state: StateCore) -> None:
    """Stars between letters or digits are text: "10*20*30"."""
    for block in state.tokens:
        opened: list[int] = []
        children = block.children or []
        for at, token in enumerate(children):
            if token.type == "em_open":
                opened.append(at)
            elif token.type == "em_close":
                pair = (opened.pop(), at)
                if all(_within_word(children, each) for each in pair):
                    for each in pair:
                        children[each].type, children[each].content = "text", token.markup


def _within_word(tokens: Sequence[Token], at: int) -> bool:
    before, after = tokens[at - 1].content[-1:] if at else "", tokens[at + 1 : at + 2]
    return before.isalnum() and bool(after) and after[0].content[:1].isalnum()
