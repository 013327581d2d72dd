"""Files of passages that a test writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, TypeVar

from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

Target = TypeVar("Target", Path, BinaryIO)


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
