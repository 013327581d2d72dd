"""What the rest of the program knows of a kind of document."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.formats import document_format, text_bytes
from corpora.kinds import SAVE_AS, kind_of, kind_of_head
from corpora.passages import Document, read_documents
from tests.fakes.documents import write_pdf


def test_a_file_is_known_by_its_first_bytes_whatever_its_name(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "scan.txt", ["Oil every link."])
    assert kind_of_head(path.read_bytes()) == "passages"
    (document,) = read_documents(path)
    assert isinstance(document, Document)
    assert document.text == "Oil every link."


def test_files_with_images_and_fonts_hold_less_text_than_plain_ones() -> None:
    assert text_bytes("a.TXT", 1000) == text_bytes("a.unknown", 1000) == 1000
    for suffix in (".pdf", ".docx", ".pptx", ".odt", ".odp", ".epub"):
        assert text_bytes(f"a{suffix}", 1000) == pytest.approx(100)


def test_what_is_to_be_saved_as_another_kind_has_no_reader() -> None:
    assert not [suffix for suffix in SAVE_AS if document_format(suffix) or kind_of(f"a{suffix}")]
