"""Exact rates, timecode and sound format of files."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import pytest

from corpora.video.probe import read_tracks
from corpora.video.records import TrackFacts
from tests.fakes.synthetic import write_video


def _tracks(path: Path) -> TrackFacts:
    return read_tracks(str(path))


@pytest.mark.parametrize("name", ["a.mov", "a.mp4", "a.mkv", "a.mxf"])
def test_timecode_is_read_from_every_container(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    codec = "mpeg2video" if name == "a.mxf" else ""
    write_video(path, 1, fps=25, size=(64, 48), metadata={"timecode": "10:00:00:05"}, codec=codec)
    facts = _tracks(path)
    assert (facts.timecode, facts.rate, facts.variable) == ("10:00:00:05", 25, False)
    assert (facts.channels, facts.sample_rate) == (0, 0)


def test_a_rate_is_exact_and_drop_frame_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.mov"
    write_video(path, 1, fps=30000 / 1001, size=(64, 48), metadata={"timecode": "01:00:00;02"}, audio=True)
    facts = _tracks(path)
    assert facts == TrackFacts(Fraction(30000, 1001), False, 30, "01:00:00;02", 1, 48000)


def test_frames_that_an_edit_list_leaves_out_are_not_counted(tmp_path: Path) -> None:
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
    assert (_tracks(tmp_path / "whole.mp4").frames, _tracks(tmp_path / "cut.mp4").frames) == (100, 75)


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_a_variable_rate_is_found(tmp_path: Path, name: str) -> None:
    write_video(tmp_path / name, 4, fps=30, size=(64, 48), variable_rate=True)
    assert _tracks(tmp_path / name).variable
    assert _tracks(tmp_path / name).timecode == ""


def test_milliseconds_of_a_container_are_no_variable_rate(tmp_path: Path) -> None:
    write_video(tmp_path / "a.mkv", 12, fps=30000 / 1001, size=(32, 32))
    assert not _tracks(tmp_path / "a.mkv").variable
