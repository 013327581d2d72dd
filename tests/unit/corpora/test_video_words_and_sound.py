"""Embedded subtitles as plain text, and sound as one line of samples with true times."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest
from av.stream import Disposition
from numpy.typing import NDArray

from corpora.video.reader import MediaReader
from eval.workbench.video import add_subtitles, subtitle_packet
from rag.errors import UnsupportedFile
from tests.fakes.synthetic import damage, write_video


@pytest.fixture(scope="module")
def reader() -> Iterator[MediaReader]:
    with MediaReader() as opened:
        yield opened


@pytest.mark.parametrize(
    ("name", "codec"), [("a.mp4", "mov_text"), ("a.mkv", "subrip"), ("a.mkv", "ass"), ("a.webm", "webvtt")]
)
def test_cues_are_plain_text_at_their_times(reader: MediaReader, tmp_path, name: str, codec: str) -> None:
    cues = [(0.5, 1.25, "Hello <i>you</i>"), (1.5, 2.0, "two\nlines"), (2.0, 2.9, r"{\an8}ünïcode & more")]
    write_video(tmp_path / name, 3, subtitles=cues, subtitle_codec=codec)
    texts = reader.texts(str(tmp_path / name))
    assert [text.text for text in texts] == ["Hello you", "two lines", "ünïcode & more"]
    assert [text.start for text in texts] == pytest.approx([start for start, _, _ in cues], abs=2e-3)
    assert [text.end for text in texts] == pytest.approx([end for _, end, _ in cues], abs=2e-3)
    assert {text.kind for text in texts} == {"subtitle"}


def test_of_a_language_the_full_subtitles_are_read(reader: MediaReader, tmp_path) -> None:
    forced, default, impaired = Disposition.forced, Disposition.default, Disposition.hearing_impaired
    tracks = (
        ("eng", "English (Forced)", default | forced),
        ("eng", "English", Disposition(0)),
        ("eng", "", impaired),
        ("fre", "Signs", forced),
        ("", "Deutsch [SDH]", default),
        ("", "Commentary", Disposition(0)),
        ("ita", "Pictures", Disposition(0)),
    )
    path = tmp_path / "a.mkv"
    with av.open(str(path), "w") as out:
        sound = out.add_stream("flac", rate=16000, layout="mono")
        for language, title, marks in tracks:
            stream = add_subtitles(out, "dvd_subtitle" if title == "Pictures" else "subrip")
            stream.metadata.update({"language": language or "und", "title": title})
            stream.disposition = marks
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 32000), np.int16), format="s16", layout="mono")
        frame.sample_rate, frame.pts = 16000, 0
        for packet in (*sound.encode(frame), *sound.encode(None)):
            out.mux(packet)
        for at, stream in enumerate(out.streams.subtitles[:-1], 1):
            out.mux(subtitle_packet(stream, 0.5, 1.5, f"stream {at}"))
    assert [f"{track.source}: {track}; {track.unread}" for track in reader.probe(str(path)).subtitles] == [
        "stream 1: English, forced; stream 2 is, which has the same language",
        "stream 2: English; ",
        "stream 3: English, for the hearing impaired; stream 2 is, which has the same language",
        "stream 4: French, forced; ",
        "stream 5: German, for the hearing impaired; ",
        "stream 6: ; ",
        "stream 7: Italian; it is stored as pictures",
    ]
    found = [(text.text, str(text.track)) for text in reader.texts(str(path))]
    assert found == [
        ("stream 2", "English"),
        ("stream 4", "French, forced"),
        ("stream 5", "German, for the hearing impaired"),
        ("stream 6", ""),
    ]


def test_cues_of_before_the_clock_are_cut_off(reader: MediaReader, tmp_path) -> None:
    cues = [(0.5, 1.25, "over"), (2.5, 4.0, "cut"), (6.0, 7.5, "whole")]
    write_video(tmp_path / "a.mkv", 8, start_offset=3.0, subtitles=cues)
    texts = reader.texts(str(tmp_path / "a.mkv"))
    assert [(text.start, text.end, text.text) for text in texts] == [(0.0, 1.0, "cut"), (3.0, 4.5, "whole")]


def sound(reader: MediaReader, path: Path) -> NDArray[np.float32]:
    blocks = list(reader.audio(str(path)))
    assert {block.dtype for block in blocks} == {np.dtype(np.float32)}
    return np.concatenate(blocks)


def beeps(samples: NDArray[np.float32]) -> list[float]:
    """When the sound sets in, in seconds."""
    loud = np.abs(samples) > 0.2
    starts = np.flatnonzero(loud)
    return [float(starts[0]) / 16000] + [float(b) / 16000 for a, b in pairwise(starts) if b - a > 4000]


@pytest.mark.parametrize(("name", "offset"), [("a.mp4", 0.5), ("a.webm", 0.0), ("a.ts", 0.5)])
def test_sound_is_at_its_time(reader: MediaReader, tmp_path, name: str, offset: float) -> None:
    write_video(tmp_path / name, 4, audio=True, audio_offset=offset)
    samples = sound(reader, tmp_path / name)
    assert beeps(samples) == pytest.approx([offset + k for k in range(4)], abs=0.03)
    assert len(samples) / 16000 == pytest.approx(4 + offset, abs=0.1)


def test_sound_that_comes_before_the_image(reader: MediaReader, tmp_path) -> None:
    write_video(tmp_path / "a.mp4", 3, audio=True, start_offset=0.7)
    assert beeps(sound(reader, tmp_path / "a.mp4")) == pytest.approx([0, 1, 2], abs=0.03)


@pytest.mark.slow
def test_damaged_packets_can_be_distinguished_from_silence(reader: MediaReader, tmp_path) -> None:
    write_video(tmp_path / "a.mkv", 20, audio=True, audio_offset=0.5)
    whole = np.concatenate([*reader.audio(str(tmp_path / "a.mkv"), gaps=True)])
    assert np.isfinite(whole).all()  # a late start is silence
    damage(tmp_path / "a.mkv", 0.02, seed=5)
    torn = np.concatenate([*reader.audio(str(tmp_path / "a.mkv"), gaps=True)])
    plain = sound(reader, tmp_path / "a.mkv")
    missing = np.isnan(torn)
    assert 0.005 < missing.mean() < 0.5
    assert (plain[missing] == 0).all()
    assert (plain[~missing] == torn[~missing]).all()


def test_no_sound_is_said(reader: MediaReader, tmp_path) -> None:
    write_video(tmp_path / "a.mp4", 1)
    with pytest.raises(UnsupportedFile, match="no sound"):
        sound(reader, tmp_path / "a.mp4")


def test_a_stretch_of_sound_is_cut_out_of_the_whole(reader: MediaReader, tmp_path) -> None:
    path = tmp_path / "a.mp4"
    write_video(path, 4, audio=True)
    whole = sound(reader, path)
    assert np.array_equal(reader.audio_between(str(path), 0.5, 2.5), whole[8000:40000])
    assert np.array_equal(reader.audio_between(str(path), 3.0, 99.0), whole[48000:])
    write_video(tmp_path / "mute.mp4", 1)
    assert len(reader.audio_between(str(tmp_path / "mute.mp4"), 0.0, 1.0)) == 0


def write_tracks(path: Path) -> None:
    """Three tracks, each of its own level: English, German, and French, which is marked default."""
    with av.open(str(path), "w") as out:
        for language, marked in (("eng", 0), ("ger", 0), ("fre", 1)):
            stream = out.add_stream("flac", rate=16000, layout="mono")
            stream.metadata["language"] = language
            stream.disposition = Disposition(marked)
        for track, stream in enumerate(out.streams.audio, 1):
            level = np.full((1, 16000), track * 3000, np.int16)
            frame = av.AudioFrame.from_ndarray(level, format="s16", layout="mono")
            frame.sample_rate, frame.pts = 16000, 0
            for packet in (*stream.encode(frame), *stream.encode(None)):
                out.mux(packet)


@pytest.mark.parametrize(
    ("chosen", "heard"), [("", 3), ("1", 1), ("ger", 2), ("de-AT", 2), ("9", 3), ("spa", 3)]
)
def test_the_audio_track_that_is_chosen_is_heard(tmp_path, chosen: str, heard: int) -> None:
    write_tracks(tmp_path / "a.mkv")
    with MediaReader(audio_track=chosen) as reader:
        samples = np.concatenate(list(reader.audio(str(tmp_path / "a.mkv"))))
        language = reader.probe(str(tmp_path / "a.mkv")).language
    assert np.median(samples) * 32768 / 3000 == pytest.approx(heard, abs=0.05)
    assert language == ("eng", "ger", "fre")[heard - 1]
