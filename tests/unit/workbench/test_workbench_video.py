"""Corpora of the synthetic world on disk: videos, words, and going on after a stop."""

import hashlib
import json
import multiprocessing
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpora.scan import scan
from corpora.video.reader import MediaReader
from corpora.video.sidecars import read_sidecar
from eval.workbench.corpus import make_corpus, render_jobs
from eval.workbench.jobs import CorpusPlan, Job, render_job, video_jobs
from eval.workbench.video import Render
from rag.errors import RagError, UsageError

# Renders videos.
pytestmark = pytest.mark.slow

SMALL = Render(height=72, fps=5)
PLAN = CorpusPlan(seed=3, split="dev", clips=2, render=SMALL, long_minutes=(0.5,))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("workbench") / "corpus"
    assert make_corpus(folder, PLAN, workers=1) == 3
    return folder


def hashes(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


def truths(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / ".workbench" / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def of_kind(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["kind"] == kind]


def test_the_index_finds_videos_and_never_the_truth(corpus: Path) -> None:
    found = scan(corpus)
    assert (found.problems, found.ignored) == ((), ())
    assert [file.kind for file in found.files] == ["video"] * 3
    (beside,) = [path for file in found.files for path in file.sidecars]
    assert read_sidecar(str(beside)).notes == ()


def test_a_long_video_says_much_about_itself(corpus: Path) -> None:
    (line,) = of_kind(truths(corpus), "long")
    path = corpus / "videos" / line["video"]
    with MediaReader() as reader:
        probe, texts = reader.probe(str(path)), reader.texts(str(path))
    assert (probe.title, probe.description, list(probe.tags)) == (
        line["title"],
        line["description"],
        line["tags"],
    )
    assert [text.text for text in texts] == [said["text"] for said in line["lines"]]
    assert texts[0].start == pytest.approx(line["lines"][0]["start"], abs=0.01)
    assert [(c.start, c.end) for c in probe.chapters] == [(p["start"], p["end"]) for p in line["parts"]]
    beside = read_sidecar(str(path.with_suffix(".info.json")))
    assert (beside.title, list(beside.tags)) == (line["title"], line["tags"])


def test_the_same_seed_gives_the_same_bytes_and_a_rerun_writes_nothing(corpus: Path, tmp_path) -> None:
    plan = replace(PLAN, clips=1, long_minutes=())
    make_corpus(tmp_path / "again", plan, workers=1)
    again, first = hashes(tmp_path / "again"), hashes(corpus)
    assert {name: again[name] for name in again if name.startswith("videos/")}.items() <= first.items()
    before = {path: path.stat().st_mtime_ns for path in corpus.rglob("*")}
    assert make_corpus(corpus, PLAN) == 0
    assert {path: path.stat().st_mtime_ns for path in corpus.rglob("*")} == before


def test_a_stopped_run_is_taken_up_again(corpus: Path, tmp_path, monkeypatch) -> None:
    plan = replace(PLAN, long_minutes=())
    folder = tmp_path / "corpus"
    videos = video_jobs(plan)

    def make_one(video_folder: Path, job: Job) -> None:
        if job.number == 1:
            (video_folder / f".{job.name}").write_bytes(b"half a video")
            raise KeyboardInterrupt
        render_job(video_folder, job)

    monkeypatch.setattr("eval.workbench.corpus.render_job", make_one)
    with pytest.raises(KeyboardInterrupt):
        make_corpus(folder, plan, workers=1)
    assert not (folder / ".workbench" / "events.jsonl").exists()
    kept = (folder / "videos" / videos[0].name).stat().st_mtime_ns
    monkeypatch.undo()
    assert make_corpus(folder, plan, workers=1) == 1
    assert (folder / "videos" / videos[0].name).stat().st_mtime_ns == kept
    assert {path.name for path in (folder / "videos").iterdir()} == {job.name for job in videos}
    assert truths(folder) == of_kind(truths(corpus), "clip")


def test_another_corpus_in_the_same_folder_is_refused_in_one_line(corpus: Path, tmp_path) -> None:
    with pytest.raises(UsageError, match=r"made with other arguments \(seed 3\)") as refused:
        make_corpus(corpus, replace(PLAN, seed=4))
    assert "\n" not in str(refused.value)
    (tmp_path / "holiday.mp4").write_bytes(b"a real video")
    with pytest.raises(UsageError, match="not empty"):
        make_corpus(tmp_path, PLAN)
    with pytest.raises(UsageError, match="is a file; name a folder"):
        make_corpus(tmp_path / "holiday.mp4", PLAN)


def test_a_dead_worker_is_one_line(tmp_path) -> None:
    videos = video_jobs(PLAN)

    def kill_one() -> None:
        # Both, since a pool that breaks while it starts a process says so in its own words.
        while len(workers := multiprocessing.active_children()) < 2:
            time.sleep(0.01)
        workers[0].kill()

    threading.Thread(target=kill_one).start()
    with pytest.raises(RagError, match="a worker process ended unexpectedly"):
        list(render_jobs(tmp_path, videos[:2], 2))
