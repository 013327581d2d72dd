"""Contract suites that a decoder or a document reader of another package passes.

They are part of the package, because a package that extends this one has our wheel and not our tests. A test
module of that package subclasses one, and pytest runs the inherited tests; the extension is found by its
entry point, as in use. Nothing here imports pytest.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corpora.errors import FileProblem
from corpora.kinds import kind_of
from corpora.passages.document import Document, read_documents
from corpora.video.reader import MediaReader

FPS, SECONDS = 10, 8
TICK = 2e-3


def write_numbered_video(path: Path) -> None:
    """Eight seconds of H.264 at 10 frames a second; `frame_number` reads each frame's number."""
    import av

    width, height = 160, 120
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=FPS, options={"crf": "10", "g": "20"})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for number in range(FPS * SECONDS):
            image = np.empty((height, width, 3), np.uint8)
            image[:, : width // 2], image[:, width // 2 :] = 10 + 25 * (number // 10), 10 + 25 * (number % 10)
            out.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        out.mux(stream.encode(None))


def frame_number(image: NDArray[np.uint8]) -> int:
    """The number of a frame of `write_numbered_video`, of uint8 (height, width, 3) at any scale."""
    width = image.shape[1]
    halves = (image[:, : width // 2 - 4], image[:, width // 2 + 4 :])
    tens, ones = (round((float(half.mean()) - 10) / 25) for half in halves)
    return tens * 10 + ones


class DecoderContract:
    """What every decoder does with a clean file; `name` is that of its entry point."""

    name = ""

    def test_samples_are_the_frames_of_their_times(self, tmp_path: Path) -> None:
        """Rate 2 gives every fifth frame, at its own time; the report counts them."""
        write_numbered_video(tmp_path / "a.mp4")
        with MediaReader(self.name) as reader:
            stream = reader.frames(str(tmp_path / "a.mp4"), rate=2.0, short_side=60)
            batches = list(stream)
        times = np.concatenate([batch.frames.times for batch in batches])
        images = np.concatenate([batch.frames.images for batch in batches])
        assert times.dtype == np.float64
        assert images.dtype == np.uint8
        assert images.shape[1:] == (60, 80, 3)
        assert [frame_number(image) for image in images] == list(range(0, FPS * SECONDS, 5))
        np.testing.assert_allclose(times, np.arange(len(times)) / 2, atol=TICK)
        assert (stream.report.decoder, stream.report.frames, stream.report.damage) == (
            self.name,
            len(times),
            "",
        )
        assert abs(stream.report.end - SECONDS) <= 1 / FPS + TICK

    def test_a_later_start_gives_the_same_samples(self, tmp_path: Path) -> None:
        """Samples from `start` on are the same, with and without seeking."""
        write_numbered_video(tmp_path / "a.mp4")
        with MediaReader(self.name) as reader:
            for seek in (False, True):
                stream = reader.frames(str(tmp_path / "a.mp4"), short_side=60, start=3.0, seek=seek)
                numbers = [frame_number(image) for batch in stream for image in batch.frames.images]
                assert numbers == list(range(30, FPS * SECONDS, 5))

    def test_frames_at_gives_what_is_on_screen(self, tmp_path: Path) -> None:
        """Frames come in ascending order; after the last frame it is that one."""
        write_numbered_video(tmp_path / "a.mp4")
        with MediaReader(self.name) as reader:
            frames = reader.frames_at(str(tmp_path / "a.mp4"), [99.0, 0.04, 3.333], short_side=60)
        assert [frame_number(image) for image in frames.images] == [0, 33, FPS * SECONDS - 1]
        np.testing.assert_allclose(frames.times, [0.0, 3.3, SECONDS - 1 / FPS], atol=TICK)

    def test_images_are_never_enlarged(self, tmp_path: Path) -> None:
        """A `short_side` above that of the file keeps its size."""
        write_numbered_video(tmp_path / "a.mp4")
        with MediaReader(self.name) as reader:
            frames = reader.frames_at(str(tmp_path / "a.mp4"), [0.0], short_side=480)
        assert frames.images.shape == (1, 120, 160, 3)

    def test_a_file_that_is_no_video_is_refused_in_one_line(self, tmp_path: Path) -> None:
        """The refusal is a `FileProblem` with the path."""
        path = tmp_path / "a.mp4"
        path.write_bytes(b"no video" * 1000)
        with MediaReader(self.name) as reader:
            problem = _problem_of(lambda: list(reader.frames(str(path))))
        assert str(path) in problem
        assert "\n" not in problem


class DocumentReaderContract:
    """What every reader does: `suffix` with its dot, and `sample`, a file's content with some text."""

    suffix = ""
    sample = b""

    def _read(self, path: Path) -> list[Document]:
        return [found for found in read_documents(path) if isinstance(found, Document)]

    def test_the_sample_is_documents(self, tmp_path: Path) -> None:
        """Documents have text, one-line titles and unique ids, the same under any file name."""
        first, second = tmp_path / f"a{self.suffix}", tmp_path / f"b{self.suffix.upper()}"
        first.write_bytes(self.sample)
        second.write_bytes(self.sample)
        documents = self._read(first)
        assert documents
        assert all(document.text.strip() and "\n" not in document.title for document in documents)
        assert len({document.doc_id for document in documents}) == len(documents)
        assert self._read(second) == documents

    def test_a_scan_takes_the_suffix_for_documents(self) -> None:
        """The suffix is known through the reader's entry point."""
        assert kind_of(f"a{self.suffix}") == "passages"

    def test_a_file_without_text_is_refused_in_one_line(self, tmp_path: Path) -> None:
        """The refusal is `DamagedFile` or another `FileProblem`, with the path."""
        path = tmp_path / f"a{self.suffix}"
        path.write_bytes(b" \n")
        problem = _problem_of(lambda: self._read(path))
        assert str(path) in problem
        assert "\n" not in problem

    def test_a_name_that_is_not_utf8_is_taken(self, tmp_path: Path) -> None:
        """The documents are the same as under any other name."""
        path = tmp_path / os.fsdecode(b"caf\xe9" + self.suffix.encode())
        path.write_bytes(self.sample)
        (tmp_path / f"a{self.suffix}").write_bytes(self.sample)
        assert self._read(path) == self._read(tmp_path / f"a{self.suffix}")

    def test_damaged_files_raise_nothing_else(self, tmp_path: Path) -> None:
        """Documents or a `FileProblem`, for bytes that are no text and for a file that is cut off."""
        path = tmp_path / f"a{self.suffix}"
        cut = (self.sample[: int(len(self.sample) * share)] for share in (0.1, 0.5, 0.9))
        for content in (bytes(range(256)) * 50, *cut):
            path.write_bytes(content)
            with contextlib.suppress(FileProblem):
                assert all(document.text for document in self._read(path))


def _problem_of(action: Callable[[], object]) -> str:
    try:
        action()
    except FileProblem as problem:
        return str(problem)
    raise AssertionError("no FileProblem was raised")
