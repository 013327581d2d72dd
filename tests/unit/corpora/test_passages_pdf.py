"""Text of PDF files, and which of their pages are scans."""

import itertools
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NullObject,
    NumberObject,
    TextStringObject,
)

from corpora.passages import Document, read_documents, read_passages
from corpora.passages.document import PageStart
from corpora.passages.page_layout import RecognizedPage, ScannedPage, TextLine
from corpora.passages.pdf import LONG_SIDE, scanned_pages
from corpora.records import Passage, Problem
from rag.errors import UnsupportedFile
from tests.fakes.documents import add_rendered_page, image_object, self_drawing_pdf, write_pdf, write_scans


def documents(path: Path, pages: Sequence[RecognizedPage] | None = None) -> list[Document]:
    found = list(read_documents(path, pages))
    assert not [each for each in found if isinstance(each, Problem)]
    return [each for each in found if isinstance(each, Document)]


def test_lines_before_the_header_of_a_pdf_are_skipped(tmp_path) -> None:
    path = write_pdf(tmp_path / "a.pdf", ["Page one.", "Page two."])
    path.write_bytes(b"Content-Type: application/pdf\r\n" * 100 + path.read_bytes())
    assert [each.text for each in documents(path)] == ["Page one.\n\nPage two."]


@pytest.mark.parametrize("title", ["Microsoft Word - draft3", "scan0001.pdf", "untitled"])
def test_titles_that_a_program_made_up_are_dropped(tmp_path, title: str) -> None:
    (document,) = documents(write_pdf(tmp_path / "a.pdf", ["Text."], title=title))
    assert document.title == ""


def recognized(number: int, *texts: str, unread: str = "") -> RecognizedPage:
    lines = (TextLine(0, 20 * row, 10 * len(text), 20 * row + 16, text) for row, text in enumerate(texts))
    return RecognizedPage(number, tuple(lines), unread)


def test_a_pdf_of_images_says_what_reads_it(tmp_path) -> None:
    path = write_pdf(tmp_path / "a.pdf", ["", ""])
    with pytest.raises(UnsupportedFile, match="RAG_OCR__MODE=on"):
        list(read_documents(path))
    with pytest.raises(UnsupportedFile, match="neither text nor scanned pages"):
        list(read_documents(path, []))
    with pytest.raises(UnsupportedFile, match="OCR found no text on its pages"):
        list(read_documents(path, [recognized(1), recognized(2)]))
    with pytest.raises(UnsupportedFile, match=r"pages 1, 2 cannot be read: an image in JBIG2"):
        list(read_documents(path, [recognized(n, unread="an image in JBIG2") for n in (1, 2)]))


def test_a_scanned_page_is_a_document_with_its_number(tmp_path) -> None:
    pages = [recognized(2, "Scanned.", "More."), recognized(3), recognized(4, "Last.")]
    path = write_pdf(tmp_path / "a.pdf", ["One.", "", "", "", "Five."], title="A manual")
    found = [(each.text, each.pages) for each in documents(path, pages)]
    scans = [("Scanned.\nMore.", (PageStart(0, 2),)), ("Last.", (PageStart(0, 4),))]
    assert found[1:] == scans
    assert [(each.title, each.text, each.pages) for each in read_passages(path, pages)] == [
        ("A manual", "One.\n\nFive.", (1, 5)),
        ("A manual", "Scanned.\nMore.", (2,)),
        ("A manual", "Last.", (4,)),
    ]


def test_pages_begin_where_their_text_does(tmp_path) -> None:
    pages = ["A manual", "The pump is\nfilled with", "", "water. Then it runs.", "It is quiet."]
    (document,) = documents(write_pdf(tmp_path / "a.pdf", pages, title="A manual"))
    texts = {
        start.number: document.text[start.place : end.place if end else None].strip()
        for start, end in itertools.zip_longest(document.pages, document.pages[1:])
    }
    assert texts == {
        1: "",
        2: "The pump is\nfilled with",
        3: "",
        4: "water. Then it runs.",
        5: "It is quiet.",
    }
    (passage,) = read_passages(tmp_path / "a.pdf")
    assert passage.pages == (2, 4, 5)


def test_passages_of_a_long_pdf_name_their_pages(tmp_path) -> None:
    """Each sentence says on which page it is."""
    pages = [
        "\n".join(f"Page {page}: bolt {page * 9 + row} takes {row} Nm." for row in range(9))
        for page in range(1, 31)
    ]
    found = [
        each for each in read_passages(write_pdf(tmp_path / "a.pdf", pages)) if isinstance(each, Passage)
    ]
    assert len(found) > 10
    for passage in found:
        assert passage.pages == tuple(sorted({int(page) for page in re.findall(r"Page (\d+)", passage.text)}))
    assert sorted({page for passage in found for page in passage.pages}) == list(range(1, 31))
    assert any(len(passage.pages) > 1 for passage in found)


@pytest.mark.parametrize("before", ["\n\n", "\n"])
def test_a_heading_at_the_end_of_a_page_begins_the_next_passage(tmp_path, before: str) -> None:
    pages = [
        "\n".join(f"Pump {page * 9 + row} of this plant needs oil of the grade {row}." for row in range(9))
        for page in range(4)
    ]
    pages[0] += f"{before}2 Filters{before}2.1 Cleaning the filter"
    path = write_pdf(tmp_path / "a.pdf", pages)
    found = [each for each in read_passages(path) if isinstance(each, Passage)]
    assert [each.text.split("\n")[0] for each in found[:2]] == [pages[0].split("\n")[0], "2 Filters"]
    assert found[0].text.endswith("grade 8.")
    assert found[1].pages[:2] == (1, 2)
    assert found[1].text.count("2.1 Cleaning the filter") == 1


def test_unread_pages_cost_no_other(tmp_path) -> None:
    path = write_pdf(tmp_path / "a.pdf", ["One.", "", ""])
    pages = [recognized(2, unread="an image in JBIG2, which is not read"), recognized(3, "Scanned.")]
    *documents, problem = read_documents(path, pages)
    assert len(documents) == 2
    reason = "page 2 cannot be read: an image in JBIG2, which is not read"
    assert problem == Problem(str(path), reason, "indexed the other 2 pages")


def test_an_encrypted_pdf(tmp_path) -> None:
    with pytest.raises(UnsupportedFile, match="password"):
        list(read_documents(write_pdf(tmp_path / "a.pdf", ["Text."], password="secret")))


def test_a_broken_page_costs_no_other(tmp_path) -> None:
    path = write_pdf(tmp_path / "a.pdf", ["One.", "two", "Three."])
    writer = PdfWriter(clone_from=path)
    pages = writer._pages.get_object()
    pages["/Kids"][1] = NumberObject(7)
    writer.write(path)
    document, problem = read_documents(path)
    assert document.text == "One.\n\nThree."
    assert problem == Problem(str(path), "page 2 cannot be read", "indexed the other 2 pages")


def test_tables_are_read_by_rows_and_paragraphs_stay_apart(tmp_path) -> None:
    page = "Errors\n\nCode\tCause\tRemedy\nE10\tThe tank\tFill it.\n\tis empty.\nE11\tIt is hot.\tWait 5 min."
    (document,) = documents(write_pdf(tmp_path / "a.pdf", [page + "\n\nNever open the lid."]))
    assert document.text.split("\n") == [
        *("Errors", ""),
        *("| Code | Cause | Remedy |", "|-|-|-|"),
        "| E10 | The tank is empty. | Fill it. |",
        "| E11 | It is hot. | Wait 5 min. |",
        *("", "Never open the lid."),
    ]


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("sizes", [(9, 2), (3, 3), (9, 9, 9)])
def test_columns_of_prose_are_read_one_after_the_other(
    tmp_path, sizes: tuple[int, ...], across: bool
) -> None:
    """Whether the file has them one after the other, or line by line across all, below a heading."""
    width, left = 360 // len(sizes), 20
    columns = [
        [f"line {row} of this very long column {side}," for row in range(size)]
        for side, size in enumerate(sizes)
    ]
    drawn = sorted(
        (row * across, side, row, line)
        for side, lines in enumerate(columns)
        for row, line in enumerate(lines)
    )
    shown = ["BT /F1 8 Tf 20 185 Td (A heading that goes over all of the columns of this page) Tj ET"]
    shown += [
        f"BT /F1 4.5 Tf {left + width * side} {170 - 6 * row - side} Td ({line}) Tj ET"
        for _, side, row, line in drawn
    ]
    (document,) = documents(write_pdf(tmp_path / "a.pdf", [shown]))
    heading, *lines = filter(None, document.text.split("\n"))
    assert heading == "A heading that goes over all of the columns of this page"
    assert lines == [line for lines in columns for line in lines]


@pytest.mark.parametrize(
    ("turn", "matrix", "step"),
    [(90, "0 1 -1 0", (20, 0)), (180, "-1 0 0 -1", (0, 20)), (270, "0 -1 1 0", (-20, 0))],
)
def test_a_page_that_is_turned_is_read_upright(
    tmp_path, turn: int, matrix: str, step: tuple[int, int]
) -> None:
    lines = ["First line of it", "second line here", "third line, last."]
    shown = [
        f"BT /F1 12 Tf {matrix} {180 + step[0] * row} {100 + step[1] * row} Tm ({line}) Tj ET"
        for row, line in enumerate(lines)
    ]
    writer = PdfWriter(clone_from=write_pdf(tmp_path / "a.pdf", [shown]))
    writer.pages[0].rotation = turn
    writer.write(tmp_path / "a.pdf")
    (document,) = documents(tmp_path / "a.pdf")
    assert document.text == "\n".join(lines)


@pytest.mark.parametrize("turn", [0, 90])
def test_text_that_the_page_does_not_show_is_left_out(tmp_path, turn: int) -> None:
    path = write_pdf(tmp_path / "a.pdf", ["Printer's mark\n\nShown here.\tAnd cut off", "\n\n\n\nNot shown."])
    writer = PdfWriter(clone_from=path)
    for page in writer.pages:
        page.cropbox.lower_left, page.cropbox.upper_right = (10, 140), (164, 170)
        page.rotation = turn
    writer.write(path)
    assert [" ".join(each.text.split()) for each in documents(path)] == ["Shown here. And"]


def test_notes_and_values_of_forms_are_read(tmp_path) -> None:
    writer = PdfWriter(clone_from=write_pdf(tmp_path / "a.pdf", ["Name\n\n\nDate of issue"]))
    text, yes, off = TextStringObject, NameObject("/Yes"), NameObject("/Off")
    options = ArrayObject(ArrayObject([text(value), text(f"{value} city")]) for value in ("rome", "oslo"))
    states = DictionaryObject({yes: NullObject(), off: NullObject()})
    looks = DictionaryObject({NameObject("/N"): states})
    fields = ArrayObject()
    for left, bottom, subtype, facts in (
        (140, 175, "/Widget", {"/FT": NameObject("/Tx"), "/V": text("Anna Smith")}),
        (140, 135, "/FreeText", {"/Contents": text("5 March")}),
        (20, 100, "/Text", {"/Contents": text("Ask Ben\rfirst.")}),
        (20, 80, "/Highlight", {"/Contents": text("Too late?")}),
        (20, 60, "/Widget", {"/FT": NameObject("/Ch"), "/V": text("oslo"), "/Opt": options}),
        (20, 40, "/Widget", {"/FT": NameObject("/Btn"), "/V": yes, "/AS": yes, "/AP": looks}),
        (20, 20, "/Widget", {"/FT": NameObject("/Btn"), "/V": off, "/AS": off, "/AP": looks}),
        (20, 20, "/Widget", {"/FT": NameObject("/Tx"), "/V": text("pass"), "/Ff": NumberObject(1 << 13)}),
        (20, 20, "/Text", {"/Contents": text("not shown"), "/F": NumberObject(2)}),
        (20, 20, "/Link", {"/Contents": text("a link")}),
    ):
        held = {"/Subtype": NameObject(subtype), "/T": text(str(len(fields))), **facts}
        note = DictionaryObject({NameObject(key): value for key, value in held.items()})
        edges = (left, bottom, left + 160, bottom + 15)
        note[NameObject("/Rect")] = ArrayObject(NumberObject(edge) for edge in edges)
        fields.append(writer.add_annotation(0, note).indirect_reference)
    form = DictionaryObject({NameObject("/Fields"): fields})
    writer._root_object[NameObject("/AcroForm")] = form
    writer.write(tmp_path / "a.pdf")
    (document,) = documents(tmp_path / "a.pdf")
    assert [" ".join(line.split()) for line in document.text.split("\n") if line] == [
        "Name Anna Smith",
        "Date of issue 5 March",
        *("Ask Ben first.", "Too late?", "oslo city", "[x]"),
    ]


SIZE = (300, 400)


def marked() -> Image.Image:
    """Black in the upper left quarter, gray in the upper right one."""
    image = Image.new("L", SIZE, 255)
    image.paste(0, (0, 0, 150, 200))
    image.paste(128, (150, 0, 300, 200))
    return image


def pages_of(path: Path) -> list[ScannedPage | RecognizedPage]:
    return list(scanned_pages(str(path)))


def image_of(path: Path) -> NDArray[np.uint8]:
    (page,) = pages_of(path)
    assert isinstance(page, ScannedPage)
    return page.image


def quarters(image: NDArray[np.uint8]) -> list[int]:
    """Levels in the middle of the quarters, by rows."""
    high, wide = image.shape
    return [int(image[high * row // 4, wide * column // 4]) for row in (1, 3) for column in (1, 3)]


def is_near(found: list[int], wanted: list[int]) -> bool:
    return all(abs(one - other) <= 3 for one, other in zip(found, wanted, strict=True))


def write_rendered(path: Path, image: DecodedStreamObject, content: str = "300 0 0 400 0 0 cm /I Do") -> Path:
    writer = PdfWriter()
    add_rendered_page(writer, {"/I": image}, content, SIZE)
    writer.write(path)
    return path


@pytest.mark.parametrize("mode", ["L", "RGB", "1"])
def test_a_scan_as_pillow_writes_it(tmp_path, mode: str) -> None:
    image = marked() if mode != "1" else marked().point(lambda level: 255 * (level > 0))
    found = image_of(write_scans(tmp_path / "a.pdf", [image.convert(mode)]))
    assert found.dtype == np.uint8
    assert found.shape == (LONG_SIDE, LONG_SIDE * 3 // 4)
    assert is_near(quarters(found), [0, 128 if mode != "1" else 255, 255, 255])


def test_strips_make_one_image(tmp_path) -> None:
    whole = marked()
    strips = {f"/S{at}": image_object(whole.crop((0, 100 * at, 300, 100 * at + 100))) for at in range(4)}
    content = " ".join(f"q 300 0 0 100 0 {300 - 100 * at} cm /S{at} Do Q" for at in range(4))
    writer = PdfWriter()
    add_rendered_page(writer, strips, content, SIZE)
    writer.write(tmp_path / "a.pdf")
    assert is_near(quarters(image_of(tmp_path / "a.pdf")), [0, 128, 255, 255])


def test_an_image_in_a_form_and_the_part_that_is_shown(tmp_path) -> None:
    writer = PdfWriter()
    form = DecodedStreamObject()
    form.set_data(b"300 0 0 400 0 0 cm /I Do")
    held = DictionaryObject({NameObject("/I"): writer._add_object(image_object(marked()))})
    form[NameObject("/Subtype")] = NameObject("/Form")
    form[NameObject("/Matrix")] = ArrayObject([FloatObject(number) for number in (1, 0, 0, 1, 50, 0)])
    form[NameObject("/Resources")] = DictionaryObject({NameObject("/XObject"): held})
    page = add_rendered_page(writer, {"/F": form}, "1 0 0 1 50 100 cm /F Do", (500, 600))
    page.cropbox.lower_left, page.cropbox.upper_right = (100, 100), (400, 500)
    writer.write(tmp_path / "a.pdf")
    assert is_near(quarters(image_of(tmp_path / "a.pdf")), [0, 128, 255, 255])


def test_pages_with_text_and_pages_with_a_small_image_are_no_scans(tmp_path) -> None:
    path = write_scans(tmp_path / "a.pdf", ["Text.", marked(), ""])
    assert [page.number for page in pages_of(path)] == [2]
    assert [page.pages for page in pages_of(path) if isinstance(page, ScannedPage)] == [3]
    small = write_rendered(tmp_path / "b.pdf", image_object(marked()), "100 0 0 100 0 0 cm /I Do")
    assert pages_of(small) == []


def test_a_scan_with_a_text_layer_is_none(tmp_path) -> None:
    writer = PdfWriter(clone_from=write_scans(tmp_path / "a.pdf", [marked()]))
    writer.pages[0].merge_page(PdfReader(write_pdf(tmp_path / "b.pdf", ["\n\n\nText."])).pages[0])
    writer.write(tmp_path / "c.pdf")
    assert pages_of(tmp_path / "c.pdf") == []


def test_what_cannot_be_decoded_says_why(tmp_path) -> None:
    large = image_object(marked())
    large[NameObject("/Width")] = large[NameObject("/Height")] = NumberObject(60_000)
    path = write_rendered(tmp_path / "a.pdf", large)
    assert pages_of(path) == [RecognizedPage(1, (), "an image of more than 100 megapixels")]
    broken = image_object(marked(), "/DCTDecode")
    broken.set_data(b"no JPEG")
    path = write_rendered(tmp_path / "b.pdf", broken)
    assert pages_of(path) == [RecognizedPage(1, (), "an image that cannot be decoded")]
    blank = image_object(Image.new("L", SIZE, 255))
    (page,) = pages_of(write_rendered(tmp_path / "c.pdf", blank))
    assert isinstance(page, ScannedPage)


def test_a_form_that_draws_itself_ends(tmp_path) -> None:
    self_drawing_pdf(tmp_path / "a.pdf", 1)
    assert pages_of(tmp_path / "a.pdf") == []
