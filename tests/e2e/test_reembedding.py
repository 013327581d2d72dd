"""Re-embedding: the vectors of a library made with the encoder from the first, and none of changed files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from indexers.protocol import unit_rows
from rag.indexing import Progress, index, reembed
from rag.indexing.report import IndexReport
from rag.settings import Settings, load_settings
from rag.store.writing import Writer
from tests.fakes.library_dump import dump
from tests.fakes.mean_colors import MeanColors, index_with
from tests.fakes.synthetic import write_video

pytestmark = pytest.mark.usefixtures("tiny_text")


def rows(library: Path, table: str) -> list[str]:
    """Of the tables whose names begin so."""
    return [row for row in dump(library) if f'"table": "{table}' in row]


@pytest.fixture(autouse=True)
def _mean_colors(monkeypatch: pytest.MonkeyPatch) -> None:
    index_with(MeanColors(), monkeypatch)


def settings_of(library: Path, image: str = "none") -> Settings:
    return load_settings(flags={"library": library, "ocr.mode": "off", "encoder.image": image})


class Hearing(MeanColors):
    """Colours for images, length and loudness for sounds."""

    takes_audio = True

    def encode_audio(self, waveform: NDArray[np.float32]) -> NDArray[np.float32]:
        return unit_rows(np.array([len(waveform) / 16000, np.abs(waveform).mean() * 100, 1], np.float32))


def test_sounds_are_those_of_a_library_with_sounds_from_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    write_video(corpus / "loud.mp4", 36, audio=True)
    write_video(corpus / "mute.mp4", 3)
    deaf, hearing = settings_of(tmp_path / "deaf"), settings_of(tmp_path / "hearing", "auto")
    index([corpus], settings=deaf)

    index_with(Hearing(), monkeypatch)
    index([corpus], settings=hearing)
    with Writer.open(tmp_path / "deaf") as writer:
        reembed.reembed_library(writer, hearing, Progress(), IndexReport())
    first, again = (rows(tmp_path / name, "sounds_") for name in ("hearing", "deaf"))
    assert len(first) == 2
    assert again == first


def test_no_file_that_was_changed_since_is_read(tmp_path: Path) -> None:
    corpus, other = tmp_path / "corpus", tmp_path / "other"
    for folder in (corpus, other):
        folder.mkdir()
    for name in ("a.mp4", "b.mp4"):
        write_video(corpus / name, 8)
    (other / "notes.md").write_text("A bolt.\n")
    index([corpus], settings=settings_of(tmp_path / "library"))
    write_video(corpus / "a.mp4", 8, fps=5)
    found: list[list[str]] = []

    def reembedded(name: str) -> list[str]:
        shutil.copytree(tmp_path / "library", tmp_path / name)
        report = index([other], settings=settings_of(tmp_path / name, "auto"), reembed=True)
        found.append([problem.reason for problem in report.problems])
        return rows(tmp_path / name, "vectors_")

    copied = reembedded("copied")
    os.utime(corpus / "b.mp4")
    assert reembedded("touched") == copied != []
    shutil.copy(corpus / "b.mp4", corpus / "a.mp4")
    assert reembedded("whole") == copied
    for name in ("a.mp4", "b.mp4"):
        write_video(corpus / name, 8, fps=5)
    assert reembedded("changed") == []
    assert found == [[], [], [], ["changed since it was indexed"]]


def test_nothing_is_kept_of_a_file_that_is_changed_meanwhile(tmp_path: Path) -> None:
    corpus, other = tmp_path / "corpus", tmp_path / "other"
    for folder in (corpus, other):
        folder.mkdir()
    for n in range(3):
        write_video(corpus / f"{n}.mp4", 2 + n, fps=1)
    (other / "notes.md").write_text("A bolt.\n")
    index([corpus], settings=settings_of(tmp_path / "library"))

    class Replacing(Progress):
        def file(self, path: str) -> None:
            if path.endswith("2.mp4"):
                shutil.copy(corpus / "0.mp4", corpus / "2.mp4")

    seeing = settings_of(tmp_path / "library", "auto")
    report = index([other], settings=seeing, reembed=True, progress=Replacing())
    (problem,) = report.problems
    assert problem.path == str(corpus / "2.mp4")
    assert problem.reason in ("changed since it was indexed", "it changed while it was read")
    assert len(rows(tmp_path / "library", "vectors_")) == 2
