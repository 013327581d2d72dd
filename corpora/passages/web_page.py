"""HTML pages: what a reader sees, without scripts, styles, navigation and what the page hides.

Tables are as Markdown writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.passages import tables
from corpora.passages.document import Document, make_document
from corpora.passages.open_elements import OpenElements
from corpora.passages.plain_text import refuse_binary
from corpora.passages.style_sheets import StyleRules
from corpora.records import Problem
from corpora.text_decoding import BYTE_ORDER_MARKS, clean, decode

MAX_BYTES = 64 * 2**20
FIRST_BLOCK = 64 * 2**10
MAX_REST = 16 * 2**10
MAX_CELL = 300
"""Characters; a table with longer cells, or with a table in a cell, arranges a page and is read as text."""

HIDDEN = frozenset({"script", "style", "noscript", "template", "svg", "math", "nav", "iframe", "object"})
WITHOUT_STYLES = frozenset({"noscript", "template", "iframe", "object"})
"""Elements whose styles do not hold for the page."""
BREAKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt", "figcaption"}
    | {"figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "ol", "p"}
    | {"pre", "section", "summary", "table", "ul", "title", "caption", "fieldset"}
)
_ANY_TAG = re.compile(r"<[^<>]*>?")
_CHARSET = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)


def read(path: str) -> Iterator[Document | Problem]:
    """One document. The title is `<title>`, else the first `<h1>`."""
    refuse_binary(path)
    with Path(path).open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UnsupportedFile(f"{path}: a web page larger than {MAX_BYTES >> 20} MiB")
    document = document_of(data)
    if document is None:
        raise DamagedFile(f"{path}: a web page without text")
    yield document


def document_of(html: str | bytes, title: str = "") -> Document | None:
    """A page as a document, None without text. `title`: its own, before that of the page."""
    text = html if isinstance(html, str) else _text(html)
    page = _Page(StyleRules())
    page.take(text)
    if rules := StyleRules(map("".join, page.sheets)):
        styled = _Page(rules)
        styled.take(text)
        # A page that hides all of itself is one that a script shows when it is loaded.
        page = styled if styled.text().strip() else page
    return make_document(title or "".join(page.title) or "".join(page.heading), page.text())


def _text(data: bytes) -> str:
    """By byte order mark, then by the page's own word, then by its bytes."""
    stated = _CHARSET.search(data[:4096])
    if stated and not any(data.startswith(mark) for mark, _ in BYTE_ORDER_MARKS):
        try:
            return clean(data.decode(stated.group(1).decode("ascii")))
        except (LookupError, UnicodeError):
            return decode(data)
    return decode(data)


@dataclass(slots=True)
class _Table:
    """An open table: the row that is being read."""

    cells: list[int] = field(default_factory=list)
    """Where in the page's parts its cells begin."""
    heads: list[bool] = field(default_factory=list)
    """Which of them are heads of columns."""
    first: bool = True
    """Whether no row of several cells came before it; a row of one is the table's title."""
    in_head: bool = False

    def open(self, tag: str, at: int) -> None:
        """A tag within the table, at a place of the page's parts."""
        if tag in ("thead", "tbody", "tfoot"):
            self.in_head = tag == "thead"
        elif tag in ("td", "th"):
            self.cells.append(at)
            self.heads.append(tag == "th" or self.in_head)

    def end_row(self) -> None:
        self.first = self.first and len(self.cells) < 2
        self.cells.clear()
        self.heads.clear()


class _Page(HTMLParser):
    def __init__(self, rules: StyleRules) -> None:
        super().__init__(convert_charrefs=True)
        self.sheets: list[list[str]] = []
        """The style sheets of the page that hold for a screen, each in parts."""
        self.title: list[str] = []
        self.heading: list[str] = []
        self._parts: list[str] = []
        self._left_out: list[str] = []
        self._elements = OpenElements(rules)
        self._tables: list[_Table] = []
        self._lists: list[int] = []
        """Items so far of each open list; less than 0 where they are not numbered."""
        self._mark = ""
        """Of an item that has no text yet."""
        self._in_sheet = False
        self._in_title = self._in_heading = self._seen_heading = self._keep_lines = False

    def take(self, text: str) -> None:
        """Read the whole page, in time linear in its length.

        The standard parser looks at an unfinished tag again with each block that it is fed, and
        again from each of its characters when closed. So blocks double, and a long unfinished rest
        is stripped of its tags here.
        """
        start = 0
        while start < len(text):
            until = start + max(FIRST_BLOCK, start)
            self.feed(text[start:until])
            start = until
        if len(self.rawdata) > MAX_REST:
            rest, self.rawdata = self.rawdata, ""
            self.clear_cdata_mode()
            self.handle_data(_ANY_TAG.sub(" ", rest))
        self.close()

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """As the standard parser, which fails at "<![a[", a comment to browsers."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._elements.start(tag, attrs)
        if tag in HIDDEN:
            self._left_out.append(tag)
            if tag == "style":
                self._open_sheet(dict(attrs))
        elif tag == "title":
            self._in_title = not self.title and not self._hidden
        elif tag == "h1" and not self._seen_heading and not self._hidden:
            self._in_heading = self._seen_heading = True
        elif tag == "pre":
            self._keep_lines = True
        if tag == "table" and self._tables and not self._hidden:
            self._tables[-1].end_row()
        self._space(tag)
        if self._hidden:
            return
        if tag in ("ol", "ul"):
            self._lists.append(0 if tag == "ol" else -1)
        elif tag == "li":
            self._item()
        elif tag == "table":
            self._tables.append(_Table())
        elif self._tables:
            self._tables[-1].open(tag, len(self._parts))

    def handle_endtag(self, tag: str) -> None:
        hidden = self._elements.end(tag) or bool(self._left_out)
        if tag in self._left_out:
            while self._left_out.pop() != tag:
                pass
        elif tag == "title":
            self._in_title = False
        elif tag == "h1":
            self._in_heading = False
        elif tag == "pre":
            self._keep_lines = False
        if hidden and tag in ("table", "tr"):
            return
        if tag == "tr":
            self._end_row()
            return
        self._space(tag)
        if hidden:
            return
        if tag == "table" and self._tables:
            self._tables.pop()
        elif tag in ("ol", "ul") and self._lists:
            self._lists.pop()
            self._mark = ""

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("td", "th"):
            self.handle_starttag(tag, attrs)
        else:
            self._space(tag)

    def handle_data(self, data: str) -> None:
        if self._in_sheet and self._left_out and self._left_out[-1] == "style":
            self.sheets[-1].append(data)
        if self._hidden:
            return
        if self._in_title:
            self.title.append(data)
            return
        if self._in_heading:
            self.heading.append(data)
        if self._mark and data.strip():
            self._parts.append(self._mark)
            self._mark, data = "", data.lstrip()
        self._parts.append(data if self._keep_lines else re.sub(r"\s+", " ", data))

    def _open_sheet(self, attributes: Mapping[str, str | None]) -> None:
        kind, media = ((attributes.get(name) or "").strip().lower() for name in ("type", "media"))
        self._in_sheet = (
            kind in ("", "text/css")
            and media in ("", "all", "screen", "only screen")
            and WITHOUT_STYLES.isdisjoint(self._left_out)
        )
        if self._in_sheet:
            self.sheets.append([])

    @property
    def _hidden(self) -> bool:
        """Whether no text is taken at this place."""
        return bool(self._left_out) or self._elements.hidden

    def text(self) -> str:
        lines = "".join(self._parts).split("\n")
        return "\n".join(re.sub(r" +", " ", line).strip() for line in lines)

    def _item(self) -> None:
        if self._lists and self._lists[-1] >= 0:
            self._lists[-1] += 1
            self._mark = f"{self._lists[-1]}. "
        else:
            self._mark = "- "

    def _end_row(self) -> None:
        """Put the cells of the present row on one line, the first row of heads above a rule."""
        if self._hidden or not self._tables or not (begins := self._tables[-1].cells):
            return
        table = self._tables[-1]
        spans = pairwise([*begins, len(self._parts)])
        cells = [" ".join("".join(self._parts[begin:end]).split()) for begin, end in spans]
        if len(cells) > 1 and any(cells) and max(map(len, cells)) <= MAX_CELL:
            # The corner above the names of rows is often an empty cell of no head.
            heads = table.first and all(
                head or not cell for head, cell in zip(table.heads, cells, strict=True)
            )
            self._parts[begins[0] :] = [tables.row([tables.escaped(cell) for cell in cells], heads)]
        table.end_row()

    def _space(self, tag: str) -> None:
        if self._hidden:
            return
        if tag in ("tr", "table"):
            self._end_row()
        if tag in BREAKS:
            self._parts.append("\n\n")
        elif tag in ("br", "tr", "li"):
            self._parts.append("\n")
        elif tag in ("td", "th"):
            self._parts.append(" ")
