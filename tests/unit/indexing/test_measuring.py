"""Measurements filled in for a video that the library has: what goes wrong with its sound is reported."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from corpora.records import Shot
from corpora.scan import FoundFile
from corpora.settings import StorageSettings, VideoSettings
from corpora.video.reader import MediaReader
from indexers.soundtrack import SAMPLE_RATE
from rag.errors import UnreadableFile
from rag.indexing.copies import local_groups
from rag.indexing.measuring import backfill_measurements
from rag.indexing.planning import Group
from rag.indexing.report import Progress
from rag.store.database import Database
from rag.store.reading import Reader
from rag.store.writing import Writer
from tests.fakes.library_dump import dump
from tests.fakes.stopped_runs import Stop, stop_after
from tests.fakes.store_material import fill, video


class Torn(MediaReader):
    """The sound of every file ends after four seconds with an error."""

    def audio(self, path: str, **_: Any) -> Iterator[NDArray[np.float32]]:
        yield np.full(4 * SAMPLE_RATE, 0.25, np.float32)
        raise UnreadableFile(f"{path}: the rest cannot be decoded")


class Problems(list[tuple[str, str, str]]):
    """What is odd about which path, and what was done."""

    def __call__(self, group: Group, reason: str, action: str) -> None:
        self.append((group.first.path, reason, action))


def held(path: str, video_id: str) -> Group:
    return Group(video_id, (FoundFile(path, "video", 1, 2, 3, (), "stamp"),), (), ())


def backfill(
    group: Group, writer: Writer, reader: MediaReader, measuring: dict[str, str], problems: Problems
) -> int:
    groups, settings = local_groups([group], StorageSettings()), VideoSettings()
    return backfill_measurements(groups, writer, reader, measuring, settings, Progress(), problems)


def test_sound_that_ends_early_is_reported_and_what_was_measured_is_kept(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    path, video_id = video(1).path, video(1).video_id
    group = held(path, video_id)
    measuring = {"shots": "off", "sound": "now"}
    with Writer.open(tmp_path / "lib") as writer, Torn() as reader:
        problems = Problems()
        assert backfill(group, writer, reader, measuring, problems) == 1
        assert writer.stage_fingerprints()[video_id]["sound"] == "now"
    assert problems == [
        (path, "sound not measured to its end: the rest cannot be decoded", "measured what is there")
    ]
    with Reader.open(tmp_path / "lib") as library:
        track = library.sound_track(video_id)
        assert track is not None
        assert len(track.classes) == 4


def test_a_stopped_backfill_leaves_its_measurements_to_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing else: a video that was moved since is not indexed again under its new name."""
    group, seen = held(video(1).path, video(1).video_id), list[str]()
    measuring = {"shots": "off", "sound": "now"}
    while "now" not in seen:
        library = tmp_path / str(len(seen))
        fill(library, videos=(1,), sources=())
        with Writer.open(library) as writer:
            writer.put_stages({video(1).video_id: {"frames": "1", "sound": "then"}})
        stopped = contextlib.suppress(Stop)
        with monkeypatch.context() as patch, stopped, Faint() as reader, Writer.open(library) as writer:
            stop_after(patch, len(seen), Database)
            backfill(group, writer, reader, measuring, Problems())
        with Writer.open(library) as writer:
            stages = writer.stage_fingerprints()[group.content_id]
        assert "frames" in stages
        seen.append(stages.get("sound", ""))
    assert {*seen[:-1]} == {"then"}


class Faint(MediaReader):
    """Of six seconds the third and the fourth are missing."""

    def audio(self, *_: Any, **__: Any) -> Iterator[NDArray[np.float32]]:
        hum = np.full(6 * SAMPLE_RATE, 0.25, np.float32)
        hum[2 * SAMPLE_RATE : 4 * SAMPLE_RATE] = np.nan
        yield hum


def test_what_is_switched_off_stays_and_what_is_missing_is_reported(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    made, group = video(1), held(video(1).path, video(1).video_id)
    shot = Shot("s0", made.video_id, 0.0, 60.0, 0.0, "warm", 20.0, "live")
    problems = Problems()
    measuring = {"shots": "off", "sound": "now"}
    with Writer.open(tmp_path / "lib") as writer, Faint() as reader:
        writer.begin_video(made)
        writer.put_measures(made.video_id, [shot], None)
        writer.finish_video(made, {"shots": "then", "sound": "off"})
        assert backfill(group, writer, reader, measuring, problems) == 1
        stages = writer.stage_fingerprints()[made.video_id]
        assert (stages["shots"], stages["sound"]) == ("then", "now")
    ((_, reason, _),) = problems
    assert reason.startswith("2 s of its sound are missing")
    with Reader.open(tmp_path / "lib") as library:
        assert library.shots(made.video_id) == (shot,)
        track = library.sound_track(made.video_id)
        assert track is not None
        assert [name is None for name in track.classes] == [False, False, True, True, False, False]
        assert np.isnan(track.loudness[2:4]).all()
        assert np.isfinite(track.loudness[[0, 1, 4, 5]]).all()
    assert (
        json.loads(next(line for line in dump(tmp_path / "lib") if '"sound_tracks"' in line))["loudness"][2]
        is None
    )
