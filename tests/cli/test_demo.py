"""`rag demo` on a corpus of the test's own: it indexes, asks, draws what is cited, says where all lies."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from rag._cli.main import main
from rag.records import Question
from tests.synthetic import write_video

SUBTITLES = "1\n00:00:02,000 --> 00:00:05,000\nThe cordless drill makes a hole in the oak board.\n"


def _write(folder: Path) -> None:
    write_video(folder / "workshop.mp4", 12)
    (folder / "workshop.srt").write_text(SUBTITLES)
    (folder / "tea.txt").write_text("Green tea is brewed at eighty degrees.\n")


def _questions() -> tuple[Question, ...]:
    return (
        Question("1", "What does the cordless drill make in the oak board?"),
        Question("2", "Which tool makes the hole?", ("a cordless drill", "a teapot")),
    )


def test_the_demo_asks_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = SimpleNamespace(write_demo_corpus=_write, demo_questions=_questions)
    monkeypatch.setitem(sys.modules, "corpora.demo", corpus)
    monkeypatch.setenv("RAG_OCR__MODE", "off")
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--dir", "shown"]) == 0
    said = capsys.readouterr()
    shape = json.loads(said.out)
    assert (shape["schema"], shape["folder"]) == ("rag.demo/1", "shown")
    assert shape["index"]["indexed"] == 2
    first, second = shape["answers"]
    assert first["answer"]["matched"]
    assert "hole" in first["answer"]["text"]
    assert [option["label"] for option in second["options"]] == ["A", "B"]
    sheets = {sheet for answer in shape["answers"] for sheet in answer["sheets"]}
    assert sheets
    assert all(Path(sheet).read_bytes().startswith(b"\x89PNG") for sheet in sheets)
    assert {path.name for path in (tmp_path / "shown").iterdir()} == {
        ".rag",
        "corpus",
        *(Path(sheet).name for sheet in sheets),
    }
    assert "on-screen text: off" in said.err

    assert main(["demo", "--dir", "shown", "--text"]) == 0
    text = capsys.readouterr().out
    assert "? Which tool makes the hole?" in text
    assert "contact sheet: shown/" in text
    assert 'rag ask --library shown/.rag "..."' in text
