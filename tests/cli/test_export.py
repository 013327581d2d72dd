"""`rag show` and `rag export` on real videos: sheets, clips, and files for editing programs."""

import io
import json
import sys
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from rag._cli.main import main
from rag._cli.show import sheet_name
from rag.errors import LibraryNotFound, UsageError
from rag.library import Library
from rag.records import VideoCitation
from tests.fakes.libraries import OneVideoLibrary
from tests.fakes.synthetic import write_video


@pytest.fixture
def colours(tmp_path, monkeypatch) -> Path:
    """Eight seconds: two red, two green, two blue, two grey."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "my video.mp4"
    monkeypatch.setattr(Library, "open", lambda *_, **__: OneVideoLibrary(path))
    return path


def _write(path: Path) -> None:
    write_video(path, 8, size=(320, 240))


def test_a_sheet_and_a_clip(colours: Path, capsys) -> None:
    _write(colours)
    assert main(["show", "my video.mp4@2-6", "--frames", "4", "--clip", "cut.mp4", "--out", "s.png"]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert (shape["schema"], shape["sheet"], shape["clip"]) == ("rag.show/1", "s.png", "cut.mp4")
    with Image.open("s.png") as sheet:
        assert sheet.width == 1200
    with av.open("cut.mp4") as clip:
        frames = sum(1 for _ in clip.decode(video=0))
    assert frames == 40


def test_the_frames_are_those_of_the_window(colours: Path) -> None:
    _write(colours)
    assert main(["show", "my video.mp4@0-2", "--frames", "1"]) == 0
    assert main(["show", "my video.mp4@2-4", "--frames", "1"]) == 0
    middles = []
    for name in ("my_video_0-2.png", "my_video_2-4.png"):
        with Image.open(name) as sheet:
            pixels = np.asarray(sheet).reshape(-1, 3)
            middles.append(np.median(pixels[np.ptp(pixels, axis=1) > 60], axis=0))
    assert np.abs(middles[0] - middles[1]).max() > 60


def test_a_video_that_is_gone_is_said_and_1(colours: Path, capsys) -> None:
    assert main(["show", "my video.mp4@0-2"]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["sheet"] is None
    assert said.err.count("\n") == 1
    assert said.err.count(str(colours)) == 1
    assert "index the folder it was moved to" in said.err


def test_the_ending_of_a_name_is_that_of_what_is_written(colours: Path, capsys) -> None:
    _write(colours)
    assert main(["show", "x@0-2", "--out", "s.jpg"]) == 2
    assert "s.jpg: a PNG image is written; name it s.png" in capsys.readouterr().err
    assert main(["show", "x@0-2", "--clip", "c.mkv"]) == 2
    assert "c.mkv: an MP4 clip is written; name it c.mp4" in capsys.readouterr().err
    assert main(["show", "x@0-2", "--out", "sheet_0.5", "--frames", "1"]) == 0


def test_names_of_sheets_are_plain() -> None:
    name = b"caf\xe9/a b:\n%03d.mp4".decode("utf-8", "surrogateescape")
    odd = VideoCitation(name, "0123456789abcdef", 1.5, 6, 1)
    assert sheet_name(odd) == "a_b_03d_1.5-6.png"
    assert sheet_name(VideoCitation("...mp4", "0123456789abcdef", 0, 5, 1)).endswith("_0-5.png")


@pytest.fixture
def video(tmp_path, monkeypatch) -> Path:
    """Four seconds of 25 frames, from 10:00:00:00 on."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "my video.mov"
    write_video(path, 4, fps=25, size=(64, 48), metadata={"timecode": "10:00:00:00"})
    monkeypatch.setattr(Library, "open", lambda *_, **__: OneVideoLibrary(path, 4.0))
    return path


def _pipe(monkeypatch: pytest.MonkeyPatch, document: object) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(document).encode())))


def _found(path: Path, video_id: str = "v1") -> dict[str, object]:
    hit = {"kind": "video", "path": str(path), "video_id": video_id, "start": 1.0, "end": 2.0, "score": 0.5}
    return {"schema": "rag.search/1", "query": "a lamp", "results": [hit, {"kind": "passage"}]}


def test_citations_become_a_list(video: Path, capsys) -> None:
    assert main(["export", "x@1-2", "my video.mov@2-3", "--out", "cut.edl", "--handles", "0.2"]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert (shape["schema"], shape["format"], shape["selects"]) == ("rag.export/1", "edl", 2)
    assert (shape["path"], shape["notes"], shape["skipped"]) == ("cut.edl", [], [])
    text = Path("cut.edl").read_text(encoding="utf-8")
    assert "001  MYVIDEO  V     C        10:00:00:20 10:00:02:05 01:00:00:00 01:00:01:10" in text
    assert f"* FROM CLIP NAME: {video.name}" in text


@pytest.mark.usefixtures("video")
def test_a_window_that_ends_after_its_video_is_cut_and_that_is_said(capsys) -> None:
    assert main(["export", "x@1-2", "x@2-200", "--format", "vtt"]) == 0
    assert capsys.readouterr().err == "rag: x@2-200: cut to the end of its video, at 4 s\n"
    assert "00:00:02.000 --> 00:00:04.000" in Path("selects.vtt").read_text(encoding="utf-8")


def test_one_file_goes_to_standard_output(video: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["export", "x@1-2", "--format", "csv", "--out", "-"]) == 0
    streamed = capsysbinary.readouterr().out
    assert main(["export", "x@1-2", "--out", "selects.csv"]) == 0
    assert streamed == Path("selects.csv").read_bytes()
    assert main(["export", "x@1-2", "--format", "clips", "--out", "-"]) == 2
    assert b"clips are several files; name a folder or a .zip file" in capsysbinary.readouterr().err
    assert {path.name for path in video.parent.iterdir()} == {video.name, "selects.csv"}


def test_a_search_is_piped(video: Path, monkeypatch, capsys) -> None:
    _pipe(monkeypatch, _found(video))
    assert main(["export", "--from", "-", "--text"]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == ("selects.otio: 1 window\n", "")
    made = json.loads(Path("selects.otio").read_text(encoding="utf-8"))
    assert made["tracks"]["children"][0]["children"][0]["name"] == "a lamp"


def test_json_needs_no_library(video: Path, monkeypatch) -> None:
    def none(*_: object, **__: object) -> None:
        raise LibraryNotFound("no library here")

    monkeypatch.setattr(Library, "open", none)
    Path("found.json").write_text(json.dumps(_found(video)), encoding="utf-8")
    assert main(["export", "--from", "found.json", "--format", "vtt"]) == 0
    assert "00:00:01.000 --> 00:00:02.000\na lamp" in Path("selects.vtt").read_text(encoding="utf-8")


def test_a_missing_video_is_skipped_and_3(video: Path, capsys) -> None:
    lines = [json.dumps(_found(video)), json.dumps(_found(Path("gone.mp4"), ""))]
    Path("found.json").write_text("\n".join(lines), encoding="utf-8")
    assert main(["export", "--from", "found.json", "--format", "vtt"]) == 3
    said = capsys.readouterr()
    assert json.loads(said.out)["skipped"][0]["path"] == "gone.mp4"
    assert said.err == "rag: gone.mp4: cannot be read: no such file or directory; skipped\n"
    Path("found.json").write_text(json.dumps(_found(Path("gone.mp4"), "")), encoding="utf-8")
    assert main(["export", "--from", "found.json", "--format", "csv"]) == 1
    assert not Path("selects.csv").exists()


def test_json_of_a_video_that_another_one_replaced_is_refused(video: Path, monkeypatch, capsys) -> None:
    """Once the file is indexed again, the library has no video with the old id, and another one there."""

    def unknown(*_: object) -> str:
        raise UsageError("no such video in the library")

    monkeypatch.setattr(OneVideoLibrary, "video_id", unknown)
    Path("found.json").write_text(json.dumps(_found(video, "v0")), encoding="utf-8")
    assert main(["export", "--from", "found.json", "--format", "vtt"]) == 2
    assert "another video is there than was found; search again" in capsys.readouterr().err
    assert not Path("selects.vtt").exists()


def test_wrong_usage_is_one_line(video: Path, monkeypatch, capsys) -> None:
    Path("notes.edl").write_text("mine", encoding="utf-8")
    Path("bytes.json").write_bytes(b"\xff\xfe")
    Path("found.json").write_text(json.dumps(_found(video)), encoding="utf-8")
    _pipe(monkeypatch, [])
    wrong = {
        "nothing to export": ["--from", "-"],
        "exists; name another file, or replace it with --force": ["x@1-2", "--out", "notes.edl"],
        "is no UTF-8 text": ["--from", "bytes.json"],
        "cannot be read": ["--from", "none.json"],
        "cannot be written": ["x@1-2", "--out", "notes.edl/cut.edl"],
        "is an input of this command": ["--from", "found.json", "--out", "found.json", "--format", "otio"],
        "c.mov: no format has this ending": ["x@1-2", "--out", "c.mov"],
        "c.mp4: clips are several files; name a folder": ["x@1-2", "--format", "clips", "--out", "c.mp4"],
        ".hidden: no format has this ending": ["x@1-2", "--out", ".hidden"],
    }
    for why, arguments in wrong.items():
        assert main(["export", *arguments]) == 2, why
        said = capsys.readouterr()
        assert why in said.err
        assert (said.out, said.err.count("\n")) == ("", 1)
    assert Path("notes.edl").read_text(encoding="utf-8") == "mine"
