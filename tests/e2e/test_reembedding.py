"""Re-embedding: the vectors of a library made with the encoder from the first, and none of changed files."""

import os
import shutil
from pathlib import Path

import pytest

from rag.indexing import Progress, index
from rag.library import Library
from rag.settings import Settings, load_settings
from tests.fakes.library_dump import dump
from tests.fakes.mean_colors import MeanColors, index_with
from tests.fakes.synthetic import write_video

pytestmark = pytest.mark.usefixtures("tiny_text")


def rows(library: Path, table: str) -> list[str]:
    """Of the tables whose names begin so."""
    return [row for row in dump(library) if f'"table": "{table}' in row]


@pytest.fixture(autouse=True)
def _mean_colors(monkeypatch) -> None:
    index_with(MeanColors(), monkeypatch)


def settings_of(library: Path, image: str = "none", **given: str) -> Settings:
    return load_settings(flags={"library": library, "ocr.mode": "off", "encoder.image": image, **given})


def test_no_file_that_was_changed_since_is_read(tmp_path) -> None:
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
    assert found == [[], [], [], 2 * ["changed since it was indexed"]]


def test_the_library_is_then_that_of_the_encoder_with_all_its_words(tmp_path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    write_video(corpus / "a.mp4", 36, fps=2, audio=True)
    write_video(corpus / "b.mp4", 8, fps=5)
    (corpus / "b.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nTighten the bolt.\n")
    silent = {"asr.mode": "off"}
    index([corpus], settings=settings_of(tmp_path / "first", "auto", **silent))
    index([corpus], settings=settings_of(tmp_path / "library", **silent))
    index([corpus], settings=settings_of(tmp_path / "library", "auto", **silent), reembed=True)
    for table in ("vectors", "shots", "sound_tracks", "evidence"):
        assert rows(tmp_path / "library", table) == rows(tmp_path / "first", table) != []


def test_nothing_is_kept_of_a_file_that_is_changed_meanwhile(tmp_path) -> None:
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
    with Library.open(settings=seeing) as library:
        assert library.problems() == [problem]
