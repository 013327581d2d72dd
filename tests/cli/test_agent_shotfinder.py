"""`rag agent shotfinder`: its steps, trace, page and exit code, and the same bytes again."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.fakes.browser_world import make_web
from tests.fakes.command import run_rag


def find(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_rag(folder, "agent", "shotfinder", *words)


def test_a_search_over_a_web_without_a_library(tmp_path: Path) -> None:
    make_web(tmp_path / "web").close()
    words = ("the kettle video", "--tone", "warm", "--after", "a door opens", "--web", "web", "--json")
    done = find(tmp_path, *words, "--trace", "a.jsonl", "--html", "a.html")
    assert done.returncode == 1, done.stderr  # nothing was indexed, so no frame can be judged: N/A
    shape = json.loads(done.stdout)
    assert shape["schema"] == "rag.agent.shotfinder/1"
    assert shape["shot"] is None
    assert shape["constraints"] == {"color": "warm", "after": "a door opens"}
    assert len(shape["looks"]) == 4
    assert shape["failure"] == "NothingLookedAt"
    assert "tone was not measured: run rag index on its folder" in shape["absence"]
    assert shape["tokens_counted_as"].startswith("counted")
    assert "imagine:" in done.stderr
    steps = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {"imagine", "web", "search", "absent", "shot", "result"} <= {step["kind"] for step in steps}
    assert "N/A" in (tmp_path / "a.html").read_text(encoding="utf-8")
    again = find(tmp_path, *words, "--trace", "b.jsonl", "--html", "b.html")
    assert again.returncode == 1
    for name in ("jsonl", "html"):
        assert (tmp_path / f"a.{name}").read_bytes() == (tmp_path / f"b.{name}").read_bytes()


def test_a_calibration_that_is_missing_is_named_before_anything_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_SEARCH__CALIBRATION", str(tmp_path / "none.json"))
    line = f"rag: {tmp_path / 'none.json'}: cannot be read; write one with 'rag calibrate'\n"
    done = find(tmp_path, "a kettle", "--web", "nowhere")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
    run = run_rag(tmp_path, "eval", "run", "shotfinder", "--data", "nowhere", "--system", "shotfinder")
    assert (run.returncode, run.stdout, run.stderr) == (2, "", line)


def test_wrong_words_are_one_line(tmp_path: Path) -> None:
    done = find(tmp_path, "a kettle", "--web", "nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    assert "web build" in done.stderr
    blank = find(tmp_path, "a kettle", "--web", "nowhere", "--after", "  ")
    assert (blank.returncode, blank.stdout) == (2, "")
    assert "--after" in blank.stderr
    assert "holds no word" in blank.stderr
    both = find(tmp_path, "a kettle", "--web", "w", "--corpus", "c")
    assert both.returncode == 2
    assert "two webs" in both.stderr
