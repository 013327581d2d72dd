"""`rag agent video-browser`: its steps, trace, page and exit code, and the same in another process."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.fakes.browser_world import make_web
from tests.fakes.command import run_rag, run_rag_process
from tests.fakes.synthetic import write_video


def browse(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_rag(folder, "agent", "video-browser", *words)


def test_a_question_over_a_web_without_a_library(tmp_path: Path) -> None:
    make_web(tmp_path / "web").close()
    words = ("What is the secret of kettle video 7?", "--web", "web", "--loops", "1", "--json")
    done = browse(tmp_path, *words, "--trace", "a.jsonl", "--html", "a.html")
    assert done.returncode == 0, done.stderr
    shape = json.loads(done.stdout)
    assert shape["schema"] == "rag.agent.video-browser/1"
    assert "PLUM" in shape["answer"]["text"]
    assert shape["citations"][0]["path"].endswith("video07")
    assert shape["tokens"] > 0
    assert shape["tokens_counted_as"].startswith("counted")
    assert "plan:" in done.stderr
    assert "frames: none are seen" in done.stderr
    steps = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {"plan", "web", "search", "select", "watch", "answer", "result"} <= {
        step["kind"] for step in steps
    }
    assert "PLUM" in (tmp_path / "a.html").read_text(encoding="utf-8")
    again = run_rag_process(tmp_path, "agent", "video-browser", *words, "--trace", "b.jsonl")
    assert again.returncode == 0
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_a_run_without_an_answer_exits_1_and_says_all_the_same(tmp_path: Path) -> None:
    make_web(tmp_path / "web").close()
    words = ("What is the secret of kettle video 7?", "--web", "web", "--loops", "1", "--json")
    done = browse(tmp_path, *words, "--faults", "rate_limit=1")
    assert done.returncode == 1, done.stderr
    shape = json.loads(done.stdout)
    assert (shape["answer"]["matched"], shape["failure"]) == (False, "")
    assert set(shape["failures"]) == {"RateLimited"}
    assert shape["usage"]["by_role"]["answer_open"]["counted_calls"] == 1
    assert shape["context"] == shape["usage"]["by_role"]["answer_open"]["prompt_tokens"]


def test_without_evidence_no_option_is_chosen_unless_one_must_be(tmp_path: Path) -> None:
    make_web(tmp_path / "web").close()
    words = ("Which secret is it?", "--web", "web", "--loops", "1", "--json", "--faults", "rate_limit=1")
    options = ("--option", "PLUM", "--option", "FIG")
    done = browse(tmp_path, *words, *options)
    answer = json.loads(done.stdout)["answer"]
    assert (done.returncode, answer["matched"], answer["confidence"]) == (1, False, 0.0)
    done = browse(tmp_path, *words, *options, "--must-choose")
    answer = json.loads(done.stdout)["answer"]
    assert (done.returncode, answer["matched"], answer["confidence"]) == (0, True, 0.5)


def test_files_are_a_web_of_their_own(tmp_path: Path) -> None:
    """`--corpus`: videos with their subtitles, without a library."""
    (tmp_path / "videos").mkdir()
    write_video(tmp_path / "videos" / "kettle.mp4", 3.0)
    subtitles = "1\n00:00:00,000 --> 00:00:02,000\nThe secret of the kettle is PLUM.\n"
    (tmp_path / "videos" / "kettle.srt").write_text(subtitles, encoding="utf-8")
    words = ("What is the secret of the kettle?", "--corpus", "videos", "--loops", "1", "--json")
    done = browse(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    shape = json.loads(done.stdout)
    assert "PLUM" in shape["answer"]["text"]
    assert shape["citations"][0]["path"].endswith("kettle.mp4")
    both = browse(tmp_path, *words, "--web", "web")
    assert both.returncode == 2
    assert "two webs" in both.stderr


def test_wrong_words_are_one_line(tmp_path: Path) -> None:
    done = browse(tmp_path, "Which?", "--web", "nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    assert "web build" in done.stderr
    live = browse(tmp_path, "Which?", "--web", "https://example.com")
    assert live.returncode == 2
    assert "live web" in live.stderr
