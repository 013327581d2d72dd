"""Measurements filled in for a video that the library has: what goes wrong with its sound is reported."""

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from corpora.records import Shot
from corpora.video.reader import MediaReader
from indexers.soundtrack import SAMPLE_RATE
from rag.errors import UnreadableFile
from rag.indexing import IndexReport, Progress, renewing
from rag.indexing.outcomes import FileOutcomes
from rag.settings import load_settings
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


Renew = Callable[[Writer, MediaReader], list[tuple[str, str, str]]]


@pytest.fixture
def renew(monkeypatch) -> Renew:
    """Measure the sound of the first video by a reader; gives path, reason and action of each problem."""
    monkeypatch.setattr(renewing, "stage_fingerprints", lambda *_: {"shots": "off", "sound": "now"})
    monkeypatch.setattr(renewing, "_has_content", lambda _: True)
    monkeypatch.setattr(renewing, "stored_side", lambda _: 224)

    def run(writer: Writer, reader: MediaReader) -> list[tuple[str, str, str]]:
        monkeypatch.setattr(renewing, "open_reader", lambda _: reader)
        outcomes = FileOutcomes(writer, Progress(), IndexReport())
        ready, settings = [video(1).video_id], load_settings()
        assert renewing.renew_videos(writer, ready, settings, outcomes, Progress(), reembed=False)
        return [(each.path, each.reason, each.action) for each in outcomes.result.problems]

    return run


def test_sound_that_ends_early_is_reported_and_what_was_measured_is_kept(tmp_path, renew: Renew) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    path, video_id = video(1).path, video(1).video_id
    with Writer.open(tmp_path / "lib") as writer:
        problems = renew(writer, Torn())
        assert writer.stage_fingerprints()[video_id]["sound"] == "now"
    assert problems == [
        (path, "sound not measured to its end: the rest cannot be decoded", "measured what is there")
    ]
    with Reader.open(tmp_path / "lib") as library:
        track = library.sound_track(video_id)
        assert len(track.classes) == 4


def test_a_stopped_run_leaves_its_measurements_to_be_made(tmp_path, monkeypatch, renew: Renew) -> None:
    seen = list[str]()
    while "now" not in seen:
        library = tmp_path / str(len(seen))
        fill(library, videos=(1,), sources=())
        with Writer.open(library) as writer:
            writer.put_stages({video(1).video_id: {"frames": "1", "sound": "then"}})
        with monkeypatch.context() as patch, contextlib.suppress(Stop), Writer.open(library) as writer:
            stop_after(patch, len(seen), Database)
            renew(writer, Faint())
        with Writer.open(library) as writer:
            stages = writer.stage_fingerprints()[video(1).video_id]
        assert stages["frames"] == "1"
        seen.append(stages["sound"])
    assert {*seen[:-1]} == {"then"}


class Faint(MediaReader):
    """Of six seconds the third and the fourth are missing."""

    def audio(self, *_: Any, **__: Any) -> Iterator[NDArray[np.float32]]:
        hum = np.full(6 * SAMPLE_RATE, 0.25, np.float32)
        hum[2 * SAMPLE_RATE : 4 * SAMPLE_RATE] = np.nan
        yield hum


def test_what_is_switched_off_stays_and_what_is_missing_is_reported(tmp_path, renew: Renew) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    made = video(1)
    shot = Shot("s0", made.video_id, 0.0, 60.0, 0.0, "warm", 20.0, "live")
    with Writer.open(tmp_path / "lib") as writer:
        writer.begin_video(made)
        writer.put_measures(made.video_id, [shot], None)
        writer.finish_video(made, {"shots": "then", "sound": "off"})
        ((_, reason, _),) = renew(writer, Faint())
        stages = writer.stage_fingerprints()[made.video_id]
        assert (stages["shots"], stages["sound"]) == ("then", "now")
    assert reason.startswith("2 s of its sound are missing")
    with Reader.open(tmp_path / "lib") as library:
        assert library.shots(made.video_id) == (shot,)
        track = library.sound_track(made.video_id)
        assert [name is None for name in track.classes] == [False, False, True, True, False, False]
        assert np.isnan(track.loudness[2:4]).all()
        assert np.isfinite(track.loudness[[0, 1, 4, 5]]).all()
    assert (
        json.loads(next(line for line in dump(tmp_path / "lib") if '"sound_tracks"' in line))["loudness"][2]
        is None
    )
