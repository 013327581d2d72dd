"""Documents that are XML in a zip file: Word, PowerPoint, OpenDocument and EPUB, read as web pages.

Each becomes HTML with paragraphs, lists and tables alone, of which `corpora.passages.web_page` makes text.
What was deleted with changes kept, comments, notes, headers and footers are left out.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from html import escape
from itertools import groupby
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.passages import web_page
from corpora.passages.document import Document, complaint, stated_title
from corpora.records import Problem

MAX_BYTES = web_page.MAX_BYTES
"""Of all parts of a file that are read, unpacked."""
MAX_DEPTH = 200
"""Elements within each other."""

LEFT_OUT = frozenset(
    {"del", "moveFrom", "instrText", "delText", "Fallback", "footnote", "endnote", "comment", "annotation"}
    | {"note", "tracked-changes", "notes", "table-of-content"}
)
BREAKS = {"br": "<br>", "cr": "<br>", "tab": " ", "line-break": "<br>", "s": " ", "noBreakHyphen": "-"}
ODT = {
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
        self.names = held.namelist()

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
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError, EOFError, ValueError) as error:
        raise DamagedFile(f"{path}: cannot be read: {complaint(error)}") from error
    except (NotImplementedError, RuntimeError) as error:
        raise UnsupportedFile(f"{path}: cannot be unpacked: {complaint(error)}") from error


def read_docx(path: str) -> Iterator[Document | Problem]:
    """A Word file as one document."""
    with _opened(path) as archive:
        main = _part(archive, "word/document.xml", "officeDocument")
        numbered = _numbered_lists(archive.xml("word/numbering.xml"))
        html = _html(main, lambda paragraph: _word_list(paragraph, numbered))
        yield _document(path, _text_of(archive.xml("docProps/core.xml"), "title"), [html])


def read_pptx(path: str) -> Iterator[Document | Problem]:
    """A PowerPoint file as one document, slide by slide."""
    with _opened(path) as archive:
        slides = [name for name in archive.names if re.fullmatch(r"ppt/slides/slide\d+\.xml", name)]
        slides.sort(key=lambda name: int(re.sub(r"\D", "", name)))
        title = _text_of(archive.xml("docProps/core.xml"), "title")
        yield _document(path, title, [_html(archive.xml(name), lambda _: "") for name in slides])


def read_odt(path: str) -> Iterator[Document | Problem]:
    """An OpenDocument file, of text or of slides, as one document."""
    with _opened(path) as archive:
        content = archive.xml("content.xml")
        styles = (style for style in content.iter() if _name(style) == "list-style")
        numbered = {_value(style, "name") for style in styles if any("number" in _name(e) for e in style)}
        body = next((each for each in content.iter() if _name(each) == "body"), content)
        html = "".join(_of_odt(body, numbered, 0))
        yield _document(path, _text_of(archive.xml("meta.xml"), "title"), [html])


def read_epub(path: str) -> Iterator[Document | Problem]:
    """A book, a document a chapter."""
    with _opened(path) as archive:
        container = archive.xml("META-INF/container.xml")
        root = next((_value(each, "full-path") for each in container.iter() if _name(each) == "rootfile"), "")
        package = archive.xml(root)
        items = {_value(each, "id"): _value(each, "href") for each in package.iter() if _name(each) == "item"}
        spine = [items.get(_value(each, "idref"), "") for each in package.iter() if _name(each) == "itemref"]
        book, some = _text_of(package, "title"), False
        for href in filter(None, spine):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(root), unquote(href)))
            chapter = web_page.document_of(archive.data(name), book) if name in archive.names else None
            # A page of an image alone has the title of the book for its text.
            if chapter is not None and chapter.text != chapter.title:
                some = True
                yield chapter
        if not some:
            raise DamagedFile(f"{path}: a book without text")


def _document(path: str, title: str, pages: Iterable[str]) -> Document:
    document = web_page.document_of("".join(f"<div>{page}</div>" for page in pages), stated_title(title))
    if document is None:
        raise DamagedFile(f"{path}: no text in it")
    return document


def _part(archive: _Archive, name: str, relation: str) -> Element:
    """A part that may have another name, which the file's relations give."""
    if name not in archive.names:
        for each in archive.xml("_rels/.rels"):
            if _value(each, "Type").endswith(f"/{relation}"):
                name = _value(each, "Target").lstrip("/")
    return ElementTree.fromstring(archive.data(name))


def _name(element: Element) -> str:
    """Without its namespace, which differs between versions of a format."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _value(element: Element, name: str) -> str:
    """An attribute, of whatever namespace."""
    return next((held for key, held in element.attrib.items() if key.rpartition("}")[2] == name), "")


def _below(element: Element, *names: str) -> Element | None:
    """The element at a path of names."""
    for name in names:
        found = next((each for each in element if _name(each) == name), None)
        if found is None:
            return None
        element = found
    return element


def _text_of(element: Element, name: str) -> str:
    """The text of the first element of a name."""
    return next((" ".join(each.itertext()) for each in element.iter() if _name(each) == name), "")


# Word and PowerPoint

ListOf = Callable[[Element], str]
"""Of a paragraph: `ol` or `ul` of an item of a list, else nothing."""


def _numbered_lists(numbering: Element) -> set[tuple[str, str]]:
    """Number and level of the lists whose items are numbered."""
    levels = {
        (_value(held, "abstractNumId"), _value(level, "ilvl"))
        for held in numbering
        for level in held
        if _name(held) == "abstractNum" and _name(level) == "lvl"
        if (form := _below(level, "numFmt")) is not None and _value(form, "val") not in ("bullet", "none")
    }
    return {
        (_value(held, "numId"), level)
        for held in numbering
        if _name(held) == "num" and (of := _below(held, "abstractNumId")) is not None
        for number, level in levels
        if number == _value(of, "val")
    }


def _word_list(paragraph: Element, numbered: set[tuple[str, str]]) -> str:
    properties = _below(paragraph, "pPr", "numPr")
    held = None if properties is None else _below(properties, "numId")
    if properties is None or held is None or _value(held, "val") == "0":
        return ""
    level = _below(properties, "ilvl")
    return "ol" if (_value(held, "val"), "0" if level is None else _value(level, "val")) in numbered else "ul"


def _html(element: Element, list_of: ListOf, depth: int = 0) -> str:
    """The elements below one; paragraphs of a list that follow each other are one list."""
    if depth > MAX_DEPTH:
        return ""
    parts = []
    for kind, group in groupby(element, lambda each: list_of(each) if _name(each) == "p" else ""):
        inside = "".join(_of_office(each, list_of, depth, "li" if kind else "p") for each in group)
        parts.append(f"<{kind}>{inside}</{kind}>" if kind else inside)
    return "".join(parts)


def _of_office(element: Element, list_of: ListOf, depth: int, paragraph: str) -> str:
    name = _name(element)
    if name in LEFT_OUT:
        return ""
    if name == "t":
        return escape(element.text or "")
    if name in BREAKS:
        return BREAKS[name]
    if name == "tbl":
        rows = enumerate(each for each in element if _name(each) == "tr")
        made = (_row(each, list_of, depth, heads=_has_heads(element, at, each)) for at, each in rows)
        return f"<table>{''.join(made)}</table>"
    inside = _html(element, list_of, depth + 1)
    return f"<{paragraph}>{inside}</{paragraph}>" if name == "p" else inside


def _row(row: Element, list_of: ListOf, depth: int, *, heads: bool) -> str:
    tag = "th" if heads else "td"
    cells = (_html(each, list_of, depth + 1) for each in row if _name(each) == "tc")
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"


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
    yield escape(element.text or "")
    for each in element:
        name = _name(each)
        if depth < MAX_DEPTH and name not in LEFT_OUT:
            tag = _odt_tag(each, name, numbered)
            yield f"<{tag}>" if tag else BREAKS.get(name, "")
            yield from _of_odt(each, numbered, depth + 1)
            yield f"</{tag}>" if tag else ""
        yield escape(each.tail or "")


def _odt_tag(element: Element, name: str, numbered: set[str]) -> str:
    if name == "list":
        return "ol" if _value(element, "style-name") in numbered else "ul"
    if name == "list-item":
        return "li"
    if name == "table-cell":
        return "th" if any(_value(each, "style-name") == HEADS for each in element) else "td"
    return ODT.get(name, "")
