"""Text of PDF files."""

from __future__ import annotations

from pathlib import Path

import pytest
from pypdf import PdfReader

from corpora.passages import Document, read_documents
from corpora.passages.scanned_text import RecognizedPage, TextLine
from corpora.records import Problem
from rag.errors import DamagedFile, UnsupportedFile
from tests.fakes.documents import write_pdf


def test_pages_are_kept_in_order(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", ["Page one.", "Page two.", "Page three."], title="A manual")
    (document,) = read_documents(path)
    assert isinstance(document, Document)
    assert (document.title, document.text) == ("A manual", "Page one.\n\nPage two.\n\nPage three.")


@pytest.mark.parametrize("title", ["Microsoft Word - draft3", "scan0001.pdf", "untitled"])
def test_titles_that_a_program_made_up_are_dropped(tmp_path: Path, title: str) -> None:
    (document,) = read_documents(write_pdf(tmp_path / "a.pdf", ["Text."], title=title))
    assert isinstance(document, Document)
    assert document.title == ""


def test_a_pdf_of_images_alone(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedFile, match="without a text layer"):
        list(read_documents(write_pdf(tmp_path / "a.pdf", ["", ""])))


def recognized(number: int, *texts: str, unread: str = "") -> RecognizedPage:
    lines = (TextLine(0, 20 * row, 10 * len(text), 20 * row + 16, text) for row, text in enumerate(texts))
    return RecognizedPage(number, tuple(lines), unread)


def test_a_pdf_of_images_says_what_reads_it(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", ["", ""])
    with pytest.raises(UnsupportedFile, match="RAG_OCR__MODE=on"):
        list(read_documents(path))
    with pytest.raises(UnsupportedFile, match="neither text nor scanned pages"):
        list(read_documents(path, []))
    with pytest.raises(UnsupportedFile, match="OCR found no text on its pages"):
        list(read_documents(path, [recognized(1), recognized(2)]))
    with pytest.raises(UnsupportedFile, match=r"pages 1, 2 cannot be read: an image in JBIG2"):
        list(read_documents(path, [recognized(n, unread="an image in JBIG2") for n in (1, 2)]))


def test_a_scanned_page_is_a_document_with_its_number(tmp_path: Path) -> None:
    pages = [recognized(2, "Scanned.", "More."), recognized(3), recognized(4, "Last.")]
    path = write_pdf(tmp_path / "a.pdf", ["One.", "", "", "", "Five."], title="A manual")
    found = [(each.title, each.text) for each in read_documents(path, pages) if isinstance(each, Document)]
    scans = [("A manual, page 2", "Scanned.\nMore."), ("A manual, page 4", "Last.")]
    assert found == [("A manual", "One.\n\nFive."), *scans]
    path = write_pdf(tmp_path / "c.pdf", [""], title="long " * 100)
    (document,) = read_documents(path, [recognized(1, "Scanned.")])
    assert isinstance(document, Document)
    assert document.title.endswith("long, page 1")
    (document,) = read_documents(write_pdf(tmp_path / "b.pdf", [""]), [recognized(1, "Scanned.")])
    assert isinstance(document, Document)
    assert document.title == "Page 1"


def test_unread_pages_cost_no_other(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", ["One.", "", ""])
    pages = [recognized(2, unread="an image in JBIG2, which is not read"), recognized(3, "Scanned.")]
    *documents, problem = read_documents(path, pages)
    assert len(documents) == 2
    reason = "page 2 cannot be read: an image in JBIG2, which is not read"
    assert problem == Problem(str(path), reason, "indexed the other 2 pages")


def test_an_encrypted_pdf(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedFile, match="password"):
        list(read_documents(write_pdf(tmp_path / "a.pdf", ["Text."], password="secret")))


def test_a_broken_page_costs_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_pdf(tmp_path / "a.pdf", ["One.", "two", "Three."])
    page_type = type(PdfReader(path).pages[0])
    really_extract = page_type.extract_text

    def extract(page: object, **mode: str) -> str:
        text: str = really_extract(page, **mode)  # type: ignore[arg-type]  # the method is pypdf's own
        if text.strip() == "two":
            raise KeyError("/Font")
        return text

    monkeypatch.setattr(page_type, "extract_text", extract)
    document, problem = read_documents(path)
    assert isinstance(document, Document)
    assert document.text == "One.\n\nThree."
    assert problem == Problem(str(path), "page 2 cannot be read", "indexed the other 2 pages")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_truncated_pdf_is_one_line_and_says_nothing_else(
    tmp_path: Path, share: float, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write_pdf(tmp_path / "a.pdf", [f"Page {i}." for i in range(20)])
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises((DamagedFile, UnsupportedFile)) as raised:
        list(read_documents(path))
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)
    assert capfd.readouterr() == ("", "")


def test_tables_are_read_by_rows_and_paragraphs_stay_apart(tmp_path: Path) -> None:
    page = "Errors\n\nCode\tCause\tRemedy\nE10\tThe tank\tFill it.\n\tis empty.\nE11\tIt is hot.\tWait 5 min."
    (document,) = read_documents(write_pdf(tmp_path / "a.pdf", [page + "\n\nNever open the lid."]))
    assert isinstance(document, Document)
    assert document.text.split("\n") == [
        *("Errors", ""),
        *("| Code | Cause | Remedy |", "|-|-|-|"),
        "| E10 | The tank is empty. | Fill it. |",
        "| E11 | It is hot. | Wait 5 min. |",
        *("", "Never open the lid."),
    ]


def test_columns_of_prose_are_read_one_after_the_other(tmp_path: Path) -> None:
    left, right = (f"BT /F1 5 Tf {x} 180 Td 6 TL " for x in (20, 200))
    lines = [f"{side} column with a line of number {n}" for side in ("left", "right") for n in range(4)]
    shown = [left + " T* ".join(f"({line}) Tj" for line in lines[:4]) + " ET"]
    shown += [right + " T* ".join(f"({line}) Tj" for line in lines[4:]) + " ET"]
    (document,) = read_documents(write_pdf(tmp_path / "a.pdf", [shown]))
    assert isinstance(document, Document)
    assert document.text.split("\n") == lines


def test_letters_that_the_layout_leaves_out_are_read_without_it(tmp_path: Path) -> None:
    turned = ["BT /F1 12 Tf 0 1 -1 0 40 20 Tm (Turned) Tj ET", "BT /F1 12 Tf 60 180 Td (Level) Tj ET"]
    (document,) = read_documents(write_pdf(tmp_path / "a.pdf", [turned]))
    assert isinstance(document, Document)
    assert sorted(document.text.split()) == ["Level", "Turned"]
