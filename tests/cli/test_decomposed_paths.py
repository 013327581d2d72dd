"""Folders that macOS wrote are in NFD, typed ones in NFC: both name the same file of the library."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from rag._cli.main import main
from rag.errors import UsageError
from rag.library import Library
from rag.store.lookup import resolve_citation

pytestmark = pytest.mark.usefixtures("tiny_text")

TYPED = "Prüfung/Öl.md"
STORED = unicodedata.normalize("NFD", TYPED)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / STORED
    path.parent.mkdir()
    path.write_text("The oil pump is changed every 30 hours.\n")
    (tmp_path / "other.md").write_text("A heron eats fish.\n")
    (tmp_path / "third.md").write_text("The lamp is blue.\n")
    monkeypatch.chdir(tmp_path)
    assert main(["index", "."]) == 0
    return tmp_path


def test_a_typed_path_finds_what_is_stored_decomposed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for glob in ("Prüfung/*", "Prüfung", TYPED):
        capsys.readouterr()
        main(["search", "oil pump", "--path", glob])
        assert "no file of the library matches" not in capsys.readouterr().err
    with Library.open(".rag") as opened:
        assert str(home / STORED) in opened.indexed_paths()
        with pytest.raises(UsageError, match="is a document"):
            resolve_citation(opened.engine.reader, TYPED)


@pytest.mark.parametrize("name", [TYPED, "Prüfung"])
def test_a_typed_path_is_removed(home: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["remove", name]) == 0
    assert "not in the library" not in capsys.readouterr().err
    with Library.open(".rag") as opened:
        assert opened.indexed_paths() == [str(home / "other.md"), str(home / "third.md")]
