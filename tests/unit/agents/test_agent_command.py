"""What an agent's command prints and writes: steps and trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag._cli.main import main
from rag.engine import Engine
from rag.library import Library
from tests.fakes.answer_world import blank_frames
from tests.fakes.detective_world import RuleReasoner, open_world, question


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RuleReasoner:
    """The command's library is the made-up one, and its reasoner the rules."""
    reasoner = RuleReasoner()

    def opened(*_: Any, **__: Any) -> Library:
        library = open_world(tmp_path)
        library.engine.__dict__["reasoner"] = reasoner
        return library

    monkeypatch.setattr(Library, "open", opened)
    monkeypatch.setattr(Engine, "read_frames", lambda _, path, times: blank_frames(path, times))
    monkeypatch.chdir(tmp_path)
    return reasoner


OPTIONS = [word for option in question().options for word in ("--option", option)]


def test_the_command_prints_steps_and_writes_a_trace(
    rules: RuleReasoner, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["agent", "video-detective", "workshop", question().text, *OPTIONS]
    assert main([*words, "--trace", "t.jsonl", "--json"]) == 0
    out, err = capsys.readouterr()
    reported = json.loads(out)
    assert reported["answer"]["choice"] == "D"
    lines = [json.loads(line) for line in Path("t.jsonl").read_text(encoding="utf-8").splitlines()]
    looked = ["look"] * len(reported["looks"])
    assert [line["kind"] for line in lines] == ["plan", *looked, "show", "answer", "result"]
    assert [line["data"] for line in lines[1:-3]] == reported["looks"]
    assert (reported["settings"]["beta"], reported["tokens_counted_as"][:6]) == (0.6, "as the")
    assert err.startswith("plan: 5 facets")
    assert "look: 1/10" in err
    first = Path("t.jsonl").read_bytes()
    again = ["--trace", "t.jsonl", "--force", "--text", "--looks", "3", "--frames", "8"]
    assert main([*words, *again]) == 0
    out, err = capsys.readouterr()
    assert "the hammer of part 9" in out
    assert "look: 4/" not in err
    assert Path("t.jsonl").read_bytes() != first
    assert "observe" in rules.asked
