"""Where `rag eval` puts and finds runs: benchmarks keep apart, and folders that hold runs name them."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.runs.folder import run_folders
from rag._cli.main import main


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_build_is_refused_where_a_folder_holds_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_REASONER__KIND", "openai")
    monkeypatch.setenv("RAG_REASONER__MODEL", "m")
    events = tmp_path / "events.jsonl"
    events.write_text('{"video": "a.mp4", "start": 0, "end": 1, "text": "cuts"}\n', encoding="utf-8")
    theirs = tmp_path / "home" / "work" / "thesis.txt"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("x", encoding="utf-8")
    words = ["eval", "build", "egofact", "--from-events", str(events), "--out", str(tmp_path / "home")]
    assert main(words) == 2
    assert "is not empty" in capsys.readouterr().err


def test_runs_are_found_one_folder_down_and_two(tmp_path: Path) -> None:
    for name in ("runs/b-seed0", "runs/toy/a-seed0", "runs/data", "runs/x/y/too-deep"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text("{}", encoding="utf-8")
        if name != "runs/data":
            (folder / "samples.jsonl").write_text("", encoding="utf-8")
    place = tmp_path / "runs"
    wanted = [place / "b-seed0", place / "toy/a-seed0"]
    assert run_folders([place]) == wanted
    assert run_folders([place / "toy", place]) == [wanted[1], wanted[0]]
    assert run_folders([place / "data", tmp_path / "none"]) == [place / "data", tmp_path / "none"]
