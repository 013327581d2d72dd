"""Shots and sound through `rag index`, and filters on them."""

import json
from pathlib import Path

import pytest

from eval.workbench.sound import story_sound
from eval.workbench.story import plan_clip
from eval.workbench.video import Render, clip_frames, write_video
from indexers.models.lookup import specialised_encoder_warning
from rag._cli.main import main
from rag.indexing import index
from rag.indexing.report import Progress
from rag.library import Library
from rag.records import ShotFilter
from rag.settings import Settings, load_settings

pytestmark = pytest.mark.usefixtures("tiny_text")


@pytest.fixture(scope="module")
def videos(tmp_path_factory) -> Path:
    """Two videos of five seconds under lights that differ, and their own light as their names."""
    folder = tmp_path_factory.mktemp("videos")
    for light in ("warm", "cold"):
        seed = next(k for k in range(100) if plan_clip(k, "dev", duration=5).light == light)
        story, render = plan_clip(seed, "dev", duration=5), Render(180, 5)
        write_video(folder / f"{light}.mp4", clip_frames(story, render), iter([story_sound(story)]), render)
    return folder


def settings(library: Path, **flags: object) -> Settings:
    always: dict[str, object] = {
        "ocr.mode": "off",
        "asr.mode": "off",
        "encoder.image": "bundled",
        "library": library,
    }
    return load_settings(flags={**always, **flags})


class Notes(Progress):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture(scope="module")
def library(videos: Path, tmp_path_factory) -> Path:
    folder, said = tmp_path_factory.mktemp("measured") / "library", Notes()
    index([videos], settings=settings(folder), progress=said)
    assert said.lines.count(specialised_encoder_warning("bundled")) == 1, "it knows nothing else"
    return folder


def test_a_tone_finds_its_video_alone(library: Path) -> None:
    with Library.open(settings=settings(library)) as opened:
        for light in ("warm", "cold"):
            hits = opened.search("a person at work", where=ShotFilter(tone=light))
            assert [Path(hit.path).stem for hit in hits] == [light]
            (hit,) = hits
            shot = opened.shot_at(hit.video_id, hit.start)
            assert (shot.tone, shot.start, shot.end) == (light, 0.0, 5.0)
            track = opened.sound_track(hit.video_id)
            assert len(track.classes) == len(track.loudness) == 5


def test_the_command_filters_and_reports(library: Path, capsys) -> None:
    def rag(*words: str) -> str:
        assert main([*words, "--library", str(library)]) == 0
        return capsys.readouterr().out

    found = rag("search", "a person at work", "--tone", "warm", "--min-height", "100", "--json")
    (hit,) = json.loads(found)["results"]
    assert (Path(hit["path"]).stem, hit["shot"]["tone"]) == ("warm", "warm")
    listed = rag("shots", "cold.mp4", "--text")
    assert "cold" in listed
