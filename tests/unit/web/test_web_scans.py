"""Scanned pages on a web: their text is that of the library, which read them by OCR."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from rag.indexing import pipeline
from rag.library import Library
from rag.settings import load_settings
from rag.web.building import build_web
from rag.web.catalogue import read_catalogue
from tests.fakes.documents import write_scans
from tests.fakes.level_ocr import LevelOcr

pytestmark = pytest.mark.usefixtures("tiny_text")


def test_scanned_pages_are_those_of_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "open_ocr", lambda _: LevelOcr([]))
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    pages = [Image.new("L", (300, 400), level) for level in (10, 90)]
    write_scans(corpus / "scan.pdf", pages)
    write_scans(corpus / "mixed.pdf", ["Oil is filled in at the yellow cap.", pages[0]])
    flags = {"library": tmp_path / "lib", "encoder.image": "none", "ocr.mode": "on"}
    settings = load_settings(flags=flags)
    assert Library.index([corpus], settings=settings).problems == ()
    with Library.open(settings=settings) as library:
        report = build_web(tmp_path / "web", library=library)
    assert report.problems == ()
    texts = sorted(page.content for page in read_catalogue(tmp_path / "web").pages)
    levels = ["This page has level 10."] * 2 + ["This page has level 90."]
    assert texts == ["Oil is filled in at the yellow cap.", *levels]
