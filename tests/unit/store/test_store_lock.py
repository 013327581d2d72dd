"""What folder counts as a library, and one writer at a time, whatever becomes of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from corpora.platforms import SharedMark, is_marked
from rag.errors import LibraryBusy, LibraryCorrupt, LibraryNotFound, LibraryReadOnly, UsageError
from rag.store.finding import absolute_path, index_command, writable_library
from rag.store.layout import HEAD, Layout, writer_lock
from rag.store.reading import Reader
from rag.store.writing import Writer
from tests.fakes.store_material import META, fill


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["scan.sqlite", "writer.lock", "readers.lock", "notes.txt"])
def test_a_folder_with_other_files_is_refused_and_unchanged(tmp_path, name: str) -> None:
    (tmp_path / name).write_bytes(b"mine")
    (tmp_path / "tables").mkdir()
    with pytest.raises(LibraryNotFound, match="new or empty folder"):
        Writer.open(tmp_path)
    with pytest.raises(LibraryNotFound):
        Writer.open(tmp_path, create=False)
    assert contents(tmp_path) == {name: b"mine"}


@pytest.mark.parametrize("entry", [None, ".DS_Store", "lost+found", ".part-killed.json"])
def test_a_new_or_empty_folder_becomes_a_library(tmp_path, entry: str | None) -> None:
    folder = tmp_path / "a" / "b"
    if entry is not None:
        folder.mkdir(parents=True)
        (folder / entry).touch()
    with Writer.open(folder) as writer:
        writer.set_meta(META)
    assert Layout(folder).exists()


@pytest.mark.parametrize("method", ["rag.store.layout.take_lock", "rag.store.database.Database.commit"])
def test_a_writer_that_is_killed_before_its_first_commit_leaves_a_folder_for_the_next(
    tmp_path, monkeypatch, method: str
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


def test_a_head_of_another_program_makes_no_library(tmp_path) -> None:
    (tmp_path / HEAD).write_text('{"schema": "mine"}')
    before = contents(tmp_path)
    with pytest.raises(LibraryCorrupt):
        Writer.open(tmp_path)
    assert contents(tmp_path) == before


def test_a_folder_that_cannot_be_looked_into_is_one_line(tmp_path) -> None:
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


def test_the_command_that_makes_a_library_names_its_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert index_command(tmp_path / ".rag") == "rag index FOLDER"
    elsewhere = tmp_path / "my videos" / ".rag"
    assert index_command(elsewhere) == f"rag index FOLDER --library '{elsewhere}'"


HOLD = """
import sys, time
from pathlib import Path
from rag.store.layout import writer_lock
with writer_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_error_of_a_second_writer_names_the_holder(tmp_path) -> None:
    expected = rf"process {os.getpid()} on \S+ \(since 20\d\d-"
    with Writer.open(tmp_path / "lib"), pytest.raises(LibraryBusy, match=expected):
        Writer.open(tmp_path / "lib")
    Writer.open(tmp_path / "lib").close()


def test_a_killed_holder_leaves_no_lock(tmp_path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stdout.readline() == "held\n"
            with pytest.raises(LibraryBusy, match=f"process {child.pid} "), writer_lock(path):
                pass
        finally:
            child.kill()
    with writer_lock(path):
        assert f'"pid": {os.getpid()}' in path.with_suffix(".json").read_text()


def test_a_garbled_note_is_no_trouble(tmp_path) -> None:
    path = tmp_path / "lock"
    with writer_lock(path):
        path.with_suffix(".json").write_text("{nonsense")
        with pytest.raises(LibraryBusy, match="another process is writing"), writer_lock(path):
            pass


def test_a_writer_that_fails_to_open_gives_the_lock_back(tmp_path, monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("stop")

    with monkeypatch.context() as patch:
        patch.setattr("rag.store.writing.PathTable", fail)
        with pytest.raises(RuntimeError, match="stop"):
            Writer.open(tmp_path / "lib")
    Writer.open(tmp_path / "lib").close()


def test_readers_are_known_while_they_are_open(tmp_path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    marks = tmp_path / "lib" / "readers.lock"
    assert not is_marked(marks)
    with Reader.open(tmp_path / "lib"), Reader.open(tmp_path / "lib"):
        assert is_marked(marks)
    assert not is_marked(marks)
    forgotten = SharedMark(marks)
    assert is_marked(marks)
    del forgotten
    assert not is_marked(marks)


def test_a_reader_without_a_mark_reads_all_the_same(tmp_path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    (tmp_path / "lib" / "readers.lock").unlink()
    with Reader.open(tmp_path / "lib") as reader:
        assert len(reader.videos()) == 1
    assert not (tmp_path / "lib" / "readers.lock").exists()
