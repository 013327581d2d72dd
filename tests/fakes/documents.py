"""Files of passages that a test writes."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, TypeVar

from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

Target = TypeVar("Target", Path, BinaryIO)

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
OPEN = "urn:oasis:names:tc:opendocument:xmlns"
CORE = '<c xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{}</dc:title></c>'


def write_zip(target: Target, parts: Mapping[str, str]) -> Target:
    """A zip file of texts by name."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as held:
        for name, text in parts.items():
            held.writestr(name, text)
    return target


def word_parts(body: str, *, title: str = "", numbering: str = "") -> dict[str, str]:
    """A Word file. `body` and `numbering`: below the elements of these names, with the prefix w."""
    return {
        "word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>',
        "word/numbering.xml": f'<w:numbering xmlns:w="{WORD}">{numbering}</w:numbering>',
        "docProps/core.xml": CORE.format(title),
    }


def odt_parts(body: str, *, title: str = "", styles: str = "") -> dict[str, str]:
    """An OpenDocument file, with the prefixes office, text and table."""
    spaces = " ".join(f'xmlns:{name}="{OPEN}:{name}:1.0"' for name in ("office", "text", "table"))
    content = f"<office:automatic-styles>{styles}</office:automatic-styles><office:body>{body}</office:body>"
    return {
        "content.xml": f"<office:document-content {spaces}>{content}</office:document-content>",
        "meta.xml": CORE.format(title),
    }


def pptx_parts(*slides: str) -> dict[str, str]:
    """A PowerPoint file, with the prefix a below each slide."""
    return {
        f"ppt/slides/slide{number}.xml": f'<s xmlns:a="{DRAWING}">{slide}</s>'
        for number, slide in enumerate(slides, start=1)
    }


def epub_parts(title: str, *chapters: str) -> dict[str, str]:
    """A book whose chapters are listed backwards, and read in the order of its spine."""
    places = [f"text/{number} of book.xhtml" for number in range(len(chapters))]
    items = "".join(f'<item id="c{n}" href="{place.replace(" ", "%20")}"/>' for n, place in enumerate(places))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    head = f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></metadata>'
    return {
        **{f"OEBPS/{place}": text for place, text in reversed([*zip(places, chapters, strict=True)])},
        "META-INF/container.xml": '<c><rootfile full-path="OEBPS/book.opf"/></c>',
        "OEBPS/book.opf": f"<package>{head}<manifest>{items}</manifest><spine>{spine}</spine></package>",
    }


def _shown(text: str) -> Iterator[str]:
    for row, line in enumerate(text.split("\n")):
        for column, part in enumerate(line.split("\t")):
            yield f"BT /F1 12 Tf {20 + 120 * column} {180 - 14 * row} Td ({part}) Tj ET"


def write_pdf(
    target: Target, pages: Sequence[str | Sequence[str]], *, title: str = "", password: str = ""
) -> Target:
    """A PDF with these lines on each page, tabs between columns, or what draws it; an empty string: none."""
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(400, 200)
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        if text:
            stream = DecodedStreamObject()
            stream.set_data("\n".join(_shown(text) if isinstance(text, str) else text).encode())
            page[NameObject("/Contents")] = writer._add_object(stream)
    if title:
        writer.add_metadata({"/Title": title})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    writer.write(target)
    return target
