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


def test_where_everything_is_staged_all_lines_name_the_command_that_adds_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["index", "notes.txt", "--stage-only"]) == 0
    capsys.readouterr()
    main(["search", "oil pump"])
    staged, empty = capsys.readouterr().err.splitlines()[:2]
    assert staged.endswith(".rag: all its contents are staged; to add them: rag index --commit-staged")
    assert empty.endswith(".rag: nothing is indexed here yet; run: rag index --commit-staged")
    with Library.open(".rag") as opened:
        explanation = opened.ask("Where is the oil pump?").explanation
    assert explanation == "All contents of the library are staged; add them with: rag index --commit-staged"
    Path(".rag").rename("other library")
    with Library.open("other library") as opened:
        explanation = opened.ask("Where is the oil pump?").explanation
    assert explanation.endswith(f"rag index --commit-staged --library '{Path.cwd() / 'other library'}'")
    Path("other library").rename(".rag")
    assert main(["index", "--commit-staged"]) == 0
    with Library.open(".rag") as opened:
        assert "behind the left cover" in opened.ask("Where is the oil pump?").text
