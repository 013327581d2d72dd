"""What a filter on shots lets through, and how the tables beneath it are kept."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from corpora.records import AudioClass, Clip, Shot, SoundTrack
from rag.errors import LibraryError
from rag.records import SearchFilter, ShotFilter
from rag.retrieval.shots import CONTEXT_SECONDS, allowed_spans, browse, resolved, seen_spans, unmeasured
from rag.store.reading import Reader
from rag.store.records import ClipFrames
from rag.store.writing import Writer
from tests.fakes.store_material import clip_frames, fill, put_video, unit, video

SOUNDS: tuple[AudioClass, ...] = (*["speech"] * 10, *["music"] * 20, *["speech"] * 5, *["silence"] * 25)


def shot(n: int, index: int, start: float, end: float, tone: str, style: str) -> Shot:
    video_id = video(n).video_id
    return Shot(f"{video_id}:s{index:05d}", video_id, start, end, start, tone, float(n), style)


def shots_of(n: int) -> list[Shot]:
    return [shot(n, 0, 0, 20, "warm", "live"), shot(n, 1, 20, 60, "cold" if n == 1 else "neutral", "2d")]


def measure(folder: Path, n: int) -> None:
    """Measure a video of `fill` as `rag index` does with one that it has already."""
    with Writer.open(folder) as writer:
        track = SoundTrack(video(n).video_id, SOUNDS, np.full(60, -20.5, np.float32))
        put_video(writer, n, {"frames": "1", "shots": "x"}, shots=shots_of(n), sound=track)


def measured(folder: Path) -> Path:
    fill(folder, videos=(1, 2), sources=(1,))
    measure(folder, 1)
    measure(folder, 2)
    return folder


class PlainScale:
    """The standard score of a text at a frame is a number of the frame's vector: its first, its second."""

    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        return np.eye(2, dtype=np.float32)[[("a lamp", "a kettle").index(text) for text in texts]]

    def level_z(self, queries: NDArray[np.float32], rows: NDArray[np.float32]) -> NDArray[np.float64]:
        return np.asarray(queries @ rows.T, np.float64)


SCALE = PlainScale()


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


def test_moments_are_after_and_before_what_is_seen(tmp_path) -> None:
    with Reader.open(measured(tmp_path / "lib")) as reader:
        frames = watched(steadily(2, 6, 5.0), steadily(50, 54, 5.0))

        def allowed(**asked: str) -> list[tuple[float, float]]:
            wanted = ShotFilter(**asked)
            return allowed_spans(reader, video(1).video_id, wanted, SCALE, lambda _: frames)

        (_, lit), (boils, _) = (seen_spans(frames, text, SCALE)[0] for text in ("a lamp", "a kettle"))
        # A cut at 20 s ends every stretch.
        assert allowed(after="a lamp") == [(lit, 20.0), (20.0, min(60.0, lit + CONTEXT_SECONDS))]
        assert allowed(before="a kettle") == [(0.0, 20.0), (20.0, boils)]
        assert allowed(after="a lamp", before="a kettle", tone="warm") == [(lit, 20.0)]
        assert allowed(after="a kettle", before="a lamp") == []


def test_conditions_meet_in_time(tmp_path) -> None:
    with Reader.open(measured(tmp_path / "lib")) as reader:

        def allowed(**asked: object) -> list[tuple[float, float]]:
            wanted = ShotFilter(**asked)
            return allowed_spans(reader, video(1).video_id, wanted, None, lambda _: [])

        assert allowed(tone="warm") == [(0, 20)]
        assert allowed(audio="speech") == [(0, 10), (30, 35)]
        assert allowed(audio="music") == [(10, 20), (20, 30)]
        assert allowed(tone="cold", audio="music") == [(20, 30)]
        assert allowed(tone="warm", style="2d") == []


def test_a_search_sees_only_what_the_filter_lets_through(tmp_path) -> None:
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


def test_a_library_without_measurements_says_what_to_do(tmp_path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    with Reader.open(tmp_path / "lib") as reader:
        for wanted in (ShotFilter(tone="warm"), ShotFilter(audio="music")):
            with pytest.raises(LibraryError, match="rag remove, rag index"):
                resolved(SearchFilter(shots=wanted), reader, None, lambda _: [])
        with pytest.raises(LibraryError, match=r"rag models pull .*rag index FOLDER --reembed"):
            resolved(SearchFilter(shots=ShotFilter(after="a lamp")), reader, None, lambda _: [])
        assert resolved(SearchFilter(), reader, None, lambda _: []) == SearchFilter()


def remeasured(folder: Path, n: int, style: str, classes: tuple[AudioClass | None, ...] | None) -> None:
    """Measure a video of `fill` again, with one shot of this style and this sound."""
    with Writer.open(folder) as writer:
        levels = np.array([np.nan if name is None else -20.0 for name in classes or ()], np.float32)
        track = SoundTrack(video(n).video_id, classes, levels) if classes is not None else None
        whole = dataclasses.replace(shot(n, 0, 0, 60, "warm", "live"), style=style)
        put_video(writer, n, {"shots": "x", "sound": "x"}, shots=[whole], sound=track)


def test_what_cannot_be_judged_is_counted_with_what_helps(tmp_path) -> None:
    fill(tmp_path / "lib", videos=(1, 2, 3), sources=())
    remeasured(tmp_path / "lib", 1, "live", ("music", None, "music"))
    remeasured(tmp_path / "lib", 2, "2d", None)
    with Reader.open(tmp_path / "lib") as reader:

        def left(**asked: object) -> tuple[int, int, str]:
            found = unmeasured(SearchFilter(shots=ShotFilter(**asked)), reader)
            return found.videos, found.of, "; ".join(found.why)

        assert unmeasured(SearchFilter(), reader) is None
        assert left(min_height=1)[0] == 0
        assert left(tone="warm")[:2] == (1, 3)
        assert "rag remove, rag index" in left(tone="warm")[2]
        assert left(style="2d")[:2] == (1, 3)
        assert left(audio="music")[:2] == (3, 3)
        one = unmeasured(SearchFilter(paths=(video(2).path,), shots=ShotFilter(tone="warm")), reader)
        assert (one.videos, one.of, one.why) == (0, 1, ())


def test_a_filter_alone_lists_what_meets_it_by_video_and_time(tmp_path) -> None:
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
