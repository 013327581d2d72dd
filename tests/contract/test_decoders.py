"""One suite over every decoder that is registered: the frame given for a time is the frame of that time."""

import importlib.util
import math
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest

from corpora.entry_points import all_entry_points, load_entry_point
from corpora.testing import DecoderContract
from corpora.video.decoders import GROUP
from corpora.video.reader import MediaReader
from corpora.video.records import DecodeReport, Keyframe
from rag.errors import DamagedFile, FileProblem, UnsupportedFile
from tests.fakes.synthetic import Image, damage, read_time_code, truncate, write_video

# Writes and decodes videos.
pytestmark = pytest.mark.slow

TICK = 2e-3
"""Seconds; Matroska rounds times to the millisecond."""


class TestPyav(DecoderContract):
    """The suite that other packages run."""

    name = "pyav"


class TestDecord(DecoderContract):
    """As above."""

    name = "decord"


INSTALLED = tuple(
    name
    for name in all_entry_points(GROUP)
    if importlib.util.find_spec(load_entry_point(GROUP, name, "decoder").package) is not None
)
"""pyav and decord come with the package, decord on x86-64 Linux alone."""


def test_the_decoders_of_the_package_are_here() -> None:
    assert {"pyav", "decord"} <= set(INSTALLED)


@dataclass(frozen=True)
class Run:
    times: list[float]
    images: list[Image]
    keyframes: list[Keyframe]
    report: DecodeReport
    batches: list[int]


@pytest.fixture(scope="module", params=INSTALLED)
def reader(request) -> Iterator[MediaReader]:
    with MediaReader(request.param) as opened:
        yield opened


class Videos(Protocol):
    def __call__(self, name: str, seconds: float, **how: Any) -> tuple[Path, tuple[float, ...]]: ...


@pytest.fixture(scope="module")
def videos(tmp_path_factory) -> Videos:
    """`write_video`, once for all decoders: the path, which is not to be changed, and the frames' times."""
    made: dict[str, tuple[Path, tuple[float, ...]]] = {}

    def video(name: str, seconds: float, **how: Any) -> tuple[Path, tuple[float, ...]]:
        key = repr((name, seconds, how))
        if key not in made:
            path = tmp_path_factory.mktemp("videos") / name
            made[key] = path, write_video(path, seconds, **how)
        return made[key]

    return video


def run(reader: MediaReader, path: Path, **arguments: Any) -> Run:
    stream = reader.frames(str(path), **arguments)
    times: list[float] = []
    images: list[Image] = []
    keyframes: list[Keyframe] = []
    batches = []
    for batch in stream:
        assert batch.frames.images.dtype == np.uint8
        assert batch.frames.times.dtype == np.float64
        times += batch.frames.times.tolist()
        images += list(batch.frames.images)
        keyframes += batch.keyframes
        batches.append(len(batch.frames.times))
    return Run(times, images, keyframes, stream.report, batches)


@contextmanager
def may_refuse(reader: MediaReader) -> Iterator[None]:
    """Only the default decoder must read everything; another one may refuse, in one line that names it."""
    try:
        yield
    except FileProblem as problem:
        words = str(problem)
        assert reader.decoder != "pyav"
        assert "RAG_VIDEO__DECODER=pyav" in words
        assert "\n" not in words
        pytest.skip(words)


def moving(time: float) -> Image:
    """Never the same twice, so that no frame can stand in for another."""
    rows, columns = np.arange(120)[:, None], np.arange(160)
    wave = 128 + 80 * np.sin(columns / 9 + time * 2) + 40 * np.cos(rows / 7 - time * 3)
    return np.stack([wave, wave[::-1], 255 - wave], -1).clip(0, 255).astype(np.uint8)


def sampled_by_hand(times: tuple[float, ...], rate: float, end: float) -> list[tuple[float, int]]:
    """The rule of `corpora.video.sampling.Sampler`, grid step by grid step: (time, index of the frame)."""
    samples = []
    for step in range(math.ceil(end * rate)):
        low, high = step / rate - 1e-3, (step + 1) / rate - 1e-3
        inside = [i for i, time in enumerate(times) if low <= time < high]
        before = [i for i, time in enumerate(times) if time < low]
        if inside:
            samples.append((times[inside[0]], inside[0]))
        elif before and step / rate < end - 1e-3:
            samples.append((step / rate, before[-1]))
    return samples


KINDS: dict[str, dict[str, Any]] = {
    "plain.mp4": {},
    "plain.mkv": {"bframes": 3},
    "plain.webm": {},
    "late.mp4": {"start_offset": 0.852},
    "late_start.mkv": {"start_offset": 0.7, "audio": True},
    "variable.mp4": {"variable_rate": True},
    "mpeg4.avi": {"codec": "mpeg4"},
    "no_edit_list.mp4": {"container_options": {"use_editlist": "0"}},
    "plain.flv": {},
}


@pytest.mark.parametrize("name", KINDS)
def test_samples_are_the_rule_on_true_times(reader: MediaReader, videos: Videos, name: str) -> None:
    path, times = videos(name, 6, **KINDS[name])
    result = run(reader, path)
    expected = sampled_by_hand(times, 2.0, result.report.end)
    assert result.times == pytest.approx([time for time, _ in expected], abs=TICK)
    assert [read_time_code(image) for image in result.images] == [index for _, index in expected]
    # The last frame of a variable rate lasts as long as its container says.
    assert times[-1] < result.report.end <= times[-1] + (2.0 if "variable" in name else 0.101)
    assert result.report.damage == ""
    assert result.report.decoder == reader.decoder
    assert result.report.frames == len(result.times) == sum(result.batches)
    assert max(result.batches) <= 32


@pytest.mark.parametrize(("name", "seconds", "sound"), [("cover.mp4", 0.1, 61.0), ("long.webm", 5.0, 20.2)])
def test_the_last_image_stays_while_the_sound_goes_on(
    reader: MediaReader, videos: Videos, name: str, seconds: float, sound: float
) -> None:
    path, times = videos(name, seconds, audio=np.full(round(sound * 16000), 0.1, np.float32))
    whole = run(reader, path, keyframe_side=64)
    assert whole.report.end == pytest.approx(sound, abs=0.05)
    assert whole.report.damage == ""
    assert whole.report.frames == len(whole.times)
    held = [(time, index) for time, index in sampled_by_hand(times, 2.0, whole.report.end) if time >= seconds]
    assert whole.times[-len(held) :] == pytest.approx([time for time, _ in held])
    assert {read_time_code(image) for image in whole.images[-len(held) :]} == {len(times) - 1}
    assert whole.keyframes[-1].time == (60.0 if sound > 60 else seconds)
    start = 30.0 if sound > 30 else 10.0
    late = run(reader, path, keyframe_side=64, start=start, seek=True)
    assert late.times == [time for time in whole.times if time >= start]
    assert all(map(np.array_equal, late.images, whole.images[-len(late.images) :]))


@pytest.mark.parametrize("rotation", [90, 180])
def test_images_are_upright(reader: MediaReader, videos: Videos, rotation: int) -> None:
    path, _ = videos("a.mp4", 2, size=(160, 120), rotation=rotation)
    result = run(reader, path, short_side=96)
    assert {image.shape for image in result.images} == {(96, 128, 3)}
    assert [read_time_code(image) for image in result.images] == [0, 5, 10, 15]


def test_colours_are_rgb(reader: MediaReader, tmp_path) -> None:
    write_video(tmp_path / "a.mp4", 1, scene=[(200, 40, 90)])
    centre = run(reader, tmp_path / "a.mp4").images[0][60, 80]
    assert centre.tolist() == pytest.approx([200, 40, 90], abs=8)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("variable.mp4", {"variable_rate": True}),
        ("late.mp4", {"start_offset": 0.852, "audio": True}),
        ("hevc.mp4", {"codec": "libx265", "open_gop": True, "bframes": 3, "fps": 25}),
        ("a.ts", {}),
    ],
)
def test_a_later_start_gives_the_very_same_samples(
    reader: MediaReader, videos: Videos, name: str, how: dict[str, Any]
) -> None:
    path, _ = videos(name, 14, scene=moving, **how)
    asked: dict[str, Any] = {"short_side": 96, "keyframe_side": 120, "keyframe_reset": 4.0}
    with may_refuse(reader):
        whole = run(reader, path, **asked)
    assert len(whole.times) >= 26
    for start, seek in ((3.0, False), (3.0, True), (11.3, True)):
        late = run(reader, path, start=start, seek=seek, **asked)
        first = next(i for i, time in enumerate(whole.times) if time >= start)
        assert late.times == whole.times[first:]
        assert all(map(np.array_equal, late.images, whole.images[first:]))
        keys = [key for key in whole.keyframes if key.time >= start]
        assert [key.time for key in late.keyframes] == [key.time for key in keys]
        assert all(np.array_equal(a.image, b.image) for a, b in zip(late.keyframes, keys, strict=True))


def test_keyframes_are_the_changes_and_larger(reader: MediaReader, videos: Videos) -> None:
    path, _ = videos("a.mp4", 12, size=(320, 240), scene=["first slide", "second slide"], card_seconds=4.0)
    result = run(reader, path, short_side=120, keyframe_side=240, keyframe_reset=10.0)
    # A new slide is taken when it has come to rest: at its second sample.
    assert [key.time for key in result.keyframes] == pytest.approx([0.0, 4.5, 8.5, 10.0])
    assert {key.image.shape for key in result.keyframes} == {(240, 320, 3)}
    assert [read_time_code(key.image) for key in result.keyframes] == [0, 45, 85, 100]
    assert result.images[0].shape == (120, 160, 3)
    assert run(reader, path).keyframes == []


@pytest.mark.parametrize("name", ["late.mp4", "variable.mp4", "plain.mkv", "a.ts"])
def test_frames_at_gives_what_is_on_screen(reader: MediaReader, videos: Videos, name: str) -> None:
    path, times = videos(name, 16, **KINDS.get(name, {}))
    asked = [15.0, 0.04, 8.95, 9.2, 9.2, 3.333, 999.0]
    with may_refuse(reader):
        frames = reader.frames_at(str(path), asked, short_side=60)
    expected = [
        max([i for i, time in enumerate(times) if time <= t + TICK], default=0) for t in sorted(asked)
    ]
    assert [read_time_code(image) for image in frames.images] == expected
    assert frames.times.tolist() == pytest.approx([times[i] for i in expected], abs=TICK)


def test_frames_at_of_a_sampled_time_is_the_sampled_frame(reader: MediaReader, videos: Videos) -> None:
    path, _ = videos("a.mp4", 20, fps=30, scene=moving, open_gop=True, bframes=3)
    whole = run(reader, path, short_side=60)
    chosen = [3, 20, 21, 39]
    frames = reader.frames_at(str(path), [whole.times[i] for i in chosen], short_side=60)
    assert frames.times.tolist() == [whole.times[i] for i in chosen]
    assert all(np.array_equal(image, whole.images[i]) for image, i in zip(frames.images, chosen, strict=True))


def test_the_stream_that_ffmpeg_would_choose(reader: MediaReader, tmp_path) -> None:
    # The muxer marks the first stream as default, which counts for more than the larger image.
    write_video(tmp_path / "a.mp4", 2, size=(160, 120), second_size=(320, 240))
    with may_refuse(reader):
        codes = [read_time_code(image) for image in run(reader, tmp_path / "a.mp4").images]
    assert codes == [0, 5, 10, 15]
    assert reader.probe(str(tmp_path / "a.mp4")).stream == 0


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.ts"])
def test_a_damaged_file_gives_the_same_twice_or_one_clear_line(
    reader: MediaReader, videos: Videos, tmp_path, name: str
) -> None:
    whole, times = videos(name, 20, scene=moving)
    path = shutil.copy(whole, tmp_path / name)
    damage(path, 0.002, seed=3)
    with may_refuse(reader):
        first = run(reader, path)
    second = run(reader, path)
    assert first.times == second.times
    assert all(map(np.array_equal, first.images, second.images))
    assert first.report == second.report
    assert first.report.damage.startswith(f"lost about {first.report.lost:.2f} s of ")
    codes = [read_time_code(image) for image in first.images]
    true = [
        code is not None and code < len(times) and abs(times[code] - time) < TICK
        for code, time in zip(codes, first.times, strict=True)
    ]
    # What is predicted from lost frames is smeared, and not marked as such by any codec.
    assert sum(true) >= len(true) / 2


def test_a_file_cut_off_yields_what_is_there(reader: MediaReader, videos: Videos, tmp_path) -> None:
    whole, _ = videos("a.mp4", 20, scene=moving, container_options={"movflags": "+faststart"})
    path = shutil.copy(whole, tmp_path / "a.mp4")
    truncate(path, 0.5)
    with may_refuse(reader):
        result = run(reader, path)
    assert 5 < result.report.end < 15
    assert "of 20.0 s" in result.report.damage
    assert [read_time_code(image) for image in result.images] == [5 * k for k in range(len(result.images))]


def test_no_index_is_one_clear_line(reader: MediaReader, tmp_path) -> None:
    write_video(tmp_path / "a.mp4", 5)
    truncate(tmp_path / "a.mp4", 0.5)
    with pytest.raises(DamagedFile, match="cut off"):
        run(reader, tmp_path / "a.mp4")


def test_sound_alone_has_no_frames(reader: MediaReader, tmp_path) -> None:
    import av

    with av.open(str(tmp_path / "a.wav"), "w") as out:
        stream = out.add_stream("pcm_s16le", rate=16000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 16000), np.int16), format="s16", layout="mono")
        frame.sample_rate = 16000
        out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    with pytest.raises(UnsupportedFile, match="no images"):
        run(reader, tmp_path / "a.wav")
