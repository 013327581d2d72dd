"""Folders that macOS wrote are in NFD, typed ones in NFC: both name the same file of the library."""

import unicodedata

import pytest

from rag._cli.main import main
from rag.errors import UsageError
from rag.library import Library
from rag.store.lookup import resolve_citation

pytestmark = pytest.mark.usefixtures("tiny_text")

TYPED = "Prüfung/Öl.md"
STORED = unicodedata.normalize("NFD", TYPED)


def test_a_typed_path_finds_and_removes_what_is_stored_decomposed(tmp_path, monkeypatch, capsys) -> None:
    path = tmp_path / STORED
    path.parent.mkdir()
    path.write_text("The oil pump is changed every 30 hours.\n")
    for name in ("other.md", "third.md"):
        (tmp_path / name).write_text(f"A heron eats the fish of {name}.\n")
    monkeypatch.chdir(tmp_path)
    assert main(["index", "."]) == 0
    for glob in ("Prüfung/*", "Prüfung", TYPED):
        main(["search", "oil pump", "--path", glob])
        assert "no file of the library matches" not in capsys.readouterr().err
    with Library.open(".rag") as opened:
        assert str(path) in opened.indexed_paths()
        with pytest.raises(UsageError, match="is a document"):
            resolve_citation(opened.engine.reader, TYPED)
    for name in (TYPED, "Prüfung"):
        assert main(["remove", name]) == 0
        assert "not in the library" not in capsys.readouterr().err
        with Library.open(".rag") as opened:
            assert opened.indexed_paths() == [str(tmp_path / "other.md"), str(tmp_path / "third.md")]
        assert main(["index", "."]) == 0
        capsys.readouterr()
