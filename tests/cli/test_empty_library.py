"""A library that holds nothing yet, as after an interrupted first run: commands say how it is filled."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag._cli.main import main
from rag.library import Library

pytestmark = pytest.mark.usefixtures("tiny_text")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("The oil pump is behind the left cover.\n")
    assert main(["index", "notes.txt"]) == 0
    assert main(["remove", "notes.txt", "--yes"]) == 0
    return tmp_path


def test_a_search_names_the_command_that_fills_it(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    main(["search", "oil pump"])
    assert ".rag: nothing is indexed here yet; run: rag index FOLDER\n" in capsys.readouterr().err


def test_an_answer_says_so() -> None:
    with Library.open(".rag") as opened:
        answer = opened.ask("Where is the oil pump?")
    assert not answer.matched
    assert answer.explanation == "The library holds nothing yet; fill it with: rag index FOLDER"
    assert main(["index", "notes.txt"]) == 0
    with Library.open(".rag") as opened:
        assert "behind the left cover" in opened.ask("Where is the oil pump?").text
