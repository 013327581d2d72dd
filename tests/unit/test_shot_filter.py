"""What a filter on shots lets through, and how the tables beneath it are kept."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from rag.errors import LibraryError
from rag.records import AudioClass, Shot, ShotFilter, SoundTrack
from rag.retrieval.shots import allowed_spans, resolved, sounding_spans
from rag.store.database import Database
from rag.store.dump import dump
from rag.store.layout import Layout
from rag.store.measures import MEASURED_TABLES, Fingerprint
from rag.store.meta_table import MetaRows
from rag.store.reading import Reader
from rag.store.records import Where
from rag.store.writing import Writer
from tests.store_material import META, clip_frames, fill, unit, video

SOUNDS: tuple[AudioClass, ...] = (
    *["speech"] * 10,
    *["music"] * 20,
    *["speech"] * 5,
    *["silence"] * 25,
)


def shot(n: int, index: int, start: float, end: float, tone: str, style: str) -> Shot:
    video_id = video(n).video_id
    figures = (float(n), 1.0, 50.0, 5.0, 2.0)
    return Shot(f"{video_id}:s{index:05d}", video_id, start, end, start, tone, *figures, style)  # type: ignore[arg-type]  # a literal


def shots_of(n: int) -> list[Shot]:
    return [shot(n, 0, 0, 20, "warm", "live"), shot(n, 1, 20, 60, "cold" if n == 1 else "neutral", "2d")]


def measure(folder: Path, n: int) -> None:
    """Measure a video of `fill` as `rag index` does with one that it has already."""
    with Writer.open(folder) as writer:
        made = writer.video(video(n).video_id)
        writer.begin_video(made)
        mark = Fingerprint(made.video_id, np.arange(3.0), np.full((3, 18, 32), n, np.uint8))
        track = SoundTrack(made.video_id, SOUNDS, np.full(60, -20.5, np.float32))
        writer.put_measures(made.video_id, shots_of(n), track, mark)
        writer.finish_video(made, {"frames": "1", "shots": "x"})


def measured(folder: Path) -> Path:
    fill(folder, videos=(1, 2), sources=(1,))
    measure(folder, 1)
    measure(folder, 2)
    return folder


def test_what_was_measured_is_read_back(tmp_path: Path) -> None:
    with Reader.open(measured(tmp_path / "lib")) as reader:
        assert reader.shots(video(1).video_id) == tuple(shots_of(1))
        track = reader.sound_track(video(2).video_id)
        assert track is not None
        assert (track.classes, track.loudness.tolist()) == (SOUNDS, [-20.5] * 60)
        mark = reader.fingerprint(video(2).video_id)
        assert mark is not None
        assert mark.pictures.shape == (3, 18, 32)
        assert mark.pictures.min() == 2


def test_measuring_twice_is_measuring_once_and_removal_leaves_nothing(tmp_path: Path) -> None:
    lib = measured(tmp_path / "lib")
    before = list(dump(lib))
    measure(lib, 1)
    assert list(dump(lib)) == before
    with Writer.open(lib) as writer:
        writer.remove_paths([video(1).path, video(2).path])
    left = {json.loads(line)["table"] for line in dump(lib)}
    assert not left & set(MEASURED_TABLES)


def test_a_video_that_is_not_ready_shows_no_shots(tmp_path: Path) -> None:
    lib = measured(tmp_path / "lib")
    with Writer.open(lib) as writer:
        writer.begin_video(video(1))
    with Reader.open(lib) as reader:
        assert reader.shots(video(1).video_id) == ()
        assert reader.sound_track(video(1).video_id) is None


def test_frame_vectors_come_in_order_of_time(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    with Writer.open(tmp_path / "lib") as writer:
        times, rows = writer.frame_vectors(video(1).video_id)
    assert len(times) == len(clip_frames(1, 0).times) + len(clip_frames(1, 1).times)
    assert (np.diff(times) > 0).all()
    assert np.abs(rows[0] - clip_frames(1, 0).vectors[0]).max() < 1e-3


def test_stretches_of_one_sound_join_over_short_gaps() -> None:
    classes: list[AudioClass] = ["music", "music", "ambient", "music"]
    classes += ["silence", "silence", "silence", "music"]
    assert sounding_spans(classes, "music") == [(0, 4), (7, 8)]
    assert sounding_spans(classes, "speech") == []


def test_conditions_meet_in_time(tmp_path: Path) -> None:
    with Reader.open(measured(tmp_path / "lib")) as reader:

        def allowed(**asked: object) -> list[tuple[float, float]]:
            wanted = ShotFilter(**asked)  # type: ignore[arg-type]  # one stands for many
            return allowed_spans(reader, video(1).video_id, wanted, None, lambda _: [])

        assert allowed(tone="warm") == [(0, 20)]
        assert allowed(audio="speech") == [(0, 10), (30, 35)]
        assert allowed(audio="music") == [(10, 20), (20, 30)]
        assert allowed(tone="cold", audio="music") == [(20, 30)]
        assert allowed(tone="warm", style="2d") == []


def test_a_search_sees_only_what_the_filter_lets_through(tmp_path: Path) -> None:
    with Reader.open(measured(tmp_path / "lib")) as reader:
        cold = resolved(Where(shots=ShotFilter(tone="cold")), reader, None, lambda _: [])
        assert cold.spans == {video(1).video_id: ((20.0, 60.0),)}
        query = unit(9, 16)
        found = reader.search_clips(query, 10, cold)
        assert {hit.key for hit in found} == {clip_frames(1, k).clip.clip_id for k in (0, 1)}
        late = dataclasses.replace(cold, spans={video(1).video_id: ((30.0, 60.0),)})
        assert [hit.key for hit in reader.search_clips(query, 10, late)] == [clip_frames(1, 1).clip.clip_id]
        assert reader.match_evidence("number", 10, cold) == reader.match_evidence("number", 1, cold)
        (kept,) = reader.spans([hit.key for hit in reader.match_evidence("number", 10, cold)])
        assert (kept.video_id, kept.start) == (video(1).video_id, 20.0)
        small = resolved(Where(shots=ShotFilter(min_height=49)), reader, None, lambda _: [])
        assert (small.spans, reader.search_clips(query, 10, small)) == ({}, [])


def test_a_library_without_measurements_says_what_to_do(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    with Reader.open(tmp_path / "lib") as reader:
        for wanted in (ShotFilter(tone="warm"), ShotFilter(audio="music")):
            with pytest.raises(LibraryError, match="run rag index on its folders again"):
                resolved(Where(shots=wanted), reader, None, lambda _: [])
        with pytest.raises(LibraryError, match="rag index --reembed"):
            resolved(Where(shots=ShotFilter(after="a lamp")), reader, None, lambda _: [])
        assert resolved(Where(), reader, None, lambda _: []) == Where()


def test_a_library_of_the_first_schema_stays_readable_and_is_brought_up_to_date(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    db = Database(Layout(tmp_path / "lib"))
    for name in MEASURED_TABLES:
        db.drop(name)
    db.overwrite("meta", MetaRows(1, dataclasses.replace(META, schema=1, library_id="x")).table())
    with Reader.open(tmp_path / "lib") as reader:
        assert len(reader.videos()) == 1
        assert reader.shots(video(1).video_id) == ()
        assert reader.sound_track(video(1).video_id) is None
        assert reader.fingerprint(video(1).video_id) is None
        assert reader.search_clips(unit(9, 16), 5)
    with Writer.open(tmp_path / "lib") as writer:
        assert writer.meta is not None
        assert writer.meta.schema == 2
    measure(tmp_path / "lib", 1)
    with Reader.open(tmp_path / "lib") as reader:
        assert len(reader.shots(video(1).video_id)) == 2
