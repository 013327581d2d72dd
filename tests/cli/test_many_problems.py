"""Files with one and the same problem: the first are named, the others counted; the report has all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag._cli.progress import PROBLEMS_OF_A_KIND
from tests.fakes.command import run_rag


def test_many_files_with_one_problem_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_ENCODER__IMAGE", "none")
    folder = tmp_path / "corpus"
    folder.mkdir()
    for n in range(PROBLEMS_OF_A_KIND + 5):
        (folder / f"{n:02d}.mp4").write_bytes(b"")
    (folder / "bad.srt").write_text("no subtitles")
    (folder / "notes.md").write_text("# Oil\n\nTwo drops.\n")
    done = run_rag(tmp_path, "index", "corpus", "--library", "library")
    lines = [line for line in done.stderr.splitlines() if line.startswith(str(folder))]
    assert len([line for line in lines if ".mp4: " in line]) == PROBLEMS_OF_A_KIND, done.stderr
    assert "5 more files: " in done.stderr
    assert len([p for p in json.loads(done.stdout)["problems"] if p["path"].endswith(".mp4")]) == 25
