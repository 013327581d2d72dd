"""Videos on their way into a library: the size of frames, what is lost, speech beside subtitles."""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from corpora.records import Clip, Evidence
from corpora.video.reader import MediaReader
from rag.errors import FileProblem
from rag.indexing import IndexReport, Progress, index
from rag.indexing.media import ProgressLog, SensedClip, beyond_subtitles, remove_old_logs
from rag.indexing.outcomes import FileOutcomes
from rag.indexing.reembedding import reembed_videos
from rag.settings import load_settings
from rag.store.reading import Reader
from rag.store.records import ClipFrames
from rag.store.writing import Writer
from tests.fakes.library_dump import dump
from tests.fakes.mean_colors import MeanColors, index_with
from tests.fakes.synthetic import damage, write_video

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("tiny_text")]


class Large(MeanColors):
    """Takes 384 pixels, and keeps the short sides that it was given."""

    short_side = 384

    def __init__(self) -> None:
        self.sides: set[int] = set()

    def _encode_batch(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        self.sides.add(min(images.shape[1:3]))
        return super()._encode_batch(images)


@pytest.fixture
def large(monkeypatch) -> Large:
    encoder = Large()
    index_with(encoder, monkeypatch)
    return encoder


def indexed(folder: Path, name: str, **flags: Any) -> IndexReport:
    corpus = folder / "corpus"
    corpus.mkdir(exist_ok=True)
    write_video(corpus / name, 2, fps=4, size=(640, 480), card_seconds=1.0 + len(list(corpus.iterdir())))
    fixed = {"library": folder / "library", "ocr.mode": "off"}
    return index([corpus], settings=load_settings(flags=fixed | flags))


def side(folder: Path) -> object:
    with Reader.open(folder / "library") as reader:
        return reader.meta.settings["video.short_side"]


def test_an_encoder_of_384_pixels_is_given_384(tmp_path, large: Large) -> None:
    indexed(tmp_path, "a.mp4")
    assert (large.sides, side(tmp_path)) == ({384}, 384)


def test_a_library_of_224_pixels_goes_on(tmp_path, large: Large) -> None:
    indexed(tmp_path, "a.mp4", **{"video.short_side": 224})
    report = indexed(tmp_path, "b.mp4")
    assert report.indexed == 1
    assert (large.sides, side(tmp_path)) == ({224}, 224)


def test_reembedding_takes_the_new_encoders_size(tmp_path, large: Large) -> None:
    indexed(tmp_path, "a.mp4", **{"encoder.image": "none"})
    assert side(tmp_path) == 224
    with Writer.open(tmp_path / "library") as writer:
        outcomes = FileOutcomes(writer, Progress(), IndexReport())
        reembed_videos(writer, load_settings(), outcomes, Progress())
    assert (large.sides, side(tmp_path)) == ({384}, 384)


class Ended(MeanColors):
    """Ends the run at its third clip; counts the images that it was given."""

    left, seen = 3, 0

    def _encode_batch(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt
        self.seen += len(images)
        return super()._encode_batch(images)


class Counted(Progress):
    """Sums what is done."""

    total = counted = 0.0

    def start(self, total_seconds: float, total_files: int) -> None:  # noqa: ARG002 (as of the base)
        self.total += total_seconds

    def advance(self, seconds: float) -> None:
        self.counted += seconds


def test_a_run_that_was_ended_within_a_video_goes_on_behind_its_last_clip(tmp_path, monkeypatch) -> None:
    (tmp_path / "corpus").mkdir()
    write_video(tmp_path / "corpus" / "a.mp4", 8, fps=4)
    clips = {"video.clip_seconds": 2.0, "video.min_last_clip_seconds": 0.5, "ocr.mode": "off"}

    def run(name: str, encoder: MeanColors) -> Counted:
        index_with(encoder, monkeypatch)
        settings = load_settings(flags={"library": tmp_path / name, **clips})
        progress = Counted()
        index([tmp_path / "corpus"], settings=settings, progress=progress)
        return progress

    once, second, third = Ended(), Ended(), Ended()
    once.left, second.left, third.left = 99, 2, 2
    run("once", once)
    with pytest.raises(KeyboardInterrupt):
        run("ended", Ended())
    with Reader.open(tmp_path / "ended") as reader:
        assert reader.videos() == []
    (log,) = (tmp_path / "ended" / "progress").iterdir()
    log.write_bytes(log.read_bytes() + b'\n{"by": "a line that was cut sho')
    with pytest.raises(KeyboardInterrupt):
        run("ended", second)
    progress = run("ended", third)
    assert (second.seen, third.seen, once.seen) == (4, 4, 16)
    assert progress.counted == pytest.approx(progress.total)
    assert list(dump(tmp_path / "ended")) == list(dump(tmp_path / "once"))
    assert not list((tmp_path / "ended" / "progress").iterdir())


def test_a_video_that_cannot_be_decoded_from_its_last_clip_on_is_decoded_whole(tmp_path, monkeypatch) -> None:
    """Its length was 0 s else, while it had clips."""
    (tmp_path / "corpus").mkdir()
    write_video(tmp_path / "corpus" / "a.mp4", 8, fps=4)
    clips = {"video.clip_seconds": 2.0, "video.min_last_clip_seconds": 0.5, "ocr.mode": "off"}
    settings = load_settings(flags={"library": tmp_path / "library", **clips})
    index_with(Ended(), monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        index([tmp_path / "corpus"], settings=settings)
    index_with(MeanColors(), monkeypatch)
    frames = MediaReader.frames

    def broken(path: str) -> Iterator[Any]:
        raise FileProblem(f"{path}: no frame there")
        yield

    def failing(reader: MediaReader, path: str, **how: Any) -> Any:
        return broken(path) if how["seek"] else frames(reader, path, **how)

    monkeypatch.setattr(MediaReader, "frames", failing)
    report = index([tmp_path / "corpus"], settings=settings)
    assert (report.clips, report.video_seconds, report.problems) == (4, 8.0, [])


def clip_of(number: int) -> SensedClip:
    clip = Clip(f"v:{number:05d}", "v", 30.0 * number, 30.0 * (number + 1))
    return SensedClip(ClipFrames(clip, np.arange(4.0), np.eye(4, 64), np.eye(1, 64)[0]), f"pixels {number}")


def test_the_log_of_a_video_that_is_gone_is_deleted_once_it_is_old(tmp_path) -> None:
    old, new = ProgressLog(tmp_path, "old", "f"), ProgressLog(tmp_path, "new", "f")
    for days, log in ((31, old), (29, new)):
        log.add(clip_of(0))
        os.utime(log.path, (time.time() - days * 86400,) * 2)
    remove_old_logs(tmp_path)
    assert (old.path.exists(), new.path.exists()) == (False, True)


def test_a_damaged_line_of_a_log_leaves_the_others(tmp_path) -> None:
    log = ProgressLog(tmp_path, "v", "f")
    log.add(clip_of(0))
    first = log.path.stat().st_size
    log.add(clip_of(1))
    whole = log.path.read_bytes()
    for at in range(first + 1, len(whole), 7):
        log.path.write_bytes(whole[:at] + b"0" + whole[at + 1 :])
        assert "v:00000" in ProgressLog(tmp_path, "v", "f").clips


@pytest.mark.usefixtures("tiny_text")
def test_seconds_that_are_lost_do_not_count_as_indexed(tmp_path, monkeypatch) -> None:
    index_with(MeanColors(), monkeypatch)
    (tmp_path / "corpus").mkdir()
    write_video(tmp_path / "corpus" / "a.mkv", 20, fps=4)
    damage(tmp_path / "corpus" / "a.mkv", 0.02, seed=3)
    clips = {"video.clip_seconds": 1.0, "video.min_last_clip_seconds": 0.5, "ocr.mode": "off"}
    settings = load_settings(flags={"library": tmp_path / "library", **clips})
    (problem,) = index([tmp_path / "corpus"], settings=settings).problems
    said = re.match(r"lost about (\d+\.\d+) s of (\d+\.\d) s in ", problem.reason)
    lost, whole = map(float, said.groups())
    assert lost > 1
    assert problem.action == f"indexed {whole - lost:.0f} s of it"


def test_recognized_speech_fills_the_gaps_of_subtitles() -> None:
    subtitles = [
        Evidence("v", 0.0, 4.0, "subtitle", "At NASA's Goddard"),
        Evidence("v", 0.0, 9.0, "ocr", "NASA"),
    ]
    spoken = [Evidence("v", start, end, "asr", "at Nasser's God") for start, end in ((0.5, 4.5), (3.0, 6.0))]
    assert beyond_subtitles(spoken, subtitles) == spoken[1:]
    assert beyond_subtitles(spoken, []) == spoken
