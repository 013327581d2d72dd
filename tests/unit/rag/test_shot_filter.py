"""What a filter on shots lets through, and how the tables beneath it are kept."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from corpora.records import AudioClass, Clip, Shot, SoundTrack, vertical_resolution
from rag.errors import LibraryError, UsageError
from rag.library import sound_runs
from rag.records import SearchFilter, ShotFilter
from rag.relevance import ImageScoreCalibrator
from rag.retrieval.shots import (
    CONTEXT_SECONDS,
    allowed_spans,
    browse,
    check_filter,
    resolved,
    seen_spans,
    sounding_spans,
    unmeasured,
)
from rag.store.database import Database
from rag.store.layout import Layout
from rag.store.migrations import MetaRows
from rag.store.reading import Reader
from rag.store.records import SCHEMA, ClipFrames, Fingerprint
from rag.store.schema import MEASURED_TABLES, smooth_lone_seconds
from rag.store.writing import Writer
from tests.fakes.library_dump import dump
from tests.fakes.store_material import META, clip_frames, fill, unit, video

SOUNDS: tuple[AudioClass, ...] = (*["speech"] * 10, *["music"] * 20, *["speech"] * 5, *["silence"] * 25)


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
        assert mark.images.shape == (3, 18, 32)
        assert mark.images.min() == 2


@pytest.mark.slow
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


class PlainScale:
    """The standard score of a text at a frame is a number of the frame's vector: its first, its second."""

    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        return np.eye(2, dtype=np.float32)[[("a lamp", "a kettle").index(text) for text in texts]]

    def level_z(self, queries: NDArray[np.float32], rows: NDArray[np.float32]) -> NDArray[np.float64]:
        return np.asarray(queries @ rows.T, np.float64)


SCALE = cast("ImageScoreCalibrator", PlainScale())


def watched(lamp: dict[float, float], kettle: dict[float, float], seconds: int = 60) -> list[ClipFrames]:
    """One clip, two frames a second; standard scores by time, -5 elsewhere."""
    times = np.arange(2 * seconds) / 2
    rows = np.array([[seen.get(float(time), -5.0) for seen in (lamp, kettle)] for time in times], np.float32)
    return [ClipFrames(Clip("v:0", "v", 0.0, float(seconds)), times, rows, rows[0])]


def steadily(start: float, end: float, score: float) -> dict[float, float]:
    return {float(time): score for time in np.arange(2 * start, 2 * end) / 2}


def test_what_is_seen_is_a_stretch_of_its_relevant_means() -> None:
    frames = watched(steadily(20, 26, 5.0), {})
    ((start, end),) = seen_spans(frames, "a lamp", SCALE)
    assert 18.0 <= start <= 20.0
    assert 25.5 <= end <= 27.5
    assert seen_spans(frames, "a kettle", SCALE) == []
    assert seen_spans([], "a lamp", SCALE) == []
    # Below one half the best place alone, and below a quarter none.
    assert len(seen_spans(watched(steadily(20, 30, 2.2), {}), "a lamp", SCALE)) == 1
    assert seen_spans(watched(steadily(20, 30, 1.8), {}), "a lamp", SCALE) == []


def test_hours_of_frames_are_looked_through_in_little_memory() -> None:
    frames = watched(steadily(9000, 9010, 5.0), {}, seconds=6 * 3600)
    ((start, end),) = seen_spans(frames, "a lamp", SCALE)
    assert (8998 < start < 9001, 9009 < end < 9012) == (True, True)


def test_moments_are_after_and_before_what_is_seen(tmp_path: Path) -> None:
    with Reader.open(measured(tmp_path / "lib")) as reader:
        frames = watched(steadily(2, 6, 5.0), steadily(50, 54, 5.0))

        def allowed(**asked: str) -> list[tuple[float, float]]:
            wanted = ShotFilter(**asked)  # type: ignore[arg-type]  # one type for many
            return allowed_spans(reader, video(1).video_id, wanted, SCALE, lambda _: frames)

        (_, lit), (boils, _) = (seen_spans(frames, text, SCALE)[0] for text in ("a lamp", "a kettle"))
        # A cut at 20 s ends every stretch.
        assert allowed(after="a lamp") == [(lit, 20.0), (20.0, min(60.0, lit + CONTEXT_SECONDS))]
        assert allowed(before="a kettle") == [(0.0, 20.0), (20.0, boils)]
        assert allowed(after="a lamp", before="a kettle", tone="warm") == [(lit, 20.0)]
        assert allowed(after="a kettle", before="a lamp") == []


def test_conditions_meet_in_time(tmp_path: Path) -> None:
    with Reader.open(measured(tmp_path / "lib")) as reader:

        def allowed(**asked: object) -> list[tuple[float, float]]:
            wanted = ShotFilter(**asked)  # type: ignore[arg-type]  # one type for many
            return allowed_spans(reader, video(1).video_id, wanted, None, lambda _: [])

        assert allowed(tone="warm") == [(0, 20)]
        assert allowed(audio="speech") == [(0, 10), (30, 35)]
        assert allowed(audio="music") == [(10, 20), (20, 30)]
        assert allowed(tone="cold", audio="music") == [(20, 30)]
        assert allowed(tone="warm", style="2d") == []


def test_a_search_sees_only_what_the_filter_lets_through(tmp_path: Path) -> None:
    with Reader.open(measured(tmp_path / "lib")) as reader:
        cold = resolved(SearchFilter(shots=ShotFilter(tone="cold")), reader, None, lambda _: [])
        assert cold.spans == {video(1).video_id: ((20.0, 60.0),)}
        query = unit(9, 16)
        found = reader.search_clips(query, 10, cold)
        assert {hit.key for hit in found} == {clip_frames(1, k).clip.clip_id for k in (0, 1)}
        late = dataclasses.replace(cold, spans={video(1).video_id: ((30.0, 60.0),)})
        assert [hit.key for hit in reader.search_clips(query, 10, late)] == [clip_frames(1, 1).clip.clip_id]
        assert reader.match_evidence("number", 10, cold) == reader.match_evidence("number", 1, cold)
        (kept,) = reader.spans([hit.key for hit in reader.match_evidence("number", 10, cold)])
        assert (kept.video_id, kept.start) == (video(1).video_id, 20.0)
        small = resolved(SearchFilter(shots=ShotFilter(min_height=49)), reader, None, lambda _: [])
        assert (small.spans, reader.search_clips(query, 10, small)) == ({}, [])


def test_a_library_without_measurements_says_what_to_do(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    with Reader.open(tmp_path / "lib") as reader:
        for wanted in (ShotFilter(tone="warm"), ShotFilter(audio="music")):
            with pytest.raises(LibraryError, match="run rag index on the folders again, which encodes"):
                resolved(SearchFilter(shots=wanted), reader, None, lambda _: [])
        with pytest.raises(LibraryError, match=r"rag models pull .*rag index FOLDER --reembed"):
            resolved(SearchFilter(shots=ShotFilter(after="a lamp")), reader, None, lambda _: [])
        assert resolved(SearchFilter(), reader, None, lambda _: []) == SearchFilter()


def test_without_an_image_encoder_what_measures_shots_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    with Reader.open(tmp_path / "lib") as reader:
        assert reader.meta is not None
        meta = dataclasses.replace(reader.meta, image_encoder=None)
        monkeypatch.setattr(Reader, "meta", property(lambda _: meta))
        for wanted, remedy in (
            (ShotFilter(tone="warm"), r"with on-screen text \(RAG_OCR__MODE=on\), or add an image encoder"),
            (ShotFilter(style="2d"), "sound; add an image encoder with: rag models pull"),
            (ShotFilter(audio="music"), "run rag index on the folders again, which encodes nothing again"),
        ):
            with pytest.raises(LibraryError, match=remedy):
                resolved(SearchFilter(shots=wanted), reader, None, lambda _: [])


def test_a_library_of_the_first_schema_stays_readable_and_is_brought_up_to_date(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    db = Database(Layout(tmp_path / "lib"))
    for name in MEASURED_TABLES:
        db.drop(name)
    db.replace_all("meta", "key", MetaRows(1, dataclasses.replace(META, schema=1, library_id="x")).table())
    with Reader.open(tmp_path / "lib") as reader:
        assert len(reader.videos()) == 1
        assert reader.shots(video(1).video_id) == ()
        assert reader.sound_track(video(1).video_id) is None
        assert reader.fingerprint(video(1).video_id) is None
        assert reader.search_clips(unit(9, 16), 5)
    with Writer.open(tmp_path / "lib") as writer:
        assert writer.meta is not None
        assert writer.meta.schema == SCHEMA
    measure(tmp_path / "lib", 1)
    with Reader.open(tmp_path / "lib") as reader:
        assert len(reader.shots(video(1).video_id)) == 2


def remeasured(
    folder: Path, n: int, style: str | None, classes: tuple[AudioClass | None, ...] | None
) -> None:
    """Measure a video of `fill` again, with one shot of this style and this sound."""
    with Writer.open(folder) as writer:
        made = writer.video(video(n).video_id)
        writer.begin_video(made)
        levels = np.array([np.nan if name is None else -20.0 for name in classes or ()], np.float32)
        track = SoundTrack(made.video_id, classes, levels) if classes is not None else None
        whole = dataclasses.replace(shot(n, 0, 0, 60, "warm", "live"), style=style)  # type: ignore[arg-type]  # a literal
        writer.put_measures(made.video_id, [whole], track)
        writer.finish_video(made, {"shots": "x", "sound": "x"})


def test_what_cannot_be_judged_is_counted_with_what_helps(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1, 2, 3), sources=())
    remeasured(tmp_path / "lib", 1, None, ("music", None, "music"))
    remeasured(tmp_path / "lib", 2, "2d", None)
    with Reader.open(tmp_path / "lib") as reader:

        def left(**asked: object) -> tuple[int, int, str]:
            found = unmeasured(SearchFilter(shots=ShotFilter(**asked)), reader)  # type: ignore[arg-type]  # one type for many
            assert found is not None
            return found.videos, found.of, "; ".join(found.why)

        assert unmeasured(SearchFilter(), reader) is None
        assert left(min_height=1)[0] == 0
        assert left(tone="warm")[:2] == (1, 3)
        assert "run rag index on the folders again" in left(tone="warm")[2]
        assert left(style="2d")[:2] == (2, 3)
        assert "rag models pull" in left(style="2d")[2]
        excluded = left(audio="music")
        assert excluded[:2] == (3, 3)
        assert [
            "measured in part" in excluded[2],
            "not measurable" in excluded[2],
            "not measured" in excluded[2],
        ] == [True] * 3
        one = unmeasured(SearchFilter(paths=(video(2).path,), shots=ShotFilter(tone="warm")), reader)
        assert one is not None
        assert (one.videos, one.of, one.why) == (0, 1, ())


def test_a_filter_alone_lists_what_meets_it_by_video_and_time(tmp_path: Path) -> None:
    with Reader.open(measured(tmp_path / "lib")) as reader:

        def found(where: SearchFilter) -> list[tuple[str, float, float]]:
            listed = browse(resolved(where, reader, None, lambda _: []), reader)
            return [(hit.path, hit.start, hit.end) for hit in listed]

        # In order of paths: part0, part1.
        one, other = video(2).path, video(1).path
        assert found(SearchFilter(shots=ShotFilter(style="live"))) == [(one, 0, 20), (other, 0, 20)]
        music = [(one, 10, 20), (one, 20, 30), (other, 10, 20), (other, 20, 30)]
        assert found(SearchFilter(shots=ShotFilter(audio="music"))) == music
        assert found(SearchFilter(paths=(other,), start=15, end=25, shots=ShotFilter(audio="music"))) == [
            (other, 15, 20),
            (other, 20, 25),
        ]
        assert found(SearchFilter(shots=ShotFilter(audio="ambient"))) == []


def test_a_filter_that_nothing_can_meet_is_refused() -> None:
    check_filter(SearchFilter(shots=ShotFilter(after="a lamp")))
    check_filter(SearchFilter(paths=("*.md",)), "passage")
    for wanted, kind in (
        (SearchFilter(shots=ShotFilter(tone="warm")), "passage"),
        (SearchFilter(start=0.0), "passage"),
        (SearchFilter(end=5.0), "passage"),
        (SearchFilter(shots=ShotFilter(after="  ")), "video"),
        (SearchFilter(shots=ShotFilter(before="\N{FIRE}")), "all"),
    ):
        with pytest.raises(UsageError):
            check_filter(wanted, kind)


def test_stretches_of_a_sound_end_with_the_video_and_bridge_nothing_unheard() -> None:
    assert sounding_spans(["music", "ambient", "music"], "music", 2.4) == [(0, 2.4)]
    assert sounding_spans(["music", None, "music", "music"], "music", 3.5) == [(0, 1), (2, 3.5)]
    assert sounding_spans(["music", "silence"], "silence", 1.0) == []
    track = SoundTrack(
        "v", ("music", "music", None, "silence"), np.array([-20, -22, np.nan, -70], np.float32)
    )
    assert sound_runs(track, 3.25) == [
        {"start": 0.0, "end": 2.0, "class": "music", "loudness": -21.0},
        {"start": 2.0, "end": 3.0, "class": None, "loudness": None},
        {"start": 3.0, "end": 3.25, "class": "silence", "loudness": -70.0},
    ]


def test_height_is_counted_in_lines() -> None:
    assert [vertical_resolution(*size) for size in ((1280, 720), (720, 1280), (1920, 800))] == [
        720,
        720,
        1080,
    ]


@pytest.mark.parametrize(
    ("classes", "smoothed"),
    [
        ("mmmsms", "mmmmmm"),
        ("mmmmmmmmms", "mmmmmmmmmm"),
        ("aaaaamaaaa", "aaaaaaaaaa"),
        ("sssssmssss", "sssssmssss"),
        ("aaaaasaaaa", "aaaaasaaaa"),
        ("mm-mm?mmss", "mm-mm?mmss"),
        ("smsmsm", "smsmsm"),
        ("", ""),
    ],
)
def test_a_lone_second_in_a_long_stretch_is_taken_for_what_is_around_it(classes: str, smoothed: str) -> None:
    assert smooth_lone_seconds(classes) == smoothed
    assert smooth_lone_seconds(smoothed) == smoothed
