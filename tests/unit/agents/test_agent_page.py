"""The page of an agent's run, written when the answer is out: a full disk costs the page and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.outputs import OverwritePolicy
from rag._cli.agent_environment import write_page


def test_a_page_is_written_where_one_is_wanted(tmp_path: Path) -> None:
    assert write_page(None, OverwritePolicy(), lambda: pytest.fail("not rendered without a path")) == 0
    assert write_page(tmp_path / "x.html", OverwritePolicy(), lambda: "<p>") == 0
    assert (tmp_path / "x.html").read_text() == "<p>"


@pytest.mark.parametrize("path", ["/nope/x.html", "/dev/full"])
def test_a_page_that_cannot_be_written_is_one_line(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert write_page(Path(path), OverwritePolicy(), lambda: "<p>") == 3
    assert capsys.readouterr().err.startswith(f"rag: {path}: cannot be written: no s")
