"""Several files decoded at once: the same library as with one, also after a run that was broken off."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from pathlib import Path
from typing import cast

import pytest

from corpora.settings import VideoSettings
from corpora.video.reader import MediaReader
from rag.errors import DamagedFile, FileProblem
from rag.indexing import IndexReport, Progress, index
from rag.indexing.clips import CLIPS_PER_COMMIT
from rag.indexing.decoding import MOST_DECODERS, decoder_count, interleave
from rag.settings import load_settings
from tests.fakes.library_dump import dump
from tests.fakes.mean_colors import MeanColors, index_with
from tests.fakes.synthetic import damage, truncate, write_video

pytestmark = pytest.mark.usefixtures("tiny_text")


Begin = Callable[[str, MediaReader], Generator[None, None, int]]
SECONDS = (9, 12, 10)
"""Of the three videos of the corpus; clips of 1 s, committed 8 at a time."""


def readers(count: int) -> list[MediaReader]:
    """Stand for readers: `interleave` hands them on."""
    return cast("list[MediaReader]", [f"reader {number}" for number in range(count)])


def traced(trace: list[str], lengths: dict[str, int], problem: str = "") -> Begin:
    def begin(item: str, reader: MediaReader) -> Generator[None, None, int]:
        try:
            for step in range(lengths[item]):
                trace.append(f"{item}{step} {reader}")
                yield
            if item == problem:
                raise DamagedFile("broken")
            return lengths[item]
        finally:
            trace.append(f"{item} closed")

    return begin


def test_items_take_turns_and_a_free_reader_takes_the_next() -> None:
    trace: list[str] = []
    begin = traced(trace, {"a": 1, "b": 3, "c": 1}, problem="a")
    done = list(interleave("abc", readers(2), begin))
    assert [item for item, _ in done] == ["a", "c", "b"]
    assert isinstance(done[0][1], FileProblem)
    assert [result for _, result in done[1:]] == [1, 3]
    steps = [line for line in trace if "closed" not in line]
    assert steps == ["a0 reader 0", "b0 reader 1", "b1 reader 1", "c0 reader 0", "b2 reader 1"]


def test_one_decoder_beside_the_processor_and_several_beside_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 6)
    settings = VideoSettings()
    assert [decoder_count(settings, name) for name in ("torch-fp32", "", "cuda-fp16")] == [1, 1, 3]
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    assert decoder_count(settings, "mps-fp16") == MOST_DECODERS
    assert decoder_count(VideoSettings(decoders=7), "torch-fp32") == 7


@pytest.fixture(autouse=True)
def mean(monkeypatch: pytest.MonkeyPatch) -> MeanColors:
    encoder = MeanColors()
    index_with(encoder, monkeypatch)
    return encoder


class Log(Progress):
    """What the run comes to: files, and the first second of each clip that is done. Broken off at `last`."""

    def __init__(self, last: int = 1000) -> None:
        self.events: list[str] = []
        self._last = last

    def file(self, path: str) -> None:
        self.events.append(Path(path).name)

    def advance(self, seconds: float) -> None:  # noqa: ARG002 (of the protocol)
        self.events.append("clip")
        if self.events.count("clip") == self._last:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for number, seconds in enumerate(SECONDS):
        write_video(folder / f"{number}.mkv", seconds, fps=4, card_seconds=1.0 + number, audio=number == 1)
    truncate(folder / "2.mkv", 0.7)
    (folder / "3.mp4").write_bytes(b"no video" * 100)
    return folder


def indexed(corpus: Path, library: Path, decoders: int, progress: Log, **more: bool) -> IndexReport:
    clips = {"video.clip_seconds": 1.0, "video.min_last_clip_seconds": 0.5, "video.decoders": decoders}
    settings = load_settings(flags={"library": library, "ocr.mode": "off", **clips})
    return index([corpus], settings=settings, progress=progress, **more)


@pytest.fixture(scope="module")
def single(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that one decoder makes."""
    library, log = tmp_path_factory.mktemp("one") / "library", Log()
    with pytest.MonkeyPatch.context() as patch:
        index_with(MeanColors(), patch)
        indexed(corpus, library, 1, log)
    assert log.events[:2] == ["0.mkv", "clip"]
    return library


@pytest.mark.slow
def test_three_decoders_make_the_library_of_one(corpus: Path, single: Path, tmp_path: Path) -> None:
    log = Log()
    report = indexed(corpus, tmp_path / "library", 3, log)
    assert log.events[:3] == ["0.mkv", "1.mkv", "2.mkv"]
    assert {Path(problem.path).name for problem in report.problems} == {"2.mkv", "3.mp4"}
    assert list(dump(tmp_path / "library")) == list(dump(single))


@pytest.mark.slow
def test_a_run_broken_off_with_several_files_in_progress_is_resumed(
    corpus: Path, single: Path, tmp_path: Path
) -> None:
    """At the second clip behind the first group of each file."""
    library = tmp_path / "library"
    with pytest.raises(KeyboardInterrupt):
        indexed(corpus, library, 3, Log(len(SECONDS) * (CLIPS_PER_COMMIT + 1)))
    indexed(corpus, library, 2, Log())
    assert list(dump(library)) == list(dump(single))


def test_seconds_that_are_lost_do_not_count_as_indexed(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    write_video(tmp_path / "corpus" / "a.mkv", 20, fps=4)
    damage(tmp_path / "corpus" / "a.mkv", 0.02, seed=3)
    (problem,) = indexed(tmp_path / "corpus", tmp_path / "library", 1, Log()).problems
    said = re.match(r"lost about (\d+\.\d+) s of (\d+\.\d) s in ", problem.reason)
    assert said is not None
    lost, whole = map(float, said.groups())
    assert lost > 1
    assert problem.action == f"indexed {whole - lost:.0f} s of it"
