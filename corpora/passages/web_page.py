"""HTML pages: what a reader sees, without scripts, styles, what the page hides and what surrounds its text.

Tables are as Markdown writes them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from corpora.errors import DamagedFile
from corpora.passages import tables
from corpora.passages.document import Document, make_document, read_within
from corpora.passages.plain_text import refuse_binary
from corpora.records import Problem
from corpora.text_decoding import BYTE_ORDER_MARKS, decode, decode_stated

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_BYTES = 64 * 2**20
MOST_SPANNED = 100
"""Rows that a cell may span, and columns up to which one may widen its row."""
MAX_CELL = 300
"""Characters; a table with longer cells, or with a table in a cell, arranges a page and is read as text."""

WITHOUT_TEXT = "script, style, noscript, template, svg, math, iframe, object, video, audio, canvas, rt, rp"
SURROUNDINGS = (
    "nav, header:not(article *, main *, section *), footer:not(article *, main *, section *), "
    "aside:not(article *, main *, section *), dialog, [role=navigation], [role=banner], [role=contentinfo], "
    "[role=complementary], [role=search], [role=dialog], [role=alertdialog], [aria-modal=true]"
)
"""What surrounds the text of a page on the web: the landmarks of HTML and WAI-ARIA but for `main`, and boxes
in front of it; none of these where it holds one of `TEXT`. With these, `BOXES` and `LANDMARKS` go too."""
BOXES = re.compile(
    r"(?:^|[\s_-])(?:cookies?|consent|gdpr|log-?in|sign-?(?:in|up)|subscribe|newsletter|paywall)[_-]"
    r"(?:bar|banner|box|consent|container|dialog|form|modal|notice|overlay|popup|prompt|root|sdk|signup|wall)\b"
    r"|(?:^|\s)(?:ads?|adverts?|advertisements?|ad[_-](?:banner|box|container|slot|unit|wrapper)|adsbygoogle"
    r"|newsletter|paywall|sponsored)(?:$|\s)"
    r"|(?:^|\s)(?:borlabs|cybotcookiebot|didomi|fc-consent|iubenda|klaro|onetrust|qc-cmp|truste|usercentrics)",
    re.IGNORECASE,
)
"""Classes and ids of boxes that ask readers for something, and of adverts."""
LANDMARKS = re.compile(
    r"(?:^|\s)((?:(?:global|main|page|site|top)[_-])?(?:footer|header|masthead|nav|navbar|navigation|sidebar)"
    r"|breadcrumbs?|colophon|(?:main|site|top)[_-]menu|widget-area)(?:$|\s)",
    re.IGNORECASE,
)
"""Classes and ids of landmarks, by which a page is read that has no `main` and no `article`."""
MOST_LANDMARKS = 2
"""Elements of a page with one of these names; more of them are parts of its text, as the headers of cards."""
TEXT = "html, body, main, article, h1"
HIDDEN = "[hidden], [style]"
BREAKS = (
    "address, article, aside, blockquote, dd, details, div, dl, dt, figcaption, figure, footer, form, h1, "
    "h2, h3, h4, h5, h6, header, hr, main, ol, p, pre, section, summary, table, ul, caption, fieldset"
)
LINE, MARK, MARKED, END, BLANK = "\x01\x02\x03\x04\x05"
"""In the text of a page, where white space is one blank: the end of a line; the start and the end of an
item's mark; the end of a list; a blank of code."""

_CHARSET = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)
_CLOSED = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)\b)([a-z][\w:-]*)"
    r"((?:\s+[^\s=<>\"'/]+(?:\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'=<>`]+(?=\s)))?)*+)\s*/>",
    re.IGNORECASE,
)
"""Elements that XHTML may close at once, and HTML may not: the rest of the page would be within them."""
_BLOCK = re.compile(
    r"<(/?)(?:address|article|aside|blockquote|center|details|dialog|dir|div|dl|fieldset|figcaption|figure|footer"
    r"|form|header|hgroup|listing|main|menu|nav|ol|pre|search|section|summary|ul)\b[^<>]*>",
    re.IGNORECASE,
)
MAX_DEPTH = 500
"""Blocks within blocks, below which one is a line end: for each the parser looks at all that it is within."""
_OUR_MARK = re.compile(r"&#(?:0*[1-5](?!\d)|x0*[1-5](?![\da-f]));?", re.IGNORECASE)
_BLANKS = re.compile(r"^[ \t]+|[ \t]{2,}", re.MULTILINE)
_SHOWN = re.compile(r"(?:^|;)\s*(display|visibility)\s*:\s*([\w-]+)")
_ITEM = re.compile(rf"{MARK}([^{MARKED}]*){MARKED}([\s{LINE}]*+)(?=[^{MARK}{END}])")
_NO_ITEM = re.compile(f"{MARK}[^{MARKED}]*{MARKED}|{END}")


def read(path: str) -> Iterator[Document | Problem]:
    """One document. The title is `<title>`, else the first `<h1>`."""
    refuse_binary(path)
    data = read_within(path, MAX_BYTES)
    document = document_of(data, surroundings=SURROUNDINGS)
    if document is None:
        raise DamagedFile(f"{path}: a web page without text")
    yield document


def document_of(html: str | bytes, title: str = "", *, surroundings: str = "nav") -> Document | None:
    """A page as a document, None without text.

    `title`: its own, before that of the page. `surroundings`: a CSS selector of elements that are left out.
    Where nothing else is left, these are read; and where there is nothing but what the page hides, that: a
    script may show it when the page is loaded.
    """
    source = _readable(html if isinstance(html, str) else _decoded(html))
    for leave_out in ((HIDDEN, surroundings), (HIDDEN,), ()):
        page_title, text = _read(source, leave_out)
        if text.strip():
            break
    return make_document(title or page_title, text)


def text_of(html: str) -> str:
    """The text of a part of a page, without what it hides; where there is nothing else, that."""
    source = _readable(html)
    return _read(source, (HIDDEN,))[1].strip() or _read(source, ())[1]


def _readable(source: str) -> str:
    """A page as the parser takes it: without our marks, elements that are closed at once and blocks that are
    too deep."""
    return _shallow(_CLOSED.sub(r"<\1\2></\1>", _OUR_MARK.sub("", source)))


def _shallow(source: str) -> str:
    """A page without the blocks below `MAX_DEPTH`."""
    depth = 0

    def kept(tag: re.Match[str]) -> str:
        nonlocal depth
        at = depth
        depth = max(0, depth - 1) if tag[1] else depth + 1
        return tag[0] if max(at, depth) <= MAX_DEPTH else "<br>"

    return _BLOCK.sub(kept, source)


def _read(source: str, leave_out: Sequence[str]) -> tuple[str, str]:
    """Title and text, without what the selectors name."""
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(source)
    _remove(page.css(WITHOUT_TEXT))
    if HIDDEN in leave_out:
        _remove([node for node in page.css(HIDDEN) if _is_hidden(node)])
    title, around = _taken_title(page), _with_text(page)
    for selector in leave_out:
        if selector != HIDDEN:
            _remove([node for node in page.css(selector) if node.mem_id not in around])
            if selector == SURROUNDINGS:
                _remove([node for node in _named(page) if node.mem_id not in around])
    return title, _text(page)


def _named(page: LexborHTMLParser) -> list[LexborNode]:
    """The elements that are boxes or landmarks by their names, in the order of the page."""
    found: list[tuple[LexborNode, str]] = []
    plain = page.css_first("main, article, [role=main]") is None
    for node in page.css("[class], [id]"):
        names = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
        landmark = LANDMARKS.search(names) if plain else None
        if landmark or BOXES.search(names):
            found.append((node, landmark[1].lower() if landmark else ""))
    often = Counter(name for _, name in found if name)
    return [node for node, name in found if often[name] <= MOST_LANDMARKS]


def _with_text(page: LexborHTMLParser) -> set[int]:
    """`mem_id` of the elements that hold one of `TEXT` or are one."""
    found = set[int]()
    for node in page.css(TEXT):
        holder: LexborNode | None = node
        while holder is not None and holder.mem_id not in found:
            found.add(holder.mem_id)
            holder = holder.parent
    return found


def _decoded(data: bytes) -> str:
    """By byte order mark, then by the page's own word, then by its bytes."""
    stated = _CHARSET.search(data[:4096])
    if stated and not any(data.startswith(mark) for mark, _ in BYTE_ORDER_MARKS):
        return decode_stated(data, stated[1].decode("ascii", "replace"))
    return decode(data)


def _remove(nodes: Sequence[LexborNode]) -> None:
    """Remove elements, given in the order of the page; those within others first, for they go with them."""
    for node in reversed(nodes):
        node.decompose()


def _is_hidden(node: LexborNode) -> bool:
    """Whether an element has the attribute `hidden`, or its own style hides it. `html` and `body`
    never are."""
    attributes = node.attributes
    if node.tag in ("html", "body"):
        return False
    style = dict(_SHOWN.findall((attributes.get("style") or "").lower()))
    if style.get("visibility") == "hidden":
        return True
    if "display" in style:
        return bool(style["display"] == "none")
    return "hidden" in attributes and (attributes["hidden"] or "").strip().lower() != "until-found"


def _taken_title(page: LexborHTMLParser) -> str:
    """The title of a page, of which `<title>` is taken off and a heading is not."""
    titles = page.css("title")
    title = titles[0].text() if titles else ""
    _remove(titles)
    heading = page.css_first("h1")
    return title if title.strip() or heading is None else heading.text()


def _text(page: LexborHTMLParser) -> str:
    """The text of a page, which is written into it: line ends, marks of items, and rows of tables."""
    if page.root is None:
        return ""
    for node in page.css("br"):
        node.insert_before(LINE)
    for node in page.css(BREAKS):
        node.insert_before(LINE * 2)
        node.insert_after((END if node.tag in ("ol", "ul") else "") + LINE * 2)
    numbers = Counter[int]()
    for node in page.css("li"):
        mark = "-"
        if (parent := node.parent) is not None and parent.tag == "ol":
            first = parent.attributes.get("start") or ""
            if parent.mem_id not in numbers and first.isdecimal():
                numbers[parent.mem_id] = int(first[:9]) - 1
            numbers[parent.mem_id] += 1
            mark = f"{numbers[parent.mem_id]}."
        node.insert_before(LINE + MARK + mark + MARKED)
    for node in reversed(page.css("pre")):
        code = _BLANKS.sub(lambda blanks: BLANK * len(blanks[0].expandtabs(4)), node.text())
        node.replace_with(code.replace("\n", LINE))
    for node in reversed(page.css("table")):
        _write_rows(node)
    return _finished(page.root.text())


def _finished(text: str) -> str:
    """Lines, in which only items with text have marks."""
    marked = _NO_ITEM.sub("", _ITEM.sub(r"\2\1 ", " ".join(text.split())))
    return "\n".join(line.strip() for line in marked.split(LINE)).replace(BLANK, " ")


def _write_rows(table: LexborNode) -> None:
    """Put the cells of each row on one line, the first row of heads above a rule.

    In a table that arranges a page, cells stay as they are.
    """
    first, spanning = True, dict[int, tuple[int, str]]()
    for part in table.iter():
        for row in [node for node in part.iter() if node.tag == "tr"]:
            nodes = list(row.iter())
            arranges = any(node.css_first("table") is not None for node in nodes)
            cells = [] if arranges else [" ".join(_finished(node.text()).split()) for node in nodes]
            spread = _spread(nodes[: len(cells)], cells, spanning)
            if len(spread) > 1 and any(cells) and max(map(len, cells)) <= MAX_CELL:
                # The corner above the names of rows is often an empty cell of no head.
                in_head = part.tag == "thead"
                heads = first and all(
                    not cell or in_head or node.tag == "th" for cell, node in zip(cells, nodes, strict=True)
                )
                line = tables.row([tables.escaped(cell) for cell in spread], heads)
                row.replace_with(LINE + line.replace("\n", LINE))
            else:
                row.insert_before(LINE)
                for node in nodes:
                    node.insert_before(" ")
            first = first and len(nodes) < 2


def _spread(
    nodes: Sequence[LexborNode], cells: Sequence[str], spanning: dict[int, tuple[int, str]]
) -> list[str]:
    """A row with a cell in each column: what spans rows is in each of them, what spans columns in the first.

    `spanning`: by column, in how many more rows its cell is, and its text; changed for the next row.
    """
    made = list[str]()
    for node, cell in [*zip(nodes, cells, strict=True), (None, "")]:
        while (held := spanning.get(len(made), (0, "")))[0]:
            spanning[len(made)] = held[0] - 1, held[1]
            made.append(held[1])
        if node is not None:
            wide = min(_span(node, "colspan"), MOST_SPANNED - len(made)) if len(nodes) > 1 else 1
            for text in [cell, *[""] * (wide - 1)]:
                # Text of a cell that arranges a page is said once.
                spanning[len(made)] = _span(node, "rowspan") - 1, text if len(text) <= MAX_CELL else ""
                made.append(text)
    return made


def _span(node: LexborNode, name: str) -> int:
    stated = node.attributes.get(name) or ""
    return max(1, min(int(stated[:9]), MOST_SPANNED)) if stated.isdecimal() else 1
