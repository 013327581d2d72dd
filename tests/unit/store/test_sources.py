"""Which files a library was made from, which nothing may replace, and which paths a person means."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from corpora.escaping import visible
from corpora.settings import ScanSettings
from rag.store.filters import at_or_below
from rag.store.reading import Reader
from rag.store.sidecars import is_source
from rag.store.writing import Writer
from tests.fakes.store_material import META, file_row


@pytest.fixture
def indexed(tmp_path: Path) -> Reader:
    (tmp_path / "films").mkdir()
    (tmp_path / "apart").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "films")
    (tmp_path / "films" / "talk.mp4").write_bytes(b"film")
    with Writer.open(tmp_path / "library") as writer:
        writer.set_meta(META)
        writer.put_file(file_row(str(tmp_path / "link" / "talk.mp4"), "v1", "video"))
    return Reader.open(tmp_path / "library")


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("films/talk.mp4", True),
        ("films/talk.srt", True),
        ("link/talk.en.vtt", True),
        ("films/talk.info.json", True),
        ("films/other.srt", False),
        ("films/talk.txt", False),
        ("apart/talk.srt", False),
    ],
)
def test_indexed_files_and_their_sidecars_are_sources(
    tmp_path: Path, indexed: Reader, name: str, is_one: bool
) -> None:
    assert is_source(indexed, tmp_path / name, ScanSettings()) is is_one


def test_subtitles_of_a_folder_apart_are_sources(tmp_path: Path, indexed: Reader) -> None:
    chosen = ScanSettings(subtitles=(str(tmp_path / "apart"),))
    assert is_source(indexed, tmp_path / "apart" / "talk.srt", chosen)
    assert not is_source(indexed, tmp_path / "apart" / "other.srt", chosen)


RAW = os.fsdecode(b"/c/caf\xe9.md")
KNOWN = [RAW, "/c/a\nb/1.md", "/c/a\nb/2.md", "/c/x\\n.md", "/c/x\n.md", "/c/plain.md"]


def test_a_path_is_taken_as_it_is_shown() -> None:
    assert visible(RAW) == "/c/caf\\xe9.md"
    for path in KNOWN:
        assert at_or_below(KNOWN, [path]) == [path]
    assert at_or_below(KNOWN, ["/c/caf\\xe9.md"]) == [RAW]
    assert at_or_below(KNOWN, ["/c/a\\nb"]) == KNOWN[1:3]
    assert at_or_below(KNOWN, ["/c/plain.md", "/c/caf\\xe9.md"]) == [RAW, "/c/plain.md"]


def test_a_file_of_that_very_name_goes_first() -> None:
    assert at_or_below(KNOWN, ["/c/x\\n.md"]) == ["/c/x\\n.md"]
    assert at_or_below(KNOWN, ["/c/x\\t.md"]) == []
