"""A library that holds nothing yet, as after an interrupted first run: commands say how it is filled."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.command import run_rag

pytestmark = pytest.mark.usefixtures("tiny_text")


def test_a_search_and_an_answer_name_the_command_that_fills_it(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("The oil pump is behind the left cover.\n")
    for words in (["index", "notes.txt"], ["remove", "notes.txt", "--yes"]):
        assert run_rag(tmp_path, *words).returncode == 0
    said = ".rag: nothing is indexed here yet; run: rag index FOLDER\n"
    assert said in run_rag(tmp_path, "search", "oil pump").stderr
    asked = ("ask", "Where is the oil pump?", "--json")
    assert "The library holds nothing yet; fill it with: rag index FOLDER" in run_rag(tmp_path, *asked).stdout
    assert run_rag(tmp_path, "index", "notes.txt").returncode == 0
    assert "behind the left cover" in run_rag(tmp_path, *asked).stdout
