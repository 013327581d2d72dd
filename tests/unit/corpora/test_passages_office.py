"""Office files, books and tables: Word, PowerPoint, OpenDocument, EPUB, spreadsheets, CSV without text."""

import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from corpora.passages import Document, read_documents, read_passages, spreadsheets, zipped
from corpora.passages.spreadsheets import table_documents
from corpora.passages.zipped import read_docx, read_epub, read_odt, read_pptx
from corpora.records import Problem
from rag.errors import DamagedFile, UnsupportedFile
from tests.fakes.documents import (
    epub_parts,
    ods_parts,
    odt_parts,
    pptx_parts,
    word_parts,
    write_zip,
    xlsx_parts,
    xlsx_rows,
)

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
    return [line for line in document.text.split("\n") if line]


def _read(read: Callable[[str], Iterator[object]], path: Path, parts: Mapping[str, str]) -> list[str]:
    (document,) = read(str(write_zip(path, parts)))
    return _lines(document)


def test_a_word_file_with_lists_and_tables(tmp_path) -> None:
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
    assert document.title == "Coffee machine"
    assert _lines(document) == [
        *("Descaling", "1. Fill the tank.", "2. Press", "start.", "- A bucket", "No item.", "Empty & rinse."),
        *("| Code | Cause |", "|-|-|", "| E10 | No water |", "| A | 1 |", "| B | 2 |"),
    ]


def test_the_main_part_of_a_word_file_may_have_another_name(tmp_path) -> None:
    parts = word_parts(_p("Text."))
    parts["word/document2.xml"] = parts.pop("word/document.xml")
    relation = '<Relationship Type="http://x/officeDocument" Target="/word/document2.xml"/>'
    parts["_rels/.rels"] = f"<Relationships>{relation}</Relationships>"
    assert _read(read_docx, tmp_path / "a.docx", parts) == ["Text."]


def test_numbers_of_a_word_list_go_on_behind_other_paragraphs(tmp_path) -> None:
    levels = "".join(
        f'<w:lvl w:ilvl="{at}"><w:start w:val="{5 - 4 * at}"/><w:numFmt w:val="decimal"/></w:lvl>'
        for at in (0, 1)
    )
    again = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    numbering = (
        NUMBERING
        + f'<w:abstractNum w:abstractNumId="9">{levels}</w:abstractNum>'
        + "".join(
            f'<w:num w:numId="{number}"><w:abstractNumId w:val="9"/>{more}</w:num>'
            for number, more in (("8", ""), ("7", ""), ("9", again))
        )
    )
    body = (
        _item(8, "Fill.")
        + _item(2, "With water")
        + "<w:bookmarkStart/>"
        + _item(8, "Press.")
        + _item(8, "Twice", 1)
        + _p("Avoid the steam.")
        + f"<w:sdt><w:sdtContent>{_item(8, 'Wait.')}</w:sdtContent></w:sdt>"
        + _item(8, "An hour", 1)
        + _item(7, "Stir.")
        + _item(9, "Empty.")
        + _item(9, "Dry.")
    )
    assert _read(read_docx, tmp_path / "a.docx", word_parts(body, numbering=numbering)) == [
        *("5. Fill.", "- With water", "6. Press.", "1. Twice", "Avoid the steam.", "7. Wait.", "1. An hour"),
        *("8. Stir.", "1. Empty.", "2. Dry."),
    ]


def test_rows_and_cells_in_content_controls_and_merged_cells_are_kept(tmp_path) -> None:
    def held(inside: str) -> str:
        return f"<w:sdt><w:sdtPr/><w:sdtContent>{inside}</w:sdtContent></w:sdt>"

    cells = [f"<w:tc>{_p(text)}</w:tc>" for text in "ABCDEF"]
    wide = f'<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>{_p("wide")}</w:tc>'
    rows = [f"<w:tr>{''.join(cells[:3])}</w:tr>", held(f"<w:tr>{held(cells[3])}{wide}</w:tr>")]
    rows.append(f"<w:tr>{wide}{cells[4]}</w:tr>")
    parts = word_parts(f"<w:tbl><w:tblPr/>{''.join(rows)}</w:tbl>")
    assert _read(read_docx, tmp_path / "a.docx", parts) == [
        "| A | B | C |",
        "| D | wide | |",
        "| wide | | E |",
    ]
    vast = wide.replace('"2"', '"99999999"')
    parts = word_parts(f"<w:tbl><w:tblPr/><w:tr>{vast}{cells[4]}</w:tr></w:tbl>")
    (document,) = read_docx(str(write_zip(tmp_path / "b.docx", parts)))
    assert len(document.text) < 100
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>".format
    row = f"{cell('A')}<table:covered-table-cell/>{cell('C')}"
    body = f"<table:table><table:table-row>{row}</table:table-row></table:table>"
    assert _read(read_odt, tmp_path / "a.odt", odt_parts(body)) == ["| A | | C |"]


def test_cells_merged_with_those_below_are_in_each_row(tmp_path) -> None:
    shown = ["| Pump | 3 bar |", "| Pump | 5 bar |", "| Fan | 9 V |"]

    def of(merged: str, below: str, plain: str) -> str:
        rows = ((merged, "3 bar"), (below, "5 bar"), (plain.format("Fan"), "9 V"))
        return "".join(row.format(first + plain.format(last)) for first, last in rows)

    row, cell = "<w:tr>{}</w:tr>", f"<w:tc>{_p('{}')}</w:tc>"
    merge = "<w:tc><w:tcPr><w:vMerge{}/></w:tcPr>{}</w:tc>".format
    word = of(merge(' w:val="restart"', _p("Pump")), merge("", "<w:p/>"), cell)
    parts = word_parts(f"<w:tbl><w:tblPr/>{word}</w:tbl>")
    assert _read(read_docx, tmp_path / "a.docx", parts) == shown
    row, cell = "<a:tr>{}</a:tr>", "<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
    first = cell.format("Pump").replace("<a:tc>", '<a:tc rowSpan="2">')
    slide = of(first, cell.format("").replace("<a:tc>", '<a:tc vMerge="1">'), cell)
    assert _read(read_pptx, tmp_path / "a.pptx", pptx_parts(f"<a:tbl>{slide}</a:tbl>")) == shown
    row, cell = (
        "<table:table-row>{}</table:table-row>",
        "<table:table-cell><text:p>{}</text:p></table:table-cell>",
    )
    first = cell.format("Pump").replace("cell>", 'cell table:number-rows-spanned="2">', 1)
    text = of(first, "<table:covered-table-cell/>", cell)
    assert _read(read_odt, tmp_path / "a.odt", odt_parts(f"<table:table>{text}</table:table>")) == shown


def test_a_damaged_part_beside_the_text_costs_no_text_and_is_named(tmp_path) -> None:
    parts = {**word_parts(_p("Text.")), "docProps/core.xml": "<c", "word/comments.xml": "<n"}
    document, problem = read_docx(str(write_zip(tmp_path / "a.docx", parts)))
    assert isinstance(document, Document)
    assert document.text == "Text."
    assert isinstance(problem, Problem)
    assert problem.action == "indexed the rest"
    assert [part.partition(":")[0] for part in problem.reason.split("; ")] == [
        "word/comments.xml",
        "docProps/core.xml",
    ]


def test_slides_are_read_in_the_order_of_the_presentation_with_their_lists(tmp_path) -> None:
    def item(text: str, kind: str) -> str:
        return f"<a:p><a:pPr>{kind}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>"

    auto, bullet = '<a:buAutoNum type="arabicPeriod"/>', '<a:buChar char="x"/>'
    steps = item("Fill.", auto) + item("Press.", auto) + item("A cup", bullet) + item("No item.", "")
    parts = pptx_parts(f"<a:txBody>{steps}</a:txBody>" * 2, item("Left out", ""), item("First", ""))
    relations = "".join(f'<R Id="r{at}" Target="slides/slide{at}.xml"/>' for at in (1, 2, 3))
    listed = "".join(f'<p:sldId id="9" r:id="r{at}"/>' for at in (3, 1))
    parts["ppt/presentation.xml"] = f'<p:presentation xmlns:p="p" xmlns:r="r">{listed}</p:presentation>'
    parts["ppt/_rels/presentation.xml.rels"] = f"<Rs>{relations}</Rs>"
    assert _read(read_pptx, tmp_path / "a.pptx", parts) == [
        "First",
        *["1. Fill.", "2. Press.", "- A cup", "No item."] * 2,
    ]


def test_locked_texts_and_books_are_refused(tmp_path) -> None:
    parts = {"content.xml": "\0", "META-INF/manifest.xml": "<m><encryption-data/></m>"}
    with pytest.raises(UnsupportedFile, match="password"):
        list(read_odt(str(write_zip(tmp_path / "a.odt", parts))))
    parts = epub_parts("Book", "\0\1\2")
    locked = '<e><CipherReference URI="OEBPS/text/0%20of%20book.xhtml"/></e>'
    with pytest.raises(UnsupportedFile, match="DRM"):
        list(read_epub(str(write_zip(tmp_path / "a.epub", {**parts, "META-INF/encryption.xml": locked}))))


def test_what_is_beside_the_text_of_a_word_file_is_read_behind_it(tmp_path) -> None:
    spaces = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    parts = {
        **word_parts(_p("Tighten the bolts.<w:footnoteReference/>")),
        "word/header1.xml": f"<w:hdr {spaces}>{_table('', 'Form|F-12', 'Issue|3')}</w:hdr>",
        "word/header2.xml": f"<w:hdr {spaces}>{_table('', 'Form|F-12', 'Issue|3')}</w:hdr>",
        "word/footnotes.xml": f"<w:f {spaces}><w:footnote>{_p('To 120 Nm.')}</w:footnote></w:f>",
        "word/endnotes.xml": f"<w:e {spaces}><w:endnote>{_p('Cold.')}</w:endnote></w:e>",
        "word/comments.xml": f"<w:c {spaces}><w:comment>{_p('Ask Ann.')}</w:comment></w:c>",
        "word/footer1.xml": f"<w:ftr {spaces}>{_p('Page 1')}</w:ftr>",
        "word/diagrams/data1.xml": '<d xmlns:a="a"><t><a:p><a:t>Clean.</a:t></a:p></t></d>',
    }
    assert _read(read_docx, tmp_path / "a.docx", parts) == [
        *("Tighten the bolts.", "Ask Ann.", "Clean.", "Cold.", "To 120 Nm."),
        *("| Form | F-12 |", "| Issue | 3 |"),
    ]


def test_notes_and_comments_of_an_open_document_are_read_behind_it(tmp_path) -> None:
    body = (
        "<text:p>Tighten<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>To 120 Nm.</text:p></text:note-body></text:note> the bolts.</text:p>"
        "<text:p><office:annotation><text:creator>Ann</text:creator><text:p>Ask first.</text:p>"
        "</office:annotation>Oil them.</text:p>"
    )
    assert _read(read_odt, tmp_path / "a.odt", odt_parts(body)) == [
        "Tighten the bolts.",
        "Oil them.",
        "To 120 Nm.",
        "Ask first.",
    ]


def test_charts_and_speaker_notes_are_read_behind_their_slide(tmp_path) -> None:
    links = (
        '<a Type="x/chart" Target="../charts/c.xml"/><a Type="x/notesSlide" Target="../notesSlides/n.xml"/>'
        '<a Type="x/comments" Target="../c.xml"/><a Type="x/diagramData" Target="../d.xml"/>'
    )
    cells = "<c:{0}><c:strCache><c:pt><c:v>{1}</c:v></c:pt><c:pt><c:v>{2}</c:v></c:pt></c:strCache></c:{0}>"
    series = cells.format("cat", "May", "June") + cells.format("val", "12", "15")
    drawing = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:c="chart"'
    chart = (
        f"<c:s {drawing}><c:rich><a:p><a:r><a:t>Bolts a month</a:t></a:r></a:p></c:rich>"
        f"<c:ser><c:tx><c:v>M8</c:v></c:tx>{series}</c:ser></c:s>"
    )
    number = '<a:p><a:fld type="slidenum"><a:t>7</a:t></a:fld></a:p>'
    notes = f"<n {drawing}><a:p><a:r><a:t>Say thanks.</a:t></a:r></a:p>{number}</n>"
    parts = {
        **pptx_parts("<a:p><a:t>Sales</a:t></a:p>", "<a:p><a:t>End</a:t></a:p>"),
        "ppt/slides/_rels/slide1.xml.rels": f"<r>{links}</r>",
        "ppt/charts/c.xml": chart,
        "ppt/notesSlides/n.xml": notes,
        "ppt/c.xml": '<p:l xmlns:p="p"><p:cm><p:text>Too long?</p:text></p:cm></p:l>',
        "ppt/d.xml": f"<d {drawing}><t><a:p><a:t>Step one</a:t></a:p></t></d>",
    }
    assert _read(read_pptx, tmp_path / "a.pptx", parts) == [
        *("Sales", "Bolts a month", "| | May | June |", "| M8 | 12 | 15 |"),
        *("Say thanks.", "Too long?", "Step one", "End"),
    ]


def test_an_open_document(tmp_path) -> None:
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
    assert document.title == "Coffee machine"
    assert _lines(document) == [
        *("Descaling", "Fill the tank.", "1. Press.", "- A bucket"),
        *("| Code | Cause |", "|-|-|", "| E10 | No water |", "a note"),
    ]


def test_a_book_is_read_chapter_by_chapter_in_its_order(tmp_path) -> None:
    parts = epub_parts("The whale", "<h1>One</h1><p>Call me.</p>", "<p> </p>", "<h1>Two</h1><p>A ship.</p>")
    documents = [*read_epub(str(write_zip(tmp_path / "a.epub", parts)))]
    assert [document.title for document in documents if isinstance(document, Document)] == ["The whale"] * 2
    assert [_lines(document) for document in documents] == [["One", "Call me."], ["Two", "A ship."]]


def damage(path: Path, name: str) -> Path:
    """Change a byte of a part of a zip file, whose checksum is then another."""
    with zipfile.ZipFile(path) as held:
        at = held.getinfo(name).header_offset + 30 + len(name)
        size = held.getinfo(name).compress_size
    data = bytearray(path.read_bytes())
    data[at + size // 2] ^= 0xFF
    path.write_bytes(data)
    return path


def test_a_damaged_chapter_costs_no_other(tmp_path) -> None:
    chapters = [f"<p>Chapter {at}: {'a whale and a ship. ' * at}</p>" for at in range(1, 4)]
    path = write_zip(tmp_path / "a.epub", epub_parts("The whale", *chapters))
    *found, problem = read_epub(str(damage(path, "OEBPS/text/1 of book.xhtml")))
    texts = [each.text[:9] for each in found if isinstance(each, Document)]
    assert texts == ["Chapter 1", "Chapter 3"]
    assert problem.reason.startswith("OEBPS/text/1 of book.xhtml: ")
    assert problem.action == "indexed the other 2 chapters"


def test_a_chapter_is_found_in_any_case_and_a_missing_one_is_named(tmp_path) -> None:
    parts = epub_parts("The whale", "<p>One</p>", "<p>Two</p>")
    parts["OEBPS/Text/0 of Book.xhtml"] = parts.pop("OEBPS/text/0 of book.xhtml")
    del parts["OEBPS/text/1 of book.xhtml"]
    (chapter, problem) = read_epub(str(write_zip(tmp_path / "a.epub", parts)))
    assert (chapter.text, problem.reason) == ("One", "OEBPS/text/1 of book.xhtml: not there")


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
def test_a_damaged_file_is_one_line(tmp_path, parts: dict[str, str]) -> None:
    path = write_zip(tmp_path / "a.docx", parts)
    with pytest.raises(DamagedFile) as raised:
        list(read_docx(str(path)))
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


def test_files_that_are_no_zip_are_refused(tmp_path) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 locked")
    with pytest.raises(UnsupportedFile, match="password"):
        list(read_docx(str(path)))
    path.write_bytes(b"PK\x03\x04 cut")
    with pytest.raises(DamagedFile):
        list(read_docx(str(path)))
    with pytest.raises(DamagedFile, match="without text"):
        list(read_epub(str(write_zip(tmp_path / "b.epub", epub_parts("Empty")))))


def test_what_would_fill_memory_is_not_unpacked(tmp_path, monkeypatch) -> None:
    path = write_zip(tmp_path / "a.docx", word_parts(_p("long " * 10_000)))
    monkeypatch.setattr(zipped, "MAX_BYTES", 40_000)
    with pytest.raises(UnsupportedFile, match="when unpacked"):
        list(read_docx(str(path)))


def found(path: Path) -> list[tuple[str, list[str]]]:
    documents = [each for each in read_documents(path) if isinstance(each, Document)]
    return [(each.title, each.text.split("\n")) for each in documents]


def test_sheets_of_excel_have_dates_results_and_names(tmp_path) -> None:
    parts = xlsx_parts(
        Costs=xlsx_rows(
            ("Budget of the workshop",),
            ("Item", "EUR", "Paid", "Sum"),
            ("Bolt | M8", 3.2, "<v>45356</v>", "<f>B3*2</f><v>6.4</v>"),
            ("Oil", 12, "", "<v>45356.5</v>"),
        ),
        Staff=xlsx_rows(("Name", "Phone"), ("Anna", "0800 1234")),
    )
    assert found(write_zip(tmp_path / "a.xlsx", parts)) == [
        (
            "Costs",
            [
                *("Budget of the workshop", "", "| Item | EUR | Paid | Sum |", "|-|-|-|-|"),
                "| Bolt \\| M8 | 3.2 | 2024-03-05 | 1900-01-06 09:36:00 |",
                "| Oil | 12 | | 2024-03-05 12:00:00 |",
            ],
        ),
        ("Staff", ["| Name | Phone |", "|-|-|", "| Anna | 0800 1234 |"]),
    ]


def test_merged_cells_are_in_each_row_and_notes_and_boxes_of_excel_behind_the_sheets(tmp_path) -> None:
    # A sheet whose first row and column are empty.
    parts = xlsx_parts(
        S=xlsx_rows((), ("", "Item", "EUR", "Size"), ("", "Bolt", 3, "M8"), ("", "", 4, "M10"))
    )
    merged = '</sheetData><mergeCells><mergeCell ref="B3:B4"/></mergeCells>'
    parts["xl/worksheets/sheet1.xml"] = parts["xl/worksheets/sheet1.xml"].replace("</sheetData>", merged)
    parts["xl/comments1.xml"] = "<c><comment><text><r><t>Ask Ann.</t></r></text></comment></c>"
    parts["xl/drawings/drawing1.xml"] = '<d xmlns:a="a"><a:p><a:r><a:t>Prices of 2024</a:t></a:r></a:p></d>'
    assert found(write_zip(tmp_path / "a.xlsx", parts)) == [
        ("", ["| Item | EUR | Size |", "|-|-|-|", "| Bolt | 3 | M8 |", "| Bolt | 4 | M10 |"]),
        ("", ["Ask Ann.", "", "Prices of 2024"]),
    ]
    parts["xl/comments1.xml"] = "<c"
    (problem,) = (
        each
        for each in read_documents(str(write_zip(tmp_path / "b.xlsx", parts)))
        if isinstance(each, Problem)
    )
    assert (problem.reason.partition(":")[0], problem.action) == ("xl/comments1.xml", "indexed the rest")


def test_a_sheet_of_opendocument(tmp_path) -> None:
    cell = "<table:table-cell {}><text:p>{}</text:p></table:table-cell>"
    kinds = {
        "string": 'office:value-type="string"',
        "float": 'office:value-type="float" office:value="{}"',
        "date": 'office:value-type="date" office:date-value="2024-03-05"',
    }
    rows = "".join(
        f"<table:table-row>{''.join(cells)}</table:table-row>"
        for cells in (
            [cell.format(kinds["string"], text) for text in ("Item", "EUR", "Paid")],
            [
                cell.format(kinds["string"], "Bolt"),
                cell.format(kinds["float"].format(3.2), "3,20"),
                cell.format(kinds["date"], "05.03.24"),
            ],
        )
    )
    path = write_zip(tmp_path / "a.ods", ods_parts(rows))
    assert found(path) == [("", ["| Item | EUR | Paid |", "|-|-|-|", "| Bolt | 3.2 | 2024-03-05 |"])]


@pytest.mark.parametrize(("suffix", "mark"), [("csv", ","), ("csv", ";"), ("tsv", "\t")])
def test_a_table_without_a_column_of_text(tmp_path, suffix: str, mark: str) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_text("\n".join(mark.join(cells) for cells in (["Item", "EUR"], ["Bolt", "3"], [], ["Oil"])))
    assert found(path) == [("", ["| Item | EUR |", "|-|-|", "| Bolt | 3 |", "| Oil | |"])]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("sep=;\nItem, EUR;Size\nBolt;M8\n", ["| Item, EUR | Size |", "|-|-|", "| Bolt | M8 |"]),
        ("Costs\n\nItem;EUR\nBolt, M8;3,2\nOil;4\n", ["Costs", "", "| Item | EUR |", "|-|-|"]),
        ('"Item, all";"EUR, all"\nBolt;3\n', ["| Item, all | EUR, all |", "|-|-|", "| Bolt | 3 |"]),
        ('Item,Use\nBolt,"a;b\nc;d\ne;f"\n', ["| Item | Use |", "|-|-|", "| Bolt | a;b c;d e;f |"]),
        ("Item|EUR\nBolt|3\n", ["| Item | EUR |", "|-|-|", "| Bolt | 3 |"]),
    ],
)
def test_the_delimiter_is_that_of_most_rows(tmp_path, text: str, lines: list[str]) -> None:
    (tmp_path / "a.csv").write_text(text)
    assert found(tmp_path / "a.csv")[0][1][: len(lines)] == lines


def test_questions_and_answers_are_one_table(tmp_path) -> None:
    path = tmp_path / "faq.csv"
    path.write_text('question,answer\n"Why, then?","Because\nof rain."\n')
    assert found(path) == [("", ["| question | answer |", "|-|-|", "| Why, then? | Because of rain. |"])]


def test_a_first_row_of_data_names_no_columns() -> None:
    (document,) = table_documents("", [["1", "Anna"], ["2", "Ben"]])
    assert document.text == "| 1 | Anna |\n| 2 | Ben |"


def test_a_far_cell_without_a_value_makes_no_sheet_large(tmp_path) -> None:
    rows = xlsx_rows(("Item", "EUR"), ("Bolt", 3)) + '<row r="1048576"><c r="XFD1048576" s="1"/></row>'
    (sheet,) = found(write_zip(tmp_path / "a.xlsx", xlsx_parts(S=rows)))
    assert sheet[1] == ["| Item | EUR |", "|-|-|", "| Bolt | 3 |"]


@pytest.mark.parametrize("empty", ["", '<row r="9"><c r="XFD9" s="1"/></row>'], ids=["no cells", "formatted"])
def test_a_sheet_without_values_takes_nothing_from_the_others(tmp_path, empty: str) -> None:
    full = xlsx_rows(("Item", "EUR"), ("Bolt", 3))
    sheets = found(write_zip(tmp_path / "a.xlsx", xlsx_parts(S=full, T=empty)))
    assert sheets == [("S", ["| Item | EUR |", "|-|-|", "| Bolt | 3 |"])]


def test_a_table_of_many_columns_is_read_in_groups_of_them(tmp_path) -> None:
    path = tmp_path / "a.csv"
    names = [f"Question {at}" for at in range(3000)]
    path.write_text(f"Name,{','.join(names)}\n" + f"Anna,{','.join(f'yes {at}' for at in range(3000))}\n")
    passages = [each.text for each in read_passages(path) if not isinstance(each, Problem)]
    assert all(text.startswith("| Name | Question") and "\n| Anna | yes" in text for text in passages)
    assert {cell for text in passages for cell in re.findall(r"Question \d+", text)} == set(names)


@pytest.mark.parametrize(
    "rows", ["frame,label\n0,1\n1,0\n", "0.1;2e-5;nan\n3;4;5\n", "file,score\nimg_001.png,0.5\nb/c-2.jpg,1\n"]
)
def test_a_table_of_numbers_alone_is_left_out(tmp_path, rows: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(rows)
    with pytest.raises(UnsupportedFile, match="a table of numbers only, left out; save it as XLSX"):
        found(path)


def test_each_passage_of_a_long_table_has_its_heads(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(spreadsheets, "PIECE", 3000)
    path = tmp_path / "a.csv"
    path.write_text("Item,EUR\n" + "".join(f"Bolt of size {at},{at}\n" for at in range(300)))
    assert len(found(path)) > 1
    passages = [each for each in read_passages(path) if not isinstance(each, Problem)]
    assert all(each.text.startswith("| Item | EUR |\n|-|-|\n| Bolt") for each in passages)
    assert sum(each.text.count("| Bolt") for each in passages) >= 300
