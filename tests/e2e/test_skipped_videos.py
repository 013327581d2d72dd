"""Videos of published data that are missing or broken: skipped samples, asked once the videos are there."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpora.testing import write_numbered_video
from eval.runs.folder import read_run_folder
from eval.runs.records import skip_reason
from eval.runs.runner import run_solver
from eval.task import Prepared, Task
from eval.tasks.egofact.dataset import write_folder
from eval.tasks.egofact.records import ClipRow, PassageRow
from eval.tasks.egofact.task import open_folder as open_egofact
from eval.tasks.longvideo.task import open_folder as open_longvideo
from rag.settings import Settings
from tests.fakes.egofact_world import ONE_HOP

pytestmark = pytest.mark.usefixtures("tiny_text")


NAMES = ("CgvJqGxzRfE", "broken", "missing")
SAME = ("queries.jsonl", "samples.jsonl", "results.json")


@pytest.fixture(scope="module")
def video(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("video") / "a.mp4"
    write_numbered_video(path)
    return path


def _longvideo(folder: Path) -> Task[Any]:
    rows = [
        {"key": name, "qa": [{"uid": name, "question": "What?\n(A) red\n(B) green", "answer": "A"}]}
        for name in NAMES
    ]
    (folder / "meta.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return open_longvideo(folder)


def _egofact(folder: Path) -> Task[Any]:
    clips = [ClipRow(f"{name}-0", f"videos/{name}.mp4", 0.0, 1.0, "a room") for name in NAMES]
    queries = [
        replace(ONE_HOP, query_id=name, clip_id=f"{name}-0", window=(0.0, 0.4), anchor=(0.5, 0.9), seen=None)
        for name in NAMES
    ]
    passages = [PassageRow("p1", "Lamps", "A lamp gives light.", "lamp", "reading")]
    write_folder(folder, clips, passages, queries, {"name": "mine", "split": "test", "seed": 0})
    return open_egofact(folder)


@pytest.mark.parametrize("make", [_longvideo, _egofact])
def test_a_video_that_is_not_there_stops_nothing(make: Any, video: Path, tmp_path) -> None:
    settings = Settings.model_validate({"encoder": {"image": "none"}, "ocr": {"mode": "off"}})
    videos = tmp_path / "data" / "videos"
    videos.mkdir(parents=True)
    shutil.copy(video, videos / f"{NAMES[0]}.mp4")
    (videos / "broken.mp4").write_bytes(video.read_bytes()[:500])
    task = make(tmp_path / "data")

    def run(prepared: Prepared[Any], name: str) -> Mapping[str, bytes]:
        run_solver(task, prepared, "random", 0, tmp_path / name)
        return {file: (tmp_path / name / file).read_bytes() for file in SAME}

    prepared = task.prepare(settings)
    first = run(prepared, "run")
    reasons = [skip_reason(sample) for sample in read_run_folder(tmp_path / "run").samples]
    assert [reason.partition(": ")[0] for reason in reasons] == ["", "video unreadable", "video missing"]
    assert run(prepared, "run") == first
    for name in NAMES[1:]:
        shutil.copy(video, videos / f"{name}.mp4")
    prepared = task.prepare(settings)
    resumed = run(prepared, "run")
    assert [skip_reason(sample) for sample in read_run_folder(tmp_path / "run").samples] == ["", "", ""]
    assert run(prepared, "fresh") == resumed
