"""One writer at a time, whatever becomes of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from corpora.platforms import SharedMark, is_marked
from rag.errors import LibraryBusy
from rag.store.layout import writer_lock
from rag.store.reading import Reader
from rag.store.writing import Writer
from tests.fakes.store_material import fill

HOLD = """
import sys, time
from pathlib import Path
from rag.store.layout import writer_lock
with writer_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_error_of_a_second_writer_names_the_holder(tmp_path: Path) -> None:
    expected = rf"process {os.getpid()} on \S+ \(since 20\d\d-"
    with Writer.open(tmp_path / "lib"), pytest.raises(LibraryBusy, match=expected):
        Writer.open(tmp_path / "lib")
    Writer.open(tmp_path / "lib").close()


def test_a_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "held\n"
            with pytest.raises(LibraryBusy, match=f"process {child.pid} "), writer_lock(path):
                pass
        finally:
            child.kill()
    with writer_lock(path):
        assert f'"pid": {os.getpid()}' in path.with_suffix(".json").read_text()


def test_a_garbled_note_is_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with writer_lock(path):
        path.with_suffix(".json").write_text("{nonsense")
        with pytest.raises(LibraryBusy, match="another process is writing"), writer_lock(path):
            pass


def test_a_writer_that_fails_to_open_gives_the_lock_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("stop")

    with monkeypatch.context() as patch:
        patch.setattr("rag.store.writing.PathTable", fail)
        with pytest.raises(RuntimeError, match="stop"):
            Writer.open(tmp_path / "lib")
    Writer.open(tmp_path / "lib").close()


def test_readers_are_known_while_they_are_open(tmp_path: Path) -> None:
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


def test_a_reader_without_a_mark_reads_all_the_same(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    (tmp_path / "lib" / "readers.lock").unlink()
    with Reader.open(tmp_path / "lib") as reader:
        assert len(reader.videos()) == 1
    assert not (tmp_path / "lib" / "readers.lock").exists()
