"""`rag workbench make`: what it writes, says and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag._cli.main import main

SMALL = ["--clips", "1", "--fps", "5", "--style", "flat"]


def test_a_corpus_is_made_and_then_found_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["workbench", "make", "wb", "--seed", "7", "--split", "test", *SMALL]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert (shape["schema"], shape["folder"], shape["films"], shape["made"]) == (
        "rag.workbench/1",
        "wb",
        1,
        1,
    )
    assert shape["seconds"] == 30.0
    manifest = json.loads((tmp_path / "wb/.workbench/manifest.json").read_text(encoding="utf-8"))
    assert (manifest["seed"], manifest["split"], manifest["style"]) == (7, "test", "flat")

    assert main(["workbench", "make", "wb", "--seed", "7", "--split", "test", *SMALL, "--text"]) == 0
    said = capsys.readouterr().out
    assert "1 video (1 existed already) with 30 s of media" in said
    assert "RAG_ENCODER__IMAGE=bundled rag index wb" in said

    assert main(["workbench", "make", "wb", "--seed", "8", "--split", "test", *SMALL]) == 2
    refused = capsys.readouterr().err.splitlines()
    assert len(refused) == 1
    assert "made with other arguments (seed 7)" in refused[0]


def test_wrong_words_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--clips", "0"], ["--height", "361"], ["--split", "all"], ["--long", "0"]):
        assert main(["workbench", "make", str(tmp_path / "wb"), *words]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "wb").exists()
