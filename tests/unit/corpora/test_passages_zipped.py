"""Text of Word, PowerPoint, OpenDocument and EPUB files."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.passages import Document, zipped
from corpora.passages.zipped import read_docx, read_epub, read_odt, read_pptx
from rag.errors import DamagedFile, UnsupportedFile
from tests.fakes.documents import epub_parts, odt_parts, pptx_parts, word_parts, write_zip

BOMB = '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def _p(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def _item(number: int, text: str, level: int = 0) -> str:
    return _p(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def _table(properties: str, *rows: str) -> str:
    made = "".join(
        "<w:tr>" + "".join(f"<w:tc>{_p(cell)}</w:tc>" for cell in row.split("|")) + "</w:tr>" for row in rows
    )
    return f"<w:tbl><w:tblPr>{properties}</w:tblPr>{made}</w:tbl>"


NUMBERING = "".join(
    f'<w:abstractNum w:abstractNumId="{number}"><w:lvl w:ilvl="0"><w:numFmt w:val="{form}"/></w:lvl>'
    f'</w:abstractNum><w:num w:numId="{number + 1}"><w:abstractNumId w:val="{number}"/></w:num>'
    for number, form in enumerate(("decimal", "bullet"))
)


def _lines(document: object) -> list[str]:
    assert isinstance(document, Document)
    return [line for line in document.text.split("\n") if line]


def test_a_word_file_with_lists_and_tables(tmp_path: Path) -> None:
    body = (
        _p("Descaling")
        + _item(1, "Fill the tank.")
        + _item(1, "Press </w:t><w:br/><w:t>start.")
        + _item(2, "A bucket")
        + _item(0, "No item.")
        + "<w:p><w:del><w:r><w:delText>never</w:delText></w:r></w:del><w:r><w:t>Empty &amp; </w:t></w:r>"
        "<w:r><w:t>rinse.</w:t></w:r></w:p>"
        + _table('<w:tblLook w:val="04A0"/>', "Code|Cause", "E10|No water")
        + _table('<w:tblLook w:firstRow="0"/>', "A|1", "B|2")
    )
    parts = word_parts(body, title="Coffee machine", numbering=NUMBERING)
    (document,) = read_docx(str(write_zip(tmp_path / "a.docx", parts)))
    assert isinstance(document, Document)
    assert document.title == "Coffee machine"
    assert _lines(document) == [
        *("Descaling", "1. Fill the tank.", "2. Press", "start.", "- A bucket", "No item.", "Empty & rinse."),
        *("| Code | Cause |", "|-|-|", "| E10 | No water |", "| A | 1 |", "| B | 2 |"),
    ]


def test_the_main_part_of_a_word_file_may_have_another_name(tmp_path: Path) -> None:
    parts = word_parts(_p("Text."))
    parts["word/document2.xml"] = parts.pop("word/document.xml")
    relation = '<Relationship Type="http://x/officeDocument" Target="/word/document2.xml"/>'
    parts["_rels/.rels"] = f"<Relationships>{relation}</Relationships>"
    (document,) = read_docx(str(write_zip(tmp_path / "a.docx", parts)))
    assert _lines(document) == ["Text."]


def test_slides_are_read_by_their_numbers(tmp_path: Path) -> None:
    slides = [f"<a:p><a:r><a:t>Slide {number}</a:t></a:r></a:p>" for number in range(1, 12)]
    (document,) = read_pptx(str(write_zip(tmp_path / "a.pptx", pptx_parts(*slides))))
    assert _lines(document) == [f"Slide {number}" for number in range(1, 12)]


def test_an_open_document(tmp_path: Path) -> None:
    styles = (
        '<text:list-style style:name="L1" xmlns:style="s"><text:list-level-style-number/></text:list-style>'
    )
    body = (
        "<text:h>Descaling</text:h><text:p>Fill<text:s/>the <text:span>tank</text:span>.</text:p>"
        '<text:list text:style-name="L1"><text:list-item><text:p>Press.</text:p></text:list-item></text:list>'
        "<text:list><text:list-item><text:p>A bucket</text:p></text:list-item></text:list>"
        "<office:annotation><text:p>a note</text:p></office:annotation>"
        "<table:table><table:table-row>"
        + "".join(
            f'<table:table-cell><text:p text:style-name="Table_20_Heading">{head}</text:p></table:table-cell>'
            for head in ("Code", "Cause")
        )
        + "</table:table-row><table:table-row>"
        + "".join(
            f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in ("E10", "No water")
        )
        + "</table:table-row></table:table>"
    )
    parts = odt_parts(body, title="Coffee machine", styles=styles)
    (document,) = read_odt(str(write_zip(tmp_path / "a.odt", parts)))
    assert isinstance(document, Document)
    assert document.title == "Coffee machine"
    assert _lines(document) == [
        *("Descaling", "Fill the tank.", "1. Press.", "- A bucket"),
        *("| Code | Cause |", "|-|-|", "| E10 | No water |"),
    ]


def test_a_book_is_read_chapter_by_chapter_in_its_order(tmp_path: Path) -> None:
    parts = epub_parts("The whale", "<h1>One</h1><p>Call me.</p>", "<p> </p>", "<h1>Two</h1><p>A ship.</p>")
    documents = [*read_epub(str(write_zip(tmp_path / "a.epub", parts)))]
    assert [document.title for document in documents if isinstance(document, Document)] == ["The whale"] * 2
    assert [_lines(document) for document in documents] == [["One", "Call me."], ["Two", "A ship."]]


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"word/document.xml": "<w:document"},
        {"word/document.xml": f"{BOMB}]><d>&i;</d>"},
        word_parts(_p(" ")),
        {"word/document.xml": "<d>" * 30_000 + "</d>" * 30_000},
    ],
)
def test_a_damaged_file_is_one_line(tmp_path: Path, parts: dict[str, str]) -> None:
    path = write_zip(tmp_path / "a.docx", parts)
    with pytest.raises(DamagedFile) as raised:
        list(read_docx(str(path)))
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


def test_files_that_are_no_zip_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 locked")
    with pytest.raises(UnsupportedFile, match="password"):
        list(read_docx(str(path)))
    path.write_bytes(b"PK\x03\x04 cut")
    with pytest.raises(DamagedFile):
        list(read_docx(str(path)))
    with pytest.raises(DamagedFile, match="without text"):
        list(read_epub(str(write_zip(tmp_path / "b.epub", epub_parts("Empty")))))


def test_what_would_fill_memory_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_zip(tmp_path / "a.docx", word_parts(_p("long " * 10_000)))
    monkeypatch.setattr(zipped, "MAX_BYTES", 40_000)
    with pytest.raises(UnsupportedFile, match="when unpacked"):
        list(read_docx(str(path)))
