"""Which cited files are no longer as they were indexed, without network."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from corpora.objects import StoreAddress
from corpora.settings import ScanSettings, StorageSettings
from rag.store.layout import COPY
from rag.store.lookup import content_states, stale_files
from rag.store.records import FileRow

SCAN = ScanSettings()


def row(path: str, content_id: str) -> FileRow:
    return FileRow(path, content_id, "video", 1, 1, 1, "1")


def reader_of(rows: list[FileRow], folder: object = Path("library")) -> Any:
    def copies(paths: list[str]) -> list[tuple[str, list[FileRow]]]:
        named = [each for each in rows if each.path in paths]
        return [(each.path, [row for row in rows if row.content_id == each.content_id]) for each in named]

    return SimpleNamespace(folders=[folder], copies=copies, stages=lambda _: {"sidecars": ""})


def test_objects_and_libraries_of_other_machines_are_not_looked_at(tmp_path: Path) -> None:
    local = row(str(tmp_path / "a.mp4"), "a")
    rows = [local, row("s3://bucket/b.mp4", "b")]
    paths = [each.path for each in rows]
    assert stale_files(reader_of(rows), paths, SCAN) == {local.path: "missing"}
    assert (
        stale_files(reader_of(rows, StoreAddress("s3://bucket/library", StorageSettings())), paths, SCAN)
        == {}
    )
    (tmp_path / COPY).touch()
    assert stale_files(reader_of(rows, tmp_path), paths, SCAN) == {}


def test_the_best_copy_of_a_content_counts(tmp_path: Path) -> None:
    kept = tmp_path / "kept.mp4"
    kept.write_bytes(b"12")
    gone = row(str(tmp_path / "gone.mp4"), "a")
    assert stale_files(reader_of([gone, row(str(kept), "a")]), [gone.path], SCAN) == {gone.path: "changed"}
    facts = kept.stat()
    same = FileRow(str(kept), "a", "video", facts.st_size, facts.st_mtime_ns, 1, "1")
    assert stale_files(reader_of([gone, same]), [gone.path], SCAN) == {}
    assert stale_files(reader_of([gone]), [], SCAN) == {}


def test_a_file_of_which_libraries_have_several_contents_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(b"12")
    facts = path.stat()
    earlier = row(str(path), "a")
    later = FileRow(str(path), "b", "video", facts.st_size, facts.st_mtime_ns, 1, "1")
    assert stale_files(reader_of([later]), [later.path], SCAN) == {}
    for rows in ([earlier, later], [later, earlier]):
        assert stale_files(reader_of(rows), [later.path], SCAN) == {later.path: "changed"}
        assert content_states(reader_of(rows), rows, StorageSettings(), SCAN) == {later.path: "changed"}
