"""Markdown (`.md`), and Jupyter notebooks, which hold it.

Markdown-it turns it into HTML (CommonMark with tables), which is read like a web page.

What only looks like markup is text: `<file>`, `10*20*30`, `[Ann]: Yes`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from corpora.errors import DamagedFile
from corpora.passages.document import Document, make_document, read_within
from corpora.passages.plain_text import doubts, pieces, refuse_binary
from corpora.passages.web_page import text_of
from corpora.records import Problem
from corpora.text_decoding import decode

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

MAX_NOTEBOOK = 256 * 2**20
MAX_PRINTED = 2000
"""Characters of what a cell printed."""
MAX_NESTING = 100
"""Lists and quotations within one another; markdown-it leaves out what is deeper."""
LONGEST_BEGINNING = 20_000
_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title[ \t]*[:=](.+)$", re.MULTILINE | re.IGNORECASE)
_REFERENCE = re.compile(r"!?\[([^\[\]]{1,500})\]\[[^\[\]]{0,200}\]")
_VALUE = r"""(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+)"""
_ATTRIBUTES = rf"(?:\s+(?:open|hidden|checked|disabled|controls|nowrap|[\w:-]+\s*=\s*{_VALUE}))*\s*/?"
_MARKUP = re.compile(
    r"<!--.*?-->|</?(?:a|abbr|b|big|blockquote|br|center|cite|code|dd|del|details|div|dl|dt|em|font|h[1-6]|hr|i|img"
    r"|input|ins|kbd|li|mark|ol|p|picture|pre|q|s|samp|small|source|span|strike|strong|sub|summary|sup|table"
    rf"|tbody|td|tfoot|th|thead|tr|tt|u|ul|var){_ATTRIBUTES}>|<",
    re.IGNORECASE | re.DOTALL,
)
"""Comments and the elements of a page that people write in Markdown; what begins otherwise is text."""


def read(path: str) -> Iterator[Document | Problem]:
    """Read plain text; the title is the front matter's, else the first heading."""
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
        shown = _MARKUP.sub(lambda found: found[0] if found[0] != "<" else "&lt;", tokens[at].content)
        return f"{around}{shown}{around}"

    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING, "breaks": True})
    # A line such as "[Ann]: Yes" is no definition of a link.
    parser.enable(["table", "strikethrough"]).disable("reference")
    parser.inline.ruler.before("emphasis", "star_in_word", _star_in_word)
    for name, rule in {"image": image, "text": text, "html_inline": html, "html_block": html}.items():
        parser.add_render_rule(name, rule)
    return parser


def _star_in_word(state: StateInline, silent: bool) -> bool:
    """A star between letters or digits is text: "10*20*30"."""
    at = state.pos
    around = state.src[at - 1 : at] + state.src[at + 1 : at + 2] if at else ""
    if state.src[at] != "*" or len(around) < 2 or not around.isalnum():
        return False
    state.pos += 1
    if not silent:
        state.pending += "*"
    return True


# Notebooks


def read_notebook(path: str) -> Iterator[Document | Problem]:
    """A Jupyter notebook as one document: text, code, and what was printed; images and other data are left
    out. The title is the first heading."""
    data = read_within(path, MAX_NOTEBOOK)
    try:
        notebook = json.loads(decode(data))
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{path}: not a notebook: no valid JSON") from error
    title, parts = "", list[str]()
    for cell in _cells(notebook):
        # Before version 4 code was called input.
        source = _joined(cell.get("source", cell.get("input")))
        if cell.get("cell_type") in ("markdown", "heading"):
            title = title or first_heading(source)
            source = plain(source)
        parts += [source, *map(_printed, _objects(cell.get("outputs")))]
    document = make_document(title, "\n\n".join(filter(str.strip, parts)))
    if document is None:
        raise DamagedFile(f"{path}: a notebook without text")
    yield document


def _cells(notebook: Any) -> Iterator[dict[str, Any]]:
    for sheet in [notebook, *_objects(notebook.get("worksheets"))] if isinstance(notebook, dict) else ():
        yield from _objects(sheet.get("cells"))


def _printed(output: dict[str, Any]) -> str:
    """The text of an output; an error has none."""
    data = output.get("data")
    if not isinstance(data, dict):
        return _joined(output.get("text"))[:MAX_PRINTED]
    shown = (read(_joined(data.get(kind))) for kind, read in PRINTED.items())
    return next(filter(str.strip, shown), "")[:MAX_PRINTED]


PRINTED: dict[str, Callable[[str], str]] = {"text/markdown": plain, "text/html": text_of, "text/plain": str}
"""Readers of the forms of an output, best first."""


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _joined(value: Any) -> str:
    lines = value if isinstance(value, list) else [value]
    return "".join(line for line in lines if isinstance(line, str))
