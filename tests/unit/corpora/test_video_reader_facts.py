"""A long-lived reader does not take a file that was written again for the one it knew."""

from __future__ import annotations

from pathlib import Path

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
