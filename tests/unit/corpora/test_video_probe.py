"""Facts of media files and of their tracks, false claims of containers, and clocks that leap."""

import os
import struct
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from av.stream import Disposition
from PIL import Image

from corpora.video.containers import LeapFilter
from corpora.video.probe import probe_file
from corpora.video.reader import MediaReader
from rag.errors import DamagedFile, UnreadableFile, UnsupportedFile
from tests.fakes.synthetic import write_video


@pytest.fixture(scope="module")
def reader() -> Iterator[MediaReader]:
    with MediaReader() as opened:
        yield opened


def test_facts_of_a_plain_file(reader: MediaReader, tmp_path) -> None:
    path = tmp_path / "a.mp4"
    words = {
        "title": "Tähe",
        "comment": "short",
        "description": "a longer text",
        "genre": "travel; food,travel",
    }
    chapters = [(0.0, 2.0, "One"), (2.0, 4.0, "Two")]
    write_video(path, 4, audio=True, language="eng", rotation=90, metadata=words, chapters=chapters)
    probe = reader.probe(str(path))
    assert (probe.width, probe.height) == (160, 120)
    assert probe.duration == pytest.approx(4.0, abs=0.05)
    assert probe.fps == pytest.approx(10.0)
    assert (probe.codec, probe.stream, probe.video_streams) == ("h264", 0, 1)
    assert (probe.audio, probe.language) == (True, "eng")
    assert (probe.title, probe.description) == ("Tähe", "a longer text")
    assert probe.tags == ("travel", "food")
    assert [(c.start, c.end, c.kind, c.text) for c in probe.chapters] == [
        (0.0, 2.0, "chapter", "One"),
        (2.0, 4.0, "chapter", "Two"),
    ]


@pytest.mark.parametrize("name", ["a.mkv", "a.webm"])
def test_a_duration_that_counts_from_zero(reader: MediaReader, tmp_path, name: str) -> None:
    rows = np.random.default_rng(0).integers(0, 255, (120, 160, 3), np.uint8)
    write_video(tmp_path / name, 8, start_offset=3.0, scene=lambda time: np.roll(rows, int(time * 10), 0))
    probe = reader.probe(str(tmp_path / name))
    assert (probe.start, probe.duration) == (pytest.approx(3.0), pytest.approx(8.0, abs=0.05))
    stream = reader.frames(str(tmp_path / name))
    assert sum(len(batch.frames.times) for batch in stream) == 16
    assert (stream.report.end, stream.report.damage) == (pytest.approx(8.0, abs=0.05), "")


def rewrite(path: Path, element: bytes, value: bytes) -> None:
    """Put another value into a Matroska element that is as long."""
    data = bytearray(path.read_bytes())
    at = data.index(element + bytes([0x80 | len(value)])) + len(element) + 1
    data[at : at + len(value)] = value
    path.write_bytes(data)


def test_a_false_duration_is_counted_again(reader: MediaReader, tmp_path) -> None:
    path = tmp_path / "a.mkv"
    write_video(path, 1)
    rewrite(path, b"\x44\x89", struct.pack(">d", 39.8 * 3600 * 1000))
    probe = reader.probe(str(path))
    assert probe.duration == pytest.approx(1.0, abs=0.05)
    stream = reader.frames(str(path))
    assert sum(len(batch.frames.times) for batch in stream) == 2
    assert stream.report.end == pytest.approx(1.0, abs=0.05)
    assert stream.report.damage == ""


def test_cover_art_is_no_video(reader: MediaReader, tmp_path) -> None:
    with av.open(str(tmp_path / "a.m4a"), "w", format="mp4") as out:
        cover = out.add_stream("png", rate=1)
        cover.width, cover.height, cover.pix_fmt = 64, 64, "rgb24"
        cover.disposition = Disposition.attached_pic
        sound = out.add_stream("aac", rate=16000, layout="mono")
        out.mux(cover.encode(av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), format="rgb24")))
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 16000), np.float32), format="fltp", layout="mono")
        frame.sample_rate = 16000
        out.mux(sound.encode(frame))
        out.mux(sound.encode(None))
    probe = reader.probe(str(tmp_path / "a.m4a"))
    assert (probe.stream, probe.video_streams, probe.width, probe.audio) == (-1, 0, 0, True)


@pytest.mark.parametrize("name", ["a.png", "a.webp", "moves.webp"])
def test_a_photograph_is_one_image_on_white(reader: MediaReader, tmp_path, name: str) -> None:
    image = Image.new("RGBA", (64, 48))
    image.paste((0, 0, 0, 255), (0, 0, 32, 48))
    image.save(tmp_path / name, save_all=name == "moves.webp", append_images=[Image.new("RGBA", (64, 48))])
    (batch,) = reader.frames(str(tmp_path / name))
    (shown,) = batch.frames.images
    assert [round(float(half.mean()), -1) for half in (shown[:, :28], shown[:, 36:])] == [0, 260]


HOSTILE = {
    "playlist.mp4": b"#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/a.ts\n",
    "list.mp4": b"ffconcat version 1.0\nfile a.mp4\n",
    "sdp.mp4": b"v=0\no=- 0 0 IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n",
    "words.mp4": b"1\n00:00:01,000 --> 00:00:02,000\nhello\n",
    "zeros.mp4": bytes(100_000),
    "image.mp4": b"\x89PNG\r\n\x1a\n" + bytes(100),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_media_file_is_refused(reader: MediaReader, tmp_path, name: str) -> None:
    (tmp_path / name).write_bytes(HOSTILE[name])
    with pytest.raises(UnsupportedFile) as problem:
        reader.probe(str(tmp_path / name))
    assert "\n" not in str(problem.value)
    assert str(problem.value).startswith(str(tmp_path / name))


def test_a_raw_image_stream_that_claims_too_much_is_named(reader: MediaReader, tmp_path) -> None:
    path = tmp_path / "giant.y4m"
    path.write_bytes(b"YUV4MPEG2 W60000 H60000 F25:1 Ip A1:1 C420\nFRAME\n" + bytes(1000))
    with pytest.raises(DamagedFile, match="its container is broken"):
        reader.probe(str(path))


def test_a_playlist_opens_nothing_else(reader: MediaReader, tmp_path) -> None:
    write_video(tmp_path / "real.ts", 1)
    (tmp_path / "a.m3u8").write_text(
        "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nreal.ts\n#EXT-X-ENDLIST\n"
    )
    with pytest.raises(UnsupportedFile, match="playlist"):
        reader.probe(str(tmp_path / "a.m3u8"))


def test_files_that_are_none(reader: MediaReader, tmp_path) -> None:
    os.mkfifo(tmp_path / "fifo.mp4")
    (tmp_path / "folder.mp4").mkdir()
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "loop.mp4").symlink_to("loop.mp4")
    for name in ("fifo.mp4", "folder.mp4", "missing.mp4", "loop.mp4"):
        with pytest.raises(UnreadableFile):
            reader.probe(str(tmp_path / name))
    with pytest.raises(DamagedFile, match="empty"):
        reader.probe(str(tmp_path / "empty.mp4"))


NAMES = [
    b"-i evil.mp4",
    b"frame%03d.mp4",
    b"concat:a|b.mp4",
    b"new\nline.mp4",
    b"not\xff\xfeutf8.mp4",
    b"pipe:0.mp4",
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_any_name_is_a_name(reader: MediaReader, tmp_path, monkeypatch, name: bytes) -> None:
    write_video(tmp_path / "plain.mp4", 1)
    path = os.fsdecode(name)
    (tmp_path / "plain.mp4").rename(tmp_path / path)
    assert reader.probe(str(tmp_path / path)).duration == pytest.approx(1.0, abs=0.05)
    # As a relative name too, from the folder that this process is in.
    monkeypatch.chdir(tmp_path)
    assert reader.probe(path).duration == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("name", ["a.mov", "a.mp4", "a.mkv", "a.mxf"])
def test_timecode_is_read_from_every_container(tmp_path, name: str) -> None:
    path = tmp_path / name
    codec = "mpeg2video" if name == "a.mxf" else ""
    write_video(path, 1, fps=25, size=(64, 48), metadata={"timecode": "10:00:00:05"}, codec=codec)
    facts = probe_file(str(path))
    assert (facts.timecode, facts.rate, facts.variable) == ("10:00:00:05", 25, False)
    assert (facts.channels, facts.sample_rate) == (0, 0)


def test_a_rate_is_exact_and_drop_frame_is_kept(tmp_path) -> None:
    path = tmp_path / "a.mov"
    write_video(path, 1, fps=30000 / 1001, size=(64, 48), metadata={"timecode": "01:00:00;02"}, audio=True)
    facts = probe_file(str(path))
    assert (facts.rate, facts.variable, facts.frames) == (Fraction(30000, 1001), False, 30)
    assert (facts.timecode, facts.channels, facts.sample_rate) == ("01:00:00;02", 1, 48000)


def test_frames_that_an_edit_list_leaves_out_are_not_counted(tmp_path) -> None:
    """As after trimming without encoding: the file has the frames from the key frame before on."""
    write_video(tmp_path / "whole.mp4", 4, fps=25, size=(64, 48), gop=100)
    with av.open(str(tmp_path / "whole.mp4")) as whole, av.open(str(tmp_path / "cut.mp4"), "w") as cut:
        video = whole.streams.video[0]
        copy = cut.add_stream_from_template(video)
        for packet in whole.demux(video):
            if packet.pts is not None and packet.dts is not None:
                shift = round(1 / packet.time_base)
                packet.pts, packet.dts, packet.stream = packet.pts - shift, packet.dts - shift, copy
                cut.mux(packet)
    assert (probe_file(f"{tmp_path}/whole.mp4").frames, probe_file(f"{tmp_path}/cut.mp4").frames) == (100, 75)


def test_milliseconds_of_a_container_are_no_variable_rate(tmp_path) -> None:
    write_video(tmp_path / "a.mkv", 12, fps=30000 / 1001, size=(32, 32))
    assert not probe_file(f"{tmp_path}/a.mkv").variable


def test_a_rewritten_file_is_probed_again(reader: MediaReader, tmp_path) -> None:
    path = tmp_path / "a.mp4"
    write_video(path, 2)
    assert reader.probe(str(path)).width == 160
    write_video(path, 4, size=(320, 240))
    frames = reader.frames_at(str(path), [3.0], short_side=240)
    assert frames.images.shape[1:3] == (240, 320)
    assert frames.times[0] >= 2.9


def test_frames_behind_a_gap_of_more_than_an_hour_are_counted(reader: MediaReader, tmp_path) -> None:
    write_video(tmp_path / "a.mkv", 8, fps=25, bframes=0, gop=25)
    with av.open(str(tmp_path / "a.mkv")) as source, av.open(str(tmp_path / "b.mkv"), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.pts is not None and packet.dts is not None:
                gap = 4000 / packet.time_base if packet.pts * packet.time_base >= 4 else 0
                packet.pts, packet.dts, packet.stream = packet.pts + gap, packet.dts + gap, stream
                target.mux(packet)
    assert reader.probe(str(tmp_path / "b.mkv")).fps == 25
    frames = reader.frames(str(tmp_path / "b.mkv"))
    list(frames)
    assert frames.report.end == 4
    assert frames.report.damage == (
        "lost about 0.04 s of 4.0 s in 1 place; 100 frames are left out: the timestamps leap ahead"
    )


@pytest.mark.parametrize(
    ("times", "kept"),
    [
        ([0.0, 1.0, 2.0], [0.0, 1.0, 2.0]),
        ([0.0, 1.0, 3000.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0]),
        ([0.0, 30.0, 95.0, 96.0, 400.0], [0.0, 30.0, 95.0, 96.0, 400.0]),
        ([0.0, 0.1, 143280.0], [0.0, 0.1]),
        ([0.0, 2.0, 1.0, 3.0], [0.0, 2.0, 1.0, 3.0]),
        ([5000.0, 5001.0], [5000.0, 5001.0]),
    ],
)
def test_leaps(times: list[float], kept: list[float]) -> None:
    clock: LeapFilter[str] = LeapFilter()
    passed = [pair for time in times for pair in clock.push(time, f"{time}")] + clock.finish()
    assert passed == [(time, f"{time}") for time in kept]
    assert sorted(clock.dropped) == sorted(set(times) - set(kept))
