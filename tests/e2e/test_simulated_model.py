"""The simulated model on rendered videos: frames found again, and EgoFact answered through HTTP."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

import av
import pytest
from PIL import Image

from eval.runs.runner import run_solver
from eval.simulated_model.dials import preset
from eval.simulated_model.fingerprints import FrameIndex, open_index
from eval.simulated_model.model import SimulatedModel
from eval.simulated_model.server import running
from eval.simulated_model.world import corpus_folders
from rag.settings import Settings
from tests.fakes.egofact_world import half_mini

QUERIES = 16


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulated") / "data"
    half_mini(folder).prepare(Settings())
    return folder


@pytest.fixture(scope="module")
def index(data: Path, tmp_path_factory: pytest.TempPathFactory) -> FrameIndex:
    cache = tmp_path_factory.mktemp("cache")
    first = open_index(corpus_folders([data]), cache)
    (stored,) = cache.iterdir()
    before = stored.stat().st_mtime_ns
    open_index(corpus_folders([data]), cache)
    assert stored.stat().st_mtime_ns == before
    return first


def test_frames_are_recognized_after_jpeg_and_resizing(index: FrameIndex) -> None:
    rng = random.Random(3)
    right = asked = 0
    for video in index.videos:
        with av.open(str(video.path)) as container:
            frames = [(frame.time, frame.to_image()) for frame in container.decode(video=0)]
        for time, image in rng.sample(frames, 12):
            small = image.resize((round(image.width * 336 / image.height), 336), Image.Resampling.BICUBIC)
            data = io.BytesIO()
            small.save(data, "JPEG", quality=75)
            (found,) = index.recognize([data.getvalue()])
            asked += 1
            # Alone, a frame of a pause is like one of another pause; both show the same.
            right += found is not None and video.at(time) == found.video.at(found.time)
    assert right >= 0.99 * asked


def right_of(data: Path, index: FrameIndex, out: Path, solver: str, perception: float) -> int:
    """Right answers to the first queries."""
    dials = preset("strong", {"perception": perception})
    with running(SimulatedModel(index, dials)) as server:
        reasoner = {"kind": "openai", "model": server.name, "base_url": server.base_url}
        settings = Settings.model_validate({"reasoner": reasoner})
        task = half_mini(data)
        prepared = task.prepare(settings)
        folder = out / f"{solver}-{perception}"
        run_solver(task, prepared, solver, 0, folder, data=str(data), limit=QUERIES)
    lines = (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == QUERIES
    return sum(json.loads(line)["correct"] for line in lines)


def test_what_is_perceived_decides_what_is_answered(data: Path, index: FrameIndex, tmp_path: Path) -> None:
    most, little = (right_of(data, index, tmp_path, "localized", share) for share in (0.95, 0.2))
    blind = right_of(data, index, tmp_path, "blind", 0.95)
    assert most > 0.7 * QUERIES
    assert most > little + 2
    assert most > blind + 5
