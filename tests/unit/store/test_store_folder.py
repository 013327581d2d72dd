"""What folder counts as a library, and that no other is written to."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.errors import LibraryCorrupt, LibraryNotFound, LibraryReadOnly, UsageError
from rag.store.finding import absolute_path, index_command, writable_library
from rag.store.layout import HEAD, Layout
from rag.store.writing import Writer
from tests.fakes.store_material import META


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["scan.sqlite", "writer.lock", "readers.lock", "notes.txt"])
def test_a_folder_with_other_files_is_refused_and_unchanged(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"mine")
    (tmp_path / "tables").mkdir()
    with pytest.raises(LibraryNotFound, match="new or empty folder"):
        Writer.open(tmp_path)
    with pytest.raises(LibraryNotFound):
        Writer.open(tmp_path, create=False)
    assert contents(tmp_path) == {name: b"mine"}


@pytest.mark.parametrize("entry", [None, ".DS_Store", "lost+found", ".part-killed.json"])
def test_a_new_or_empty_folder_becomes_a_library(tmp_path: Path, entry: str | None) -> None:
    folder = tmp_path / "a" / "b"
    if entry is not None:
        folder.mkdir(parents=True)
        (folder / entry).touch()
    with Writer.open(folder) as writer:
        writer.set_meta(META)
    assert Layout(folder).exists()


@pytest.mark.parametrize("method", ["rag.store.layout.take_lock", "rag.store.database.Database.commit"])
def test_a_writer_that_is_killed_before_its_first_commit_leaves_a_folder_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(method, killed)
    with pytest.raises(KeyboardInterrupt):
        Writer.open(tmp_path / "library")
    monkeypatch.undo()
    assert not Layout(tmp_path / "library").exists()
    with Writer.open(tmp_path / "library") as writer:
        assert writer.set_meta(META).library_id


def test_a_head_of_another_program_makes_no_library(tmp_path: Path) -> None:
    (tmp_path / HEAD).write_text('{"schema": "mine"}')
    before = contents(tmp_path)
    with pytest.raises(LibraryCorrupt):
        Writer.open(tmp_path)
    assert contents(tmp_path) == before


def test_a_folder_that_cannot_be_looked_into_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for folder, reason in (
        (tmp_path / ("a" * 300), "file name too long"),
        (tmp_path / "loop", "too many levels"),
    ):
        with pytest.raises(LibraryReadOnly, match=reason):
            writable_library(folder)


def test_an_empty_path_is_not_the_working_folder() -> None:
    with pytest.raises(UsageError, match="empty"):
        absolute_path("")
    assert absolute_path(".") == str(Path.cwd())


def test_the_command_that_makes_a_library_names_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert index_command(tmp_path / ".rag") == "rag index FOLDER"
    elsewhere = tmp_path / "my videos" / ".rag"
    assert index_command(elsewhere) == f"rag index FOLDER --library '{elsewhere}'"
