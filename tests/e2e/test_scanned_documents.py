"""A question whose answer is on a scanned page alone is answered, with the page in its citation."""

from __future__ import annotations

from pathlib import Path

from PIL import Image
from pypdf import PdfWriter

from rag import Library, PassageCitation
from rag.indexing import index
from rag.settings import load_settings
from tests.fakes.documents import page_image, write_scans

PUMP = "The fuel pump\n\nThe fuel pump is behind the left cover.\nIt is removed with its seal."
ROWS = (
    "Part\tThread\tTorque",
    "Wheel bolts\tM12\t110 Nm",
    "Drain plug\tM14\t35 Nm",
    "Spark plug\tM10\t12 Nm",
)
BOLTS = "\n".join(["Tightening torques", "", *ROWS])


def write_manual(path: Path) -> None:
    """A page of text, a fax, a blank page and one that is turned."""
    blank = Image.new("L", (1654, 2339), 252)
    pages = ["Oil is filled in at the yellow cap.", page_image(PUMP).convert("1"), blank]
    writer = PdfWriter(clone_from=write_scans(path, [*pages, page_image(BOLTS).rotate(90, expand=True)]))
    writer.pages[3].rotation = 90
    writer.write(path)


def test_a_scanned_manual_is_asked(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    write_manual(corpus / "manual.pdf")
    settings = load_settings(
        flags={"library": tmp_path / "library", "encoder.image": "none", "ocr.mode": "on"}
    )
    report = index([corpus], settings=settings)
    assert (report.passages, report.problems) == (3, [])
    with Library.open(settings=settings) as library:
        for question, answer, page in (
            ("What is the torque of the wheel bolts?", "110 Nm", 4),
            ("Where is the fuel pump?", "behind the left cover", 2),
            ("Where is oil filled in?", "yellow cap", 1),
        ):
            found = library.ask(question)
            assert answer in found.text
            citation = found.citations[0]
            assert isinstance(citation, PassageCitation)
            assert citation.path == str(corpus / "manual.pdf")
            assert (citation.title, citation.pages) == ("", (page,))
