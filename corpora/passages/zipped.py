"""Documents that are XML in a zip file: Word, PowerPoint, OpenDocument and EPUB, read as web pages.

Each becomes HTML with paragraphs, lists and tables alone, of which `corpora.passages.web_page` makes text.
Headers, notes and comments of a text come once, behind it; charts and speaker notes behind their slide. What
was deleted with changes kept is left out, and so are footers.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from lzma import LZMAError
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.formats import DocumentFormat
from corpora.passages import web_page
from corpora.passages.document import Document, complaint, stated_title
from corpora.records import Problem

MAX_BYTES = web_page.MAX_BYTES
"""Most bytes of the parts of a file that are read, unpacked."""
MOST_NAMED = 3
"""Most parts of a file that a problem names as unread."""
MAX_DEPTH = 200
"""Depth of elements within each other below which nothing is read."""

BROKEN = (zipfile.BadZipFile, zlib.error, LZMAError, ElementTree.ParseError)
LEFT_OUT = frozenset(
    {"del", "moveFrom", "instrText", "delText", "Fallback", "annotation", "note"}
    | {"tracked-changes", "table-of-content"}
)
ASIDE = re.compile(
    r"word/(?:header\d*|footnotes|endnotes|comments|diagrams/data\d*|charts/chart\d*)\.xml"
    r"|xl/(?:comments\d*|threadedComments/[^/]*|drawings/drawing\d*|charts/chart\d*)\.xml"
)
"""Parts of a Word or Excel file beside its text."""
BREAKS = {
    "br": "<br>",
    "cr": "<br>",
    "tab": " ",
    "line-break": "<br>",
    "s": " ",
    "noBreakHyphen": "-",
    "ptab": " ",
}
PARAGRAPHS = ("p", "comment", "cm", "threadedComment")
WRAPPERS = frozenset({"sdt", "sdtContent", "customXml", "smartTag", "table-header-rows", "table-rows"})
"""Elements around others, among them rows and cells of tables."""
MOST_SPANNED = 16
"""Most columns of a row in which merged cells keep their width."""
ODT_TAGS = {
    "p": "p",
    "h": "p",
    "list-item": "li",
    "table": "table",
    "table-row": "tr",
    "table-header-rows": "thead",
}
HEADS = "Table_20_Heading"
"""How LibreOffice names the style of paragraphs in heads of columns."""


class _Archive:
    """The parts of a zip file, unpacked as they are asked for."""

    def __init__(self, path: str, held: zipfile.ZipFile) -> None:
        self._path, self._held, self._room = path, held, MAX_BYTES
        self.names = frozenset(held.namelist())
        self.spelled = {name.casefold(): name for name in self.names}
        self.broken = dict[str, None]()
        """What is wrong with parts that were asked for by `side`."""

    def data(self, name: str) -> bytes:
        """Raises `UnsupportedFile` for too much of it, KeyError for a part that is not there."""
        with self._held.open(name) as part:
            data = part.read(self._room + 1)
        self._room -= len(data)
        if self._room < 0:
            raise UnsupportedFile(f"{self._path}: more than {MAX_BYTES >> 20} MiB when unpacked")
        return data

    def xml(self, name: str) -> Element:
        """A part; an empty element where it is not there."""
        if name not in self.names:
            return Element("none")
        return ElementTree.fromstring(self.data(name))

    def side(self, name: str) -> Element:
        """A part without which the text can be read; an empty element where it is damaged, which is noted."""
        try:
            return self.xml(name)
        except BROKEN as error:
            self.broken[f"{name}: {complaint(error)}"] = None
            return Element("none")


@contextmanager
def _opened(path: str) -> Iterator[_Archive]:
    with open(path, "rb") as file:
        old = file.read(8) == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    if old:
        raise UnsupportedFile(
            f"{path}: locked by a password, or of an old format; save it without one, or as PDF"
        )
    try:
        with zipfile.ZipFile(path) as held:
            yield _Archive(path, held)
    except (*BROKEN, LookupError, EOFError, ValueError) as error:
        raise DamagedFile(f"{path}: cannot be read: {complaint(error)}") from error
    except (NotImplementedError, RuntimeError) as error:
        raise UnsupportedFile(f"{path}: cannot be unpacked: {complaint(error)}") from error


def read_docx(path: str) -> Iterator[Document | Problem]:
    """A Word file as one document."""
    with _opened(path) as archive:
        main = _part(archive, "word/document.xml", "officeDocument")
        mark = _word_lists(archive.side("word/numbering.xml"))
        parts = [_html(main, mark)]
        parts += _asides(archive, mark)
        yield _document(path, _title(archive.side("docProps/core.xml")), dict.fromkeys(parts))
        yield from _unread(path, archive.broken, "indexed the rest")


def read_xlsx_asides(path: str) -> Iterator[Document | Problem]:
    """What an Excel file holds beside its cells, as one document: notes, text boxes, charts. Raises
    `DamagedFile` where there is nothing."""
    with _opened(path) as archive:
        parts = dict.fromkeys(_asides(archive, lambda _: ""))
        yield from _unread(path, archive.broken, "indexed the rest")
        yield _document(path, "", parts)


def _asides(archive: _Archive, mark: Mark) -> list[str]:
    names = sorted(filter(ASIDE.fullmatch, archive.names))
    return [
        _chart(archive.side(name)) if "/charts/" in name else _html(archive.side(name), mark)
        for name in names
    ]


def read_pptx(path: str) -> Iterator[Document | Problem]:
    """A PowerPoint file as one document, slide by slide."""
    with _opened(path) as archive:
        title = _title(archive.side("docProps/core.xml"))
        names = _slides(archive)
        slides, broken = list[str](), list[str]()
        for name in names:
            try:
                slide = archive.xml(name)
            except BROKEN as error:
                broken.append(f"{name}: {complaint(error)}")
            else:
                slides.append(_html(slide, _slide_lists(slide)) + "".join(_beside_slide(archive, name)))
        yield _document(path, title, slides)
        yield from _unread(path, broken, f"indexed the other {len(slides)} slides")
        yield from _unread(path, archive.broken, "indexed the rest")


def _slides(archive: _Archive) -> list[str]:
    """The slides as the presentation lists them, else by the numbers in their names."""
    relations = {
        _value(each, "Id"): posixpath.normpath(posixpath.join("/ppt", _value(each, "Target")))[1:]
        for each in archive.side("ppt/_rels/presentation.xml.rels")
    }
    listed = [
        relations.get(held, "")
        for each in archive.side("ppt/presentation.xml").iter()
        if _name(each) == "sldId"
        for key, held in each.attrib.items()
        if key.endswith("}id")
    ]
    slides = [name for name in archive.names if re.fullmatch(r"ppt/slides/slide\d+\.xml", name)]
    slides.sort(key=lambda name: int(re.sub(r"\D", "", name)))
    return [name for name in listed if name in archive.names] or slides


def _beside_slide(archive: _Archive, name: str) -> Iterator[str]:
    """HTML of the charts, the diagrams, the comments and the speaker notes of a slide."""
    folder, _, file = name.rpartition("/")
    for each in archive.side(f"{folder}/_rels/{file}.rels"):
        part = archive.side(posixpath.normpath(posixpath.join(folder, _value(each, "Target"))))
        match _value(each, "Type").rpartition("/")[2]:
            case "chart":
                yield _chart(part)
            case "notesSlide" | "comments" | "diagramData":
                yield _html(part, _slide_lists(part))


def _chart(chart: Element) -> str:
    """The title and the labels of a chart, and its series as rows of a table."""
    shown = (f"<p>{escape(''.join(each.itertext()))}</p>" for each in chart.iter() if _name(each) == "rich")
    rows = list[list[str]]()
    for series in (each for each in chart.iter() if _name(each) == "ser"):
        name, labels, values = (_cached(_below(series, part)) for part in ("tx", "cat", "val"))
        rows += [["", *labels]] * (not rows) + [[" ".join(name), *values]]
    made = (f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"{''.join(shown)}<table>{''.join(made)}</table>"


def _cached(element: Element | None) -> list[str]:
    """The values of a chart that are kept in its file."""
    held = element.iter() if element is not None else ()
    return [each.text or "" for each in held if _name(each) == "v"]


def read_odt(path: str) -> Iterator[Document | Problem]:
    """An OpenDocument file, of text or of slides, as one document."""
    with _opened(path) as archive:
        if any(_name(each) == "encryption-data" for each in archive.side("META-INF/manifest.xml").iter()):
            raise UnsupportedFile(f"{path}: locked by a password; save it without one first")
        content = archive.xml("content.xml")
        styles = (style for style in content.iter() if _name(style) == "list-style")
        numbered = {_value(style, "name") for style in styles if any("number" in _name(e) for e in style)}
        body = next((each for each in content.iter() if _name(each) == "body"), content)
        asides = (each for each in body.iter() if _name(each) in ("note-body", "annotation"))
        parts = ["".join(_of_odt(each, numbered, 0)) for each in (body, *map(_paragraphs, asides))]
        yield _document(path, _title(archive.side("meta.xml")), parts)
        yield from _unread(path, archive.broken, "indexed the rest")


def _paragraphs(aside: Element) -> Element:
    """Those of a note or comment, without its author and day."""
    held = Element("aside")
    held.extend(each for each in aside if _name(each) in ("p", "list"))
    return held


def read_epub(path: str) -> Iterator[Document | Problem]:
    """A book, a document a chapter."""
    with _opened(path) as archive:
        container = archive.xml("META-INF/container.xml")
        root = next((_value(each, "full-path") for each in container.iter() if _name(each) == "rootfile"), "")
        package = archive.xml(root)
        items = {_value(each, "id"): _value(each, "href") for each in package.iter() if _name(each) == "item"}
        spine = [items.get(_value(each, "idref"), "") for each in package.iter() if _name(each) == "itemref"]
        locked = {
            unquote(_value(each, "URI"))
            for each in archive.side("META-INF/encryption.xml").iter()
            if _name(each) == "CipherReference"
        }
        book, read, broken = _title(package), 0, list[str]()
        for href in filter(None, spine):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(root), unquote(href)))
            if name in locked:
                raise UnsupportedFile(f"{path}: a book that is locked (DRM)")
            name = archive.spelled.get(name.casefold(), name)
            if name not in archive.names:
                broken.append(f"{name}: not there")
                continue
            try:
                chapter = web_page.document_of(archive.data(name), book)
            except BROKEN as error:
                broken.append(f"{name}: {complaint(error)}")
                continue
            # A page of an image alone has the title of the book for its text.
            if chapter is not None and chapter.text != chapter.title:
                read += 1
                yield chapter
        if not read:
            raise DamagedFile(f"{path}: {'; '.join(broken[:MOST_NAMED]) or 'a book without text'}")
        yield from _unread(path, broken, f"indexed the other {read} chapters")


def _unread(path: str, broken: Iterable[str], action: str) -> Iterator[Problem]:
    """A problem that names the first parts of a file that cannot be read; none without any."""
    named = list(broken)
    named[MOST_NAMED:] = [f"and {len(named) - MOST_NAMED} more"] * (len(named) > MOST_NAMED)
    if named:
        yield Problem(path, "; ".join(named), action)


def _document(path: str, title: str, pages: Iterable[str]) -> Document:
    document = web_page.document_of("".join(f"<div>{page}</div>" for page in pages), stated_title(title))
    if document is None:
        raise DamagedFile(f"{path}: no text in it")
    return document


def _part(archive: _Archive, name: str, relation: str) -> Element:
    """A part that may have another name, which the file's relations give."""
    if name not in archive.names:
        for each in archive.side("_rels/.rels"):
            if _value(each, "Type").endswith(f"/{relation}"):
                name = _value(each, "Target").lstrip("/")
    return ElementTree.fromstring(archive.data(name))


def _name(element: Element) -> str:
    """The name of an element without its namespace, which differs between versions of a format."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _value(element: Element, name: str) -> str:
    """An attribute, of whatever namespace."""
    return next((held for key, held in element.attrib.items() if key.rpartition("}")[2] == name), "")


def _number(element: Element | None, name: str, default: int) -> int:
    """An attribute that is a number, the default where it is none."""
    held = "" if element is None else _value(element, name)
    return int(held) if re.fullmatch(r"-?\d{1,9}", held, re.ASCII) else default


def _below(element: Element, *names: str) -> Element | None:
    """The element at a path of names."""
    for name in names:
        found = next((each for each in element if _name(each) == name), None)
        if found is None:
            return None
        element = found
    return element


def _title(element: Element) -> str:
    """The text of its first `title`; empty without one."""
    return next((" ".join(each.itertext()) for each in element.iter() if _name(each) == "title"), "")


# Word and PowerPoint

Mark = Callable[[Element], str]
"""Gives what is written before a paragraph: the mark of an item of a list, else nothing."""


def _word_lists(numbering: Element) -> Mark:
    """Marks of the items of a Word file's lists, whose numbers go on behind other paragraphs."""
    starts: dict[tuple[str, int], int] = {}
    """The first number of the numbered levels, by definition and level."""
    definitions: dict[str, str] = {}
    restarts: dict[tuple[str, int], int] = {}
    for held in numbering:
        if _name(held) == "abstractNum":
            for level in held:
                form = _below(level, "numFmt")
                if form is not None and _value(form, "val") not in ("bullet", "none"):
                    at = _value(held, "abstractNumId"), _number(level, "ilvl", 0)
                    starts[at] = _number(_below(level, "start"), "val", 1)
        elif (of := _below(held, "abstractNumId")) is not None:
            number = _value(held, "numId")
            definitions[number] = _value(of, "val")
            for each in held:
                if (start := _below(each, "startOverride")) is not None:
                    restarts[number, _number(each, "ilvl", 0)] = _number(start, "val", 1)
    counts: dict[str, dict[int, int]] = {}

    def mark(paragraph: Element) -> str:
        held = _below(paragraph, "pPr", "numPr", "numId")
        number = "0" if held is None else _value(held, "val")
        if number == "0":
            return ""
        level, of = _number(_below(paragraph, "pPr", "numPr", "ilvl"), "val", 0), definitions.get(number, "")
        if (of, level) not in starts:
            return "- "
        before = counts.get(of, {})
        if (restart := restarts.pop((number, level), None)) is not None:
            before = {**before, level: restart - 1}
        counts[of] = _counted(before, level, starts[of, level])
        return f"{counts[of][level]}. "

    return mark


def _slide_lists(slide: Element) -> Mark:
    marks: dict[Element, str] = {}
    for body in slide.iter():
        counts: dict[int, int] = {}
        for paragraph in body if _name(body) == "txBody" else ():
            level = _number(_below(paragraph, "pPr"), "lvl", 0)
            auto = _below(paragraph, "pPr", "buAutoNum")
            if auto is None:
                counts = {at: count for at, count in counts.items() if at < level}
                marks[paragraph] = "" if _below(paragraph, "pPr", "buChar") is None else "- "
            else:
                counts = _counted(counts, level, _number(auto, "startAt", 1))
                marks[paragraph] = f"{counts[level]}. "
    return lambda paragraph: marks.get(paragraph, "")


def _counted(counts: Mapping[int, int], level: int, start: int = 1) -> dict[int, int]:
    """The numbers of a list's levels after one more item, which ends the lists within the one before it."""
    above = {at: count for at, count in counts.items() if at < level}
    return above | {level: counts.get(level, start - 1) + 1}


def _html(element: Element, mark: Mark, depth: int = 0) -> str:
    """The elements below one."""
    return "" if depth > MAX_DEPTH else "".join(_of_office(each, mark, depth) for each in element)


def _of_office(element: Element, mark: Mark, depth: int) -> str:
    name = _name(element)
    if name in LEFT_OUT or (name == "fld" and _value(element, "type") == "slidenum"):
        return ""
    if name in ("t", "text") and ((element.text or "").strip() or not len(element)):
        return escape(element.text or "")
    if name in BREAKS:
        return BREAKS[name]
    if name == "tbl":
        rows = [*_below_wrappers(element, "tr")]
        _fill_down([*_below_wrappers(row, "tc")] for row in rows)
        made = (_row(each, mark, depth, heads=_has_heads(element, at, each)) for at, each in enumerate(rows))
        return f"<table>{''.join(made)}</table>"
    before = mark(element) if name == "p" else ""
    inside = _html(element, mark, depth + 1)
    return f"<p>{before if inside else ''}{inside}</p>" if name in PARAGRAPHS else inside


def _row(row: Element, mark: Mark, depth: int, *, heads: bool) -> str:
    tag = "th" if heads else "td"
    cells = [*_below_wrappers(row, "tc")]
    made: list[str] = []
    for at, cell in enumerate(cells):
        spanned = _number(_below(cell, "tcPr", "gridSpan"), "val", 1) if len(cells) > 1 else 1
        room = MOST_SPANNED - len(made) - (len(cells) - at)
        made += [_html(cell, mark, depth + 1)] + [""] * min(spanned - 1, room)
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in made)}</tr>"


def _fill_down(rows: Iterable[Sequence[Element]]) -> None:
    """Write a cell that is merged with those below it into each of them, unless it is long."""
    above: dict[int, tuple[int, Element]] = {}
    """By column, the newest cell with the number of the row behind its last."""
    for number, cells in enumerate(rows):
        column = 0
        for cell in cells:
            merge, text = _below(cell, "tcPr", "vMerge"), "".join(cell.itertext()).strip()
            goes_on = merge is not None and _value(merge, "val") != "restart"
            goes_on = goes_on or _value(cell, "vMerge") in ("1", "true")
            until, held = above.get(column, (0, cell))
            if goes_on or (_name(cell) == "covered-table-cell" and number < until):
                if not text:
                    cell.tag = held.tag
                    cell.extend(held)
            else:
                until = number + _number(cell, "number-rows-spanned", 1)
                above[column] = until, cell if len(text) <= web_page.MAX_CELL else Element(cell.tag)
            wide = _number(_below(cell, "tcPr", "gridSpan"), "val", 1)
            column += max(wide, _number(cell, "number-columns-repeated", 1))


def _below_wrappers(element: Element, name: str) -> Iterator[Element]:
    for each in element:
        if _name(each) == name:
            yield each
        elif _name(each) in WRAPPERS:
            yield from _below_wrappers(each, name)


def _has_heads(table: Element, at: int, row: Element) -> bool:
    """Whether a row is marked as heads, or is the first of a table whose first row looks otherwise."""
    if _below(row, "trPr", "tblHeader") is not None:
        return True
    look = _below(table, "tblPr", "tblLook")
    shown = _below(table, "tblPr") if look is None else look
    if at or shown is None:
        return False
    bits = _value(shown, "val")
    return _value(shown, "firstRow") in ("1", "true") or bool(bits and int(bits, 16) & 0x20)


# OpenDocument


def _of_odt(element: Element, numbered: set[str], depth: int) -> Iterator[str]:
    """HTML of the elements below one, with the text between them."""
    if _name(element) == "table":
        rows = _below_wrappers(element, "table-row")
        _fill_down([each for each in row if _name(each).endswith("table-cell")] for row in rows)
    yield escape(element.text or "")
    several = sum(_name(each) == "table-cell" for each in element) > 1
    for each in element:
        name = _name(each)
        if depth < MAX_DEPTH and name not in LEFT_OUT:
            tag = _odt_tag(each, name, numbered)
            tag = "td" if several and name == "covered-table-cell" else tag
            yield f"<{tag}>" if tag else BREAKS.get(name, "")
            yield from _of_odt(each, numbered, depth + 1)
            yield f"</{tag}>" if tag else ""
        yield escape(each.tail or "")


def _odt_tag(element: Element, name: str, numbered: set[str]) -> str:
    if name == "list":
        return "ol" if _value(element, "style-name") in numbered else "ul"
    if name == "table-cell":
        return "th" if any(_value(each, "style-name") == HEADS for each in element) else "td"
    return ODT_TAGS.get(name, "")


DOCX, PPTX, ODT, EPUB = (
    DocumentFormat(read, text_share=0.1) for read in (read_docx, read_pptx, read_odt, read_epub)
)
