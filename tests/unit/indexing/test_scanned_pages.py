"""Scanned pages on their way into passages: when they are read, once, and reported while it lasts."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from corpora.passages.page_layout import TextLine
from indexers.ocr import Ocr
from indexers.protocol import Disabled
from rag.indexing import IndexReport, index, pipeline
from rag.indexing.report import Progress
from rag.settings import load_settings
from tests.fakes.documents import write_scans


class LevelOcr(Ocr):
    """Reads the gray level of a page into `seen`, and is interrupted at that of `stop_at`."""

    def __init__(self, seen: list[int], stop_at: int | None = None) -> None:
        super().__init__(None, "levels", 0.5, "on")
        self.seen = seen
        self.stop_at = stop_at

    def read_page(self, image: NDArray[np.uint8]) -> list[TextLine]:
        level = int(image[0, 0])
        if level == self.stop_at:
            raise KeyboardInterrupt
        self.seen.append(level)
        return [] if level == 255 else [TextLine(10, 10, 200, 26, f"This page has level {level}.")]


pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("tiny_text")]

SIZE = (300, 400)


class Steps(Progress):
    """Keeps the work ahead and what is done of it."""

    def __init__(self) -> None:
        self.total, self.moved = 0.0, 0.0

    def start(self, total_seconds: float, total_files: int) -> None:  # noqa: ARG002 (as of the one before)
        self.total = total_seconds

    def advance(self, seconds: float) -> None:
        self.moved += seconds


def write_levels(path: Path, levels: Sequence[int]) -> Path:
    return write_scans(path, [Image.new("L", SIZE, level) for level in levels])


@pytest.fixture
def seen(monkeypatch) -> list[int]:
    levels: list[int] = []
    monkeypatch.setattr(pipeline, "open_ocr", lambda _: LevelOcr(levels))
    return levels


def run(folder: Path, mode: str = "on", progress: Progress | None = None) -> IndexReport:
    settings = {"library": folder / "library", "encoder.image": "none", "ocr.mode": mode}
    return index([folder / "corpus"], settings=load_settings(flags=settings), progress=progress or Progress())


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "corpus").mkdir()
    return tmp_path


def test_each_page_is_read_once_and_the_same_image_not_again(folder: Path, seen: list[int]) -> None:
    write_levels(folder / "corpus/a.pdf", [10, 255, 10, 90, 255])
    report = run(folder)
    assert seen == [10, 255, 90]
    assert (report.passages, report.problems) == (2, []), "pages with the same text are one passage"
    assert run(folder).unchanged == 1
    assert seen == [10, 255, 90]


def test_what_was_skipped_without_ocr_is_read_with_it(folder: Path, seen: list[int], monkeypatch) -> None:
    write_levels(folder / "corpus/a.pdf", [10])
    for _ in range(2):
        (problem,) = run(folder, "off").problems
        assert problem.reason == (
            "a PDF without a text layer (images of pages?); set RAG_OCR__MODE=on to read them, "
            "or run it through an OCR program first"
        )
    monkeypatch.setattr(pipeline, "open_ocr", lambda _: Disabled("rapidocr cannot be loaded"))
    assert [each.reason for each in run(folder, "auto").problems] == [problem.reason]
    assert seen == []
    monkeypatch.setattr(pipeline, "open_ocr", lambda _: LevelOcr(seen))
    report = run(folder)
    assert (seen, report.passages, report.problems) == ([10], 1, [])


def test_progress_moves_with_the_pages_and_ends_at_all(folder: Path, monkeypatch) -> None:
    steps, at = Steps(), list[float]()

    class Timed(LevelOcr):
        def read_page(self, image: NDArray[np.uint8]) -> list[TextLine]:
            at.append(steps.moved / steps.total)
            return super().read_page(image)

    monkeypatch.setattr(pipeline, "open_ocr", lambda _: Timed([]))
    write_levels(folder / "corpus/a.pdf", [10, 20, 30, 40])
    run(folder, progress=steps)
    assert at == pytest.approx([0, 0.25, 0.5, 0.75], abs=0.01)
    assert steps.moved == pytest.approx(steps.total)


def test_an_interrupted_document_is_read_again_as_a_whole(folder: Path, seen: list[int], monkeypatch) -> None:
    write_levels(folder / "corpus/a.pdf", [10, 20])
    monkeypatch.setattr(pipeline, "open_ocr", lambda _: LevelOcr(seen, stop_at=20))
    with pytest.raises(KeyboardInterrupt):
        run(folder)
    monkeypatch.setattr(pipeline, "open_ocr", lambda _: LevelOcr(seen))
    report = run(folder)
    assert (seen, report.passages, report.problems) == ([10, 10, 20], 2, [])
