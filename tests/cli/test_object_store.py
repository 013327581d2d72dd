"""`rag` with a library on an object store: the commands, and what they print, are those of a folder."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpora.objects import StoreAddress
from rag._cli.doctor import store_findings
from rag._cli.session import Session
from rag.library import Library
from rag.settings import Settings
from tests.fakes.command import run_rag
from tests.fakes.library_dump import dump
from tests.fakes.object_store import FakeStore
from tests.fakes.synthetic import write_video


@pytest.fixture
def corpus(tmp_path, bucket: FakeStore, monkeypatch) -> Path:
    for name, value in {**bucket.environment, "RAG_ENCODER__IMAGE": "none", "RAG_OCR__MODE": "off"}.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "corpus"
    folder.mkdir()
    write_video(folder / "bolt.mp4", 8, subtitles=[(1, 4, "The torque wrench clicks.")])
    write_video(folder / "chain.mp4", 6, fps=5)
    (folder / "notes.md").write_text("# Chain oil\n\nUse two drops of oil on every link.\n")
    return folder


def test_index_ask_show_remove_and_pull(corpus: Path, bucket: FakeStore, monkeypatch) -> None:
    home, library = corpus.parent, f"{bucket.url}/library"
    local, stored = ("--library", "local"), ("--library", library)
    for place in (local, stored):
        indexed = run_rag(home, "index", "corpus", *place)
        assert indexed.returncode == 0, indexed.stderr
    address = StoreAddress(library, bucket.storage)
    assert list(dump(address)) == list(dump(home / "local"))
    window = ("show", "bolt.mp4@0-5", "--frames", "2", "--out", "sheet.png", "--force")
    for words in (("search", "torque wrench"), ("ask", "What does the wrench do?"), window):
        answers = [run_rag(home, *words, *place) for place in (local, stored)]
        assert answers[0].returncode == answers[1].returncode == 0, answers[1].stderr
        assert _timeless(answers[0].stdout) == _timeless(answers[1].stdout)
    pulled = run_rag(home, "library", "pull", library, "copy", "--text")
    assert pulled.returncode == 0, pulled.stderr
    assert "copying 3 of 3 contents, about " in pulled.stderr
    assert pulled.stdout.startswith("copied ")
    with Library.open(home / "copy", settings=Settings()) as opened:
        path, notes = str(corpus / "bolt.mp4"), str(corpus / "notes.md")
        corpus.rename(home / "elsewhere")
        assert opened.stale_files([path, notes]) == {}, "they are on another machine"
        (home / "elsewhere").rename(corpus)
    found_here = run_rag(home, "search", "torque wrench", "--library", "copy")
    replies = (found_here, run_rag(home, "search", "torque wrench", *local))
    hits, wanted = (json.loads(reply.stdout)["results"] for reply in replies)
    assert [hit.get("path") for hit in hits] == [hit.get("path") for hit in wanted]
    (corpus / "notes.md").write_text("# Chain oil\n\nUse three drops of oil on every link.\n")
    run_rag(home, "index", "corpus", *local)
    pushed = run_rag(home, "library", "push", "local", library, "--text")
    assert pushed.stdout.startswith("copied 0 files"), pushed.stderr
    assert list(dump(address)) == list(dump(home / "local"))

    unchanged = json.loads(run_rag(home, "index", "corpus", *stored).stdout)
    assert (unchanged["unchanged"], unchanged["indexed"]) == (3, 0)
    both = (*local, "--library", library)
    monkeypatch.setenv("RAG_STORAGE__RETRIES", "0")
    bucket.intercept = lambda _: 503
    left = run_rag(home, "search", "torque wrench", *both)
    assert (left.returncode, left.stderr.count("left out: ")) == (3, 1)
    assert f"rag: left out: {library}" in left.stderr
    assert json.loads(left.stdout)["results"][0]["path"] == str(corpus / "bolt.mp4")
    (home / "q.jsonl").write_text('{"_id": "1", "text": "torque wrench"}\n')
    stopped = run_rag(home, "search", "--queries", "q.jsonl", "--run", "o.trec", *both)
    assert (stopped.returncode, (home / "o.trec").exists()) == (1, False)
    bucket.intercept = lambda _: None
    mistyped = run_rag(home, "search", "torque wrench", *local, "--library", "s3://no-such-bucket/library")
    assert (mistyped.returncode, mistyped.stderr.count("\n")) == (3, 1)
    assert mistyped.stderr.startswith("rag: left out: s3://no-such-bucket/library: there is no such bucket")
    removed = json.loads(run_rag(home, "remove", "corpus/chain.mp4", *stored).stdout)
    assert removed["paths"] == [str(corpus / "chain.mp4")]


def _timeless(text: str) -> object:
    """A reply without its seconds."""
    found = json.loads(text)
    return {key: value for key, value in found.items() if key not in {"timings", "usage"}}


@pytest.mark.parametrize("words", [("stats",), ("search", "oil"), ("index", ".")])
def test_a_store_that_cannot_be_reached_is_one_line(
    words: tuple[str, ...], tmp_path, bucket: FakeStore, monkeypatch
) -> None:
    monkeypatch.setenv("RAG_STORAGE__ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("RAG_STORAGE__ALLOW_HTTP", "true")
    monkeypatch.setenv("RAG_STORAGE__RETRIES", "0")
    done = run_rag(tmp_path, *words, "--library", f"{bucket.url}/library")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"rag: {bucket.url}/library")
    assert done.stderr.count("\n") == 1
    assert "is not reached" in done.stderr


def test_doctor_says_what_the_credentials_allow(bucket: FakeStore) -> None:
    def findings(intercept: Callable[[dict[str, Any]], int | None]) -> list[bool | None]:
        bucket.intercept = intercept
        settings = Settings(library=f"{bucket.url}/library", storage=bucket.storage)
        return [finding.ok for finding in store_findings(Session(settings, False, 0, ()))]

    def ignore_conditions(environ: dict[str, Any]) -> None:
        for name in ("HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH"):
            environ.pop(name, None)

    assert findings(lambda _: None) == [True, True]
    assert findings(lambda environ: 403 if environ["REQUEST_METHOD"] == "PUT" else None) == [True, None]
    assert findings(lambda _: 403) == [False]
    assert findings(ignore_conditions) == [True, False]
