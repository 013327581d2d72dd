"""What a reader knows of files that were written again, and of timestamps that leap."""

from __future__ import annotations

from pathlib import Path

import av

from corpora.video.reader import MediaReader
from tests.fakes.synthetic import write_video


def test_a_rewritten_file_is_probed_again(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    write_video(path, 2)
    with MediaReader() as reader:
        assert reader.probe(str(path)).width == 160
        write_video(path, 4, size=(320, 240))
        frames = reader.frames_at(str(path), [3.0], short_side=240)
    assert frames.images.shape[1:3] == (240, 320)
    assert frames.times[0] >= 2.9


def test_frames_behind_a_gap_of_more_than_an_hour_are_counted(tmp_path: Path) -> None:
    write_video(tmp_path / "a.mkv", 8, fps=25, bframes=0, gop=25)
    with av.open(str(tmp_path / "a.mkv")) as source, av.open(str(tmp_path / "b.mkv"), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.pts is not None and packet.dts is not None:
                gap = 4000 / packet.time_base if packet.pts * packet.time_base >= 4 else 0
                packet.pts, packet.dts, packet.stream = packet.pts + gap, packet.dts + gap, stream
                target.mux(packet)
    with MediaReader() as reader:
        assert reader.probe(str(tmp_path / "b.mkv")).fps == 25
        frames = reader.frames(str(tmp_path / "b.mkv"))
        list(frames)
    assert frames.report.end == 4
    assert frames.report.damage == (
        "lost about 0.04 s of 4.0 s in 1 place; 100 frames are left out: the timestamps leap ahead"
    )
