"""`rag show` on a real video: the sheet shows the window's own frames, the clip is the window."""

import json
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from rag._cli.main import main
from rag._cli.show import sheet_name
from rag.library import Library
from rag.records import VideoCitation
from tests.fakes.libraries import OneVideoLibrary
from tests.fakes.synthetic import write_video


@pytest.fixture
def video(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eight seconds: two red, two green, two blue, two grey."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "my video.mp4"
    monkeypatch.setattr(Library, "open", lambda *_, **__: OneVideoLibrary(path))
    return path


def _write(path: Path) -> None:
    write_video(path, 8, size=(320, 240))


def test_a_sheet_and_a_clip(video: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(video)
    assert main(["show", "my video.mp4@2-6", "--frames", "4", "--clip", "cut.mp4", "--out", "s.png"]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert (shape["schema"], shape["sheet"], shape["clip"]) == ("rag.show/1", "s.png", "cut.mp4")
    with Image.open("s.png") as sheet:
        assert sheet.width == 1200
    with av.open("cut.mp4") as clip:
        frames = sum(1 for _ in clip.decode(video=0))
    assert frames == 40


def test_the_frames_are_those_of_the_window(video: Path) -> None:
    _write(video)
    assert main(["show", "my video.mp4@0-2", "--frames", "1"]) == 0
    assert main(["show", "my video.mp4@2-4", "--frames", "1"]) == 0
    middles = []
    for name in ("my_video_0-2.png", "my_video_2-4.png"):
        with Image.open(name) as sheet:
            pixels = np.asarray(sheet).reshape(-1, 3)
            middles.append(np.median(pixels[np.ptp(pixels, axis=1) > 60], axis=0))
    assert np.abs(middles[0] - middles[1]).max() > 60


def test_a_video_that_is_gone_is_said_and_1(video: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "my video.mp4@0-2"]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["sheet"] is None
    assert said.err.count("\n") == 1
    assert said.err.count(str(video)) == 1
    assert "index the folder it was moved to" in said.err


def test_the_ending_of_a_name_is_that_of_what_is_written(
    video: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(video)
    assert main(["show", "x@0-2", "--out", "s.jpg"]) == 2
    assert "s.jpg: a PNG image is written, whose name ends in .png" in capsys.readouterr().err
    assert main(["show", "x@0-2", "--clip", "c.mkv"]) == 2
    assert "c.mkv: an MP4 clip is written, whose name ends in .mp4" in capsys.readouterr().err
    assert main(["show", "x@0-2", "--out", "sheet_0.5", "--frames", "1"]) == 0


def test_names_of_sheets_are_plain() -> None:
    name = b"caf\xe9/a b:\n%03d.mp4".decode("utf-8", "surrogateescape")
    odd = VideoCitation(name, "0123456789abcdef", 1.5, 6, 1)
    assert sheet_name(odd) == "a_b_03d_1.5-6.png"
    assert sheet_name(VideoCitation("...mp4", "0123456789abcdef", 0, 5, 1)).endswith("_0-5.png")
