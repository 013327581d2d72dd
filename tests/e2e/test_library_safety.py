"""Commands that could lose a library, or another program's files, and refuse to."""

import io
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag._cli.main import main
from rag.indexing import pipeline
from rag.store.reading import Reader

pytestmark = pytest.mark.usefixtures("tiny_text")


COUNT = 5


@pytest.fixture(scope="module")
def indexed(tmp_path_factory) -> Path:
    """A folder `corpus` with a sub-folder, and its library `library`."""
    home = tmp_path_factory.mktemp("indexed")
    (home / "corpus" / "disk").mkdir(parents=True)
    for number in range(COUNT):
        place = home / "corpus" / ("disk" if number < 2 else "")
        (place / f"{number}.txt").write_text(f"Bolt number {number} has a thread of its own.\n")
    with pytest.MonkeyPatch.context() as inside:
        inside.chdir(home)
        assert main(["index", "corpus", "--library", "library"]) == 0
    return home


@pytest.fixture
def home(indexed: Path, tmp_path, monkeypatch) -> Iterator[Path]:
    """The same, in a folder of its own: files are put at the very paths that the library knows."""
    kept = tmp_path / "kept"
    shutil.copytree(indexed, kept, symlinks=True)
    monkeypatch.chdir(indexed)
    monkeypatch.setenv("RAG_LIBRARY", "library")
    yield indexed
    for name in ("corpus", "library"):
        path = indexed / name
        path.unlink() if path.is_symlink() else shutil.rmtree(path)
        shutil.copytree(kept / name, path, symlinks=True)


def held(home: Path) -> int:
    with Reader.open(home / "library") as reader:
        return len(reader.files())


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file and folder with its time of change and its bytes."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }


def unmount(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


# --prune


def test_prune_is_refused_for_a_disk_that_is_not_mounted(home: Path, capsys) -> None:
    unmount(home / "corpus")
    (home / "corpus" / "new.txt").write_text("This lay below the mount point.\n")
    assert main(["index", "corpus/", "--prune"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{COUNT} of {COUNT} files" in line
    assert "--prune-all" in line
    assert held(home) == COUNT
    assert main(["index", "corpus/", "--prune-all"]) == 0
    assert held(home) == 1


def test_a_disk_within_the_folder_that_is_not_mounted_keeps_its_files(home: Path, capsys) -> None:
    unmount(home / "corpus" / "disk")
    assert main(["index", "corpus", "--prune"]) == 3
    said = capsys.readouterr().err
    assert f"{home}/corpus/disk: empty, and 2 files of the library were below it" in said
    assert held(home) == COUNT
    assert main(["index", "corpus", "--prune-all"]) == 0
    assert held(home) == COUNT - 2


def test_a_file_that_comes_back_while_indexing_goes_on_stays(home: Path, monkeypatch) -> None:
    text = (home / "corpus" / "4.txt").read_text()
    (home / "corpus" / "4.txt").unlink()
    whole = pipeline.remove_missing

    def meanwhile(*given: Any, **named: Any) -> list[str]:
        (home / "corpus" / "4.txt").write_text(text)
        return whole(*given, **named)

    monkeypatch.setattr(pipeline, "remove_missing", meanwhile)
    assert main(["index", "corpus", "--prune"]) == 0
    assert held(home) == COUNT


# remove


def test_an_empty_path_is_refused(home: Path, capsys) -> None:
    assert main(["remove", "corpus/4.txt", ""]) == 2
    assert "path is empty" in capsys.readouterr().err
    assert main(["index", "corpus", "--library", ""]) == 2
    assert "--library" in capsys.readouterr().err
    assert held(home) == COUNT


def test_more_than_half_of_the_library_needs_a_yes(home: Path, capsys) -> None:
    assert main(["remove", "/"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{COUNT} of {COUNT} files" in line
    assert "--yes" in line
    assert held(home) == COUNT
    assert main(["remove", "/", "--yes"]) == 0
    assert held(home) == 0


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("reply", "left"), [("YES\n", 0), ("\n", COUNT)])
def test_on_a_terminal_it_asks(home: Path, monkeypatch, reply: str, left: int) -> None:
    said = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(reply))
    monkeypatch.setattr(sys, "stderr", said)
    assert main(["remove", "corpus"]) == (1 if left else 0)
    assert f"{COUNT} of {COUNT} files of the library. Continue? [y/N] " in said.getvalue()
    assert held(home) == left


# The library's folder


@pytest.mark.usefixtures("home")
def test_a_folder_of_another_program_is_not_taken_for_a_library(tmp_path, capsys) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "scan.sqlite").write_bytes(b"my own work of years")
    before = tree(tmp_path / "mine")
    assert main(["index", "corpus", "--library", str(tmp_path / "mine"), "--prune"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "name a new or empty folder" in line
    assert tree(tmp_path / "mine") == before
    for command in (["remove", "corpus", "--yes"], ["stats"], ["search", "bolt"]):
        assert main([*command, "--library", str(tmp_path / "mine")]) == 1
    assert tree(tmp_path / "mine") == before


@pytest.mark.parametrize(("library", "more"), [("library", ["--prune"]), ("new", [])])
def test_a_dry_run_writes_nothing_anywhere(
    home: Path, tmp_path, monkeypatch, library: str, more: list[str]
) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "TMPDIR"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        monkeypatch.setenv(name, str(folder))
    (home / "corpus" / "new.txt").write_text("A nut sits on the bolt.\n")
    (home / "corpus" / "4.txt").unlink()
    # The hashes of model files are remembered in the user's cache folder.
    command = ["index", "corpus", "--dry-run", "--library", library, *more]
    assert main(command) == 0
    before = tree(home), tree(tmp_path)
    assert main(command) == 0
    assert (tree(home), tree(tmp_path)) == before


def test_remove_names_what_the_library_does_not_have(home: Path, capsys) -> None:
    assert main(["remove", "corpus/4.txt", "4.txt", "zz"]) == 0
    assert capsys.readouterr().err == "rag: not in the library: 4.txt, zz\n"
    assert main(["remove", "3.txt"]) == 2
    assert capsys.readouterr().err == (
        f"rag: none of these is in the library: 3.txt; did you mean {home}/corpus/3.txt?\n"
    )
    assert main(["remove", "corpus/disk"]) == 0
    assert capsys.readouterr().err == ""
    assert held(home) == COUNT - 3
