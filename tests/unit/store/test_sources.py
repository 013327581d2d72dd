"""Which files a library was made from, which of them are no longer as they were, and which a person means."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from corpora.escaping import visible
from corpora.identity import content_hash
from corpora.objects import StoreAddress
from corpora.settings import ScanSettings, StorageSettings
from rag.errors import StaleFile
from rag.store.filters import at_or_below
from rag.store.lookup import content_states, path_of, stale_files, whole_file
from rag.store.reading import Reader
from rag.store.records import FileRow
from rag.store.sidecars import is_source
from rag.store.writing import Writer
from tests.fakes.store_material import META, file_row


@pytest.fixture
def indexed(tmp_path) -> Reader:
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
        *[("films/talk.mp4", True), ("films/talk.srt", True), ("link/talk.en.vtt", True)],
        *[("films/talk.info.json", True), ("films/other.srt", False), ("films/talk.txt", False)],
        ("apart/talk.srt", False),
    ],
)
def test_indexed_files_and_their_sidecars_are_sources(
    tmp_path, indexed: Reader, name: str, is_one: bool
) -> None:
    assert is_source(indexed, tmp_path / name, ScanSettings()) is is_one


def test_subtitles_of_a_folder_apart_are_sources(tmp_path, indexed: Reader) -> None:
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


SCAN = ScanSettings()


def row(path: str, content_id: str) -> FileRow:
    return FileRow(path, content_id, "video", 1, 1, 1, "1")


def reader_of(rows: list[FileRow], folder: object = Path("library"), *, is_pulled: bool = False) -> Any:
    def copies(paths: list[str]) -> list[tuple[str, list[FileRow]]]:
        named = [each for each in rows if each.path in paths]
        return [(each.path, [row for row in rows if row.content_id == each.content_id]) for each in named]

    return SimpleNamespace(
        folders=[folder], copies=copies, stages=lambda _: {"sidecars": ""}, is_pulled=is_pulled
    )


def test_objects_and_files_of_a_library_on_a_store_are_not_looked_at(tmp_path) -> None:
    local = row(str(tmp_path / "a.mp4"), "a")
    rows = [local, row("s3://bucket/b.mp4", "b")]
    paths = [each.path for each in rows]
    assert stale_files(reader_of(rows), paths, SCAN) == {local.path: "missing"}
    assert stale_files(reader_of(rows, is_pulled=True), paths, SCAN) == {}
    assert (
        stale_files(reader_of(rows, StoreAddress("s3://bucket/library", StorageSettings())), paths, SCAN)
        == {}
    )


def test_the_best_copy_of_a_content_counts(tmp_path) -> None:
    kept = tmp_path / "kept.mp4"
    kept.write_bytes(b"12")
    gone = row(str(tmp_path / "gone.mp4"), "a")
    assert stale_files(reader_of([gone, row(str(kept), "a")]), [gone.path], SCAN) == {gone.path: "changed"}
    facts = kept.stat()
    same = FileRow(str(kept), "a", "video", facts.st_size, facts.st_mtime_ns, 1, "1")
    assert stale_files(reader_of([gone, same]), [gone.path], SCAN) == {}
    assert stale_files(reader_of([gone]), [], SCAN) == {}


def test_a_file_of_which_libraries_have_several_contents_is_changed(tmp_path) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(b"12")
    facts = path.stat()
    earlier = row(str(path), "a")
    later = FileRow(str(path), "b", "video", facts.st_size, facts.st_mtime_ns, 1, "1")
    assert stale_files(reader_of([later]), [later.path], SCAN) == {}
    for rows in ([earlier, later], [later, earlier]):
        assert stale_files(reader_of(rows), [later.path], SCAN) == {later.path: "changed"}
        assert content_states(reader_of(rows), rows, StorageSettings(), SCAN) == {later.path: "changed"}


def test_the_path_of_a_video_is_that_of_a_copy_that_is_as_it_was_indexed(tmp_path) -> None:
    changed, whole = tmp_path / "a.mp4", tmp_path / "b.mp4"
    gone = row(str(tmp_path / "0.mp4"), "a")
    for path in (changed, whole):
        path.write_bytes(b"12")
    facts = whole.stat()
    rows = [gone, row(str(changed), "a"), FileRow(str(whole), "a", "video", 2, facts.st_mtime_ns, 1, "1")]

    def named(*held: FileRow) -> str:
        reader: Any = SimpleNamespace(paths=lambda _: [each.path for each in held], files_of=lambda _: held)
        return path_of(reader, "a")

    assert named(*rows) == str(whole)
    assert named(*rows[:2]) == str(changed)
    assert named(rows[0]) == gone.path
    assert named(rows[0], rows[0]) == gone.path
    assert named(rows[0], row("s3://bucket/a.mp4", "a")) == "s3://bucket/a.mp4"


def test_a_file_that_was_touched_has_its_content_still(tmp_path, monkeypatch) -> None:
    read: list[str] = []

    def counted_hash(path: str) -> str:
        read.append(path)
        return content_hash(path)

    monkeypatch.setattr("rag.store.sidecars.content_hash", counted_hash)
    touched, gone = tmp_path / "a.mp4", tmp_path / "gone.mp4"
    touched.write_bytes(b"12")
    content = content_hash(touched)
    rows = [FileRow(str(path), content, "video", 2, 1, 1, "1") for path in (touched, gone)]
    reader: Any = SimpleNamespace(files_of=lambda _: rows)
    assert {whole_file(reader, content, row.path) for row in rows} == {str(touched)}
    assert len(read) == 1
    with monkeypatch.context() as patched:
        patched.setattr("rag.store.lookup.MOST_HASHED", 1)
        with pytest.raises(StaleFile):
            whole_file(reader, content, str(touched))
    touched.write_bytes(b"34")
    os.utime(touched, ns=(1, 2))
    with pytest.raises(StaleFile):
        whole_file(reader, content, str(touched))
    touched.write_bytes(b"345")
    with pytest.raises(StaleFile):
        whole_file(reader, content, str(touched))
    assert len(read) == 2
