"""Cut clips are exact to the frame, upright, and whole or not there."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from corpora.outputs import OverwritePolicy
from corpora.video.clipping import encode_clip
from corpora.video.reader import MediaReader, cut_clip
from corpora.video.stream_decoding import DamageMet, Shown, StreamDecoder
from rag.errors import DamagedFile, UsageError
from tests.fakes.synthetic import Image, read_time_code, write_video


def codes(path: Path) -> list[int | None]:
    import av

    with av.open(str(path)) as clip:
        return [read_time_code(frame.to_ndarray(format="rgb24")) for frame in clip.decode(video=0)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.ts"])
def test_the_frames_of_the_interval_and_no_other(tmp_path, name: str) -> None:
    write_video(tmp_path / name, 12, audio=True)
    cut_clip(tmp_path / name, 4.95, 7.2, tmp_path / "clip.mp4")
    # The frame on screen at 4.95 is the one of 4.9.
    assert codes(tmp_path / "clip.mp4") == list(range(49, 72))
    with MediaReader() as reader:
        probe = reader.probe(str(tmp_path / "clip.mp4"))
        samples = np.concatenate(list(reader.audio(str(tmp_path / "clip.mp4"))))
    assert probe.duration == pytest.approx(2.25, abs=0.06)
    assert probe.start == 0.0
    loud = np.flatnonzero(np.abs(samples) > 0.2) / 16000
    assert loud[0] == pytest.approx(0.05, abs=0.03)
    assert loud[loud > 0.5][0] == pytest.approx(1.05, abs=0.03)


@pytest.mark.parametrize(("start", "end"), [(1.034, 2.035), (0.968, 1.969)])
def test_times_in_milliseconds_are_the_edges_of_frames(tmp_path, start: float, end: float) -> None:
    """As of shots in JSON: the frame before or after would be seen for less than a millisecond."""
    write_video(tmp_path / "a.mp4", 4, fps=30000 / 1001)
    cut_clip(tmp_path / "a.mp4", start, end, tmp_path / "clip.mp4")
    first, last = (round(time * 30000 / 1001) for time in (start, end))
    assert codes(tmp_path / "clip.mp4") == list(range(first, last))


def test_of_two_frames_that_are_near_the_start_the_first_is_shown(tmp_path) -> None:
    """At 1000 frames a second both are half a millisecond from it."""
    write_video(tmp_path / "a.mp4", 0.03, fps=1000)
    cut_clip(tmp_path / "a.mp4", 0.0105, 0.0155, tmp_path / "clip.mp4")
    assert codes(tmp_path / "clip.mp4") == [10, 12, 13, 14]


def test_the_first_frame_is_shown_once_where_damage_comes_after_it(tmp_path, monkeypatch) -> None:
    class Damaged(StreamDecoder):
        def __iter__(self) -> Iterator[Shown]:
            for shown in super().__iter__():
                yield shown
                if self._strict and shown.time > 0.1:
                    raise DamageMet

    monkeypatch.setattr("corpora.video.stream_decoding.StreamDecoder", Damaged)
    write_video(tmp_path / "a.mp4", 0.4, fps=30000 / 1001)
    encode_clip(str(tmp_path / "a.mp4"), 0.1, 0.3, str(tmp_path / "clip.mp4"))
    assert codes(tmp_path / "clip.mp4") == [3, 4, 5, 6, 7, 8]


def circle(_: float) -> Image:
    """Round on a screen where pixels are 4/3 as wide as high."""
    rows, columns = np.mgrid[:120, :160]
    inside = ((columns - 80) * 4 / 3) ** 2 + (rows - 56) ** 2 < 40**2
    return np.where(inside, 255, 0).astype(np.uint8)[..., None].repeat(3, -1)


def is_round(image: Image) -> bool:
    rows, columns = np.nonzero(image[: image.shape[0] * 5 // 6, :, 0] > 128)
    return bool(abs(np.ptp(rows) - np.ptp(columns)) <= 2)


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_anamorphic_images_are_shown_and_cut_as_wide_as_they_are(tmp_path, name: str) -> None:
    write_video(tmp_path / name, 1, scene=circle, pixel_aspect=Fraction(4, 3))
    cut_clip(tmp_path / name, 0.2, 0.8, tmp_path / "clip.mp4")
    with MediaReader() as reader:
        for path in (tmp_path / name, tmp_path / "clip.mp4"):
            probe = reader.probe(str(path))
            image = reader.frames_at(str(path), [0.3], short_side=120).images[0]
            assert (probe.width, probe.height) == (212 if path.stem == "clip" else 213, 120)
            assert image.shape == (120, 212, 3)
            assert is_round(image)


def fields(time: float) -> Image:
    """A bar that moves 6 pixels from the one field to the other."""
    image = np.full((120, 160, 3), 30, np.uint8)
    at = round(time * 60)
    image[0:100:2, at : at + 20] = image[1:100:2, at + 6 : at + 26] = 230
    return image


def combs(image: Image) -> float:
    """How far neighbouring lines differ, where the bar is, in [0, 255]."""
    return float(np.abs(np.diff(image[10:90].astype(float).mean(-1), axis=0)).mean())


def test_interlaced_images_do_not_comb(tmp_path) -> None:
    write_video(tmp_path / "a.mp4", 2, scene=fields, interlaced=True)
    cut_clip(tmp_path / "a.mp4", 0.5, 1.5, tmp_path / "clip.mp4")
    assert combs(fields(1.0)) > 10
    with MediaReader() as reader:
        for path in (tmp_path / "a.mp4", tmp_path / "clip.mp4"):
            frames = reader.frames_at(str(path), [0.5, 0.9], short_side=120)
            assert [combs(image) < 1 for image in frames.images] == [True, True]
            assert codes(path)[0] == (0 if path.stem == "a" else 5)


def test_a_copy_for_players_has_every_frame(tmp_path) -> None:
    """Of Matroska too, which stores no time of decoding."""
    write_video(tmp_path / "a.mkv", 3, bframes=3, gop=100)
    with MediaReader() as reader:
        reader.remux(str(tmp_path / "a.mkv"), str(tmp_path / "copy.mp4"))
    assert codes(tmp_path / "copy.mp4") == list(range(30))


@pytest.mark.parametrize("audio", [False, True])
def test_the_last_frame_stays_to_the_end_of_the_file(tmp_path, audio: bool) -> None:
    times = write_video(tmp_path / "a.mp4", 6, variable_rate=True, audio=audio)
    with MediaReader() as reader:
        end = reader.probe(str(tmp_path / "a.mp4")).duration
        assert end > times[-1] + 0.5
        for start in (times[-1] + 0.3, end - 0.01):
            assert reader.frames_at(str(tmp_path / "a.mp4"), [start], short_side=64).times.tolist() == [
                times[-1]
            ]
            cut_clip(tmp_path / "a.mp4", start, end, tmp_path / "clip.mp4", OverwritePolicy(force=True))
            assert codes(tmp_path / "clip.mp4") == [len(times) - 1]
        with pytest.raises(DamagedFile):
            cut_clip(tmp_path / "a.mp4", end + 0.1, end + 0.2, tmp_path / "none.mp4")


def test_nothing_is_left_behind_when_it_fails(tmp_path) -> None:
    write_video(tmp_path / "a.mp4", 2)
    (tmp_path / "clip.mp4").write_bytes(b"old")
    with pytest.raises(DamagedFile, match="nothing between"):
        cut_clip(tmp_path / "a.mp4", 50.0, 51.0, tmp_path / "clip.mp4", OverwritePolicy(force=True))
    with pytest.raises(UsageError):
        cut_clip(tmp_path / "a.mp4", 1.0, 1.0, tmp_path / "clip.mp4")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["a.mp4", "clip.mp4"]
    assert (tmp_path / "clip.mp4").read_bytes() == b"old"
