"""`rag agent raclo`: its steps, trace, page and exit code, and the same bytes again."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.fakes.browser_world import make_web
from tests.fakes.command import run_rag


def recall(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_rag(folder, "agent", "raclo", *words)


def test_a_memory_over_a_web_without_a_library(tmp_path: Path) -> None:
    make_web(tmp_path / "web").close()
    cues = ("--global", "I remember kettle video 7", "--sound", "the secret is PLUM", "--moment", "a kettle")
    words = (*cues, "--before", "a cup", "--after", "steam", "--web", "web", "--json")
    done = recall(tmp_path, *words, "--trace", "a.jsonl", "--html", "a.html")
    assert done.returncode == 1, done.stderr  # of what is said alone, no judge takes it for the video
    shape = json.loads(done.stdout)
    assert not shape["matched"]
    assert (shape["schema"], shape["cues"]) == ("rag.agent.raclo/1", "GKTA")
    assert shape["candidates"]
    assert shape["tokens_counted_as"].startswith("counted")
    assert "recall:" in done.stderr
    steps = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    kinds = {"think", "web", "search", "take", "verify", "localize", "answer", "result"}
    assert kinds <= {step["kind"] for step in steps}
    assert "kettle video" in (tmp_path / "a.html").read_text(encoding="utf-8")
    again = recall(tmp_path, *words, "--trace", "b.jsonl")
    assert again.returncode == 1
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_wrong_words_are_one_line(tmp_path: Path) -> None:
    done = recall(tmp_path, "--before", "a cup", "--web", "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert "GKTA" in done.stderr
    both = recall(tmp_path, "--moment", "a cup", "--web", "w", "--corpus", "c")
    assert both.returncode == 2
    assert "two webs" in both.stderr
