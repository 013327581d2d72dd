"""The decoder of torchcodec on the processor, behind the same contract; what it cannot do is refused.

It needs the FFmpeg libraries of the system, 4 to 8, which cannot share a process with PyAV's, so nothing here
imports `av`. It gives every frame with its own time, scaled while it is decoded, and the samples are chosen
among them. A file that it cannot decode to its end is refused in one line that names PyAV.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.records import Frames
from corpora.video.decoders import Heartbeat
from corpora.video.records import DecodeReport, FrameBatch, FrameRequest, Probe
from corpora.video.sampling import EPSILON, Batcher, Sampler, Selector, scaled_size

ADVICE = "; try RAG_VIDEO__DECODER=pyav"
AT_ONCE = 32
"""Frames decoded between two signs of progress."""


class TorchcodecDecoder:
    """torchcodec, frame by frame from the beginning of the file."""

    name = "torchcodec"
    package = "torchcodec"

    def frames(
        self, path: str, probe: Probe, request: FrameRequest, beat: Heartbeat
    ) -> Generator[FrameBatch, None, DecodeReport]:
        """Yield batches of sampled frames (n, h, w, 3) uint8 RGB in time order; returns the report."""
        stream = _Stream(path, probe, request.short_side, beat)
        large: dict[int, _Stream] = {}

        def enlarge(index: int, side: int) -> NDArray[np.uint8]:
            if side not in large:
                large[side] = _Stream(path, probe, side, beat)
            return large[side].image(index)

        sampler: Sampler[tuple[int, NDArray[np.uint8]]] = Sampler(request.rate)
        batcher, selector, end = Batcher(), Selector(request), probe.video_start

        def batches(known: list[tuple[float, tuple[int, NDArray[np.uint8]]]]) -> Iterator[FrameBatch]:
            for time, (index, image) in known:
                if time >= request.origin:
                    sample = selector.sample(time, image, partial(enlarge, index))
                    if sample is not None:
                        yield from batcher.add(sample)

        for index, (time, length, image) in enumerate(stream):
            yield from batches(sampler.push(time, (index, image)))
            end = time + length
        yield from batches(sampler.finish(end))
        yield from batcher.flush()
        return DecodeReport(self.name, end, batcher.taken, "")

    def frames_at(
        self, path: str, probe: Probe, times: Sequence[float], short_side: int, beat: Heartbeat
    ) -> Frames:
        """Frames on screen at `times` in seconds, as (n, h, w, 3) uint8 RGB."""
        shown: list[tuple[float, NDArray[np.uint8]]] = []
        waiting, before = sorted(times), None
        # Its own choice by time is another frame where the rate varies.
        for time, _, image in _Stream(path, probe, short_side, beat):
            while len(shown) < len(waiting) and waiting[len(shown)] + EPSILON < time:
                shown.append(before or (time, image))
            before = time, image
            if len(shown) == len(waiting):
                break
        if before is None:
            raise DamagedFile(f"torchcodec finds no image in it{ADVICE}")
        shown += [before] * (len(waiting) - len(shown))
        stack = np.stack([image for _, image in shown]) if shown else np.empty((0, 0, 0, 3), np.uint8)
        return Frames(np.array([time for time, _ in shown], np.float64), stack)


class _Stream:
    """One video stream, with every failure as one line and times on the file's own clock."""

    def __init__(self, path: str, probe: Probe, short_side: int, beat: Heartbeat) -> None:
        if probe.stream < 0:
            raise UnsupportedFile("it has sound, but no images")
        self._beat, self._start = beat, probe.start
        width, height = scaled_size(probe.width, probe.height, short_side)
        self._shape = (height, width, 3)
        try:
            from torchcodec.decoders import VideoDecoder
            from torchcodec.transforms import Resize
        except (ImportError, OSError, RuntimeError) as error:
            reason = "torchcodec needs FFmpeg's shared libraries, and to be built for this PyTorch"
            raise UnsupportedFile(f"{reason}{ADVICE}") from error
        try:
            self._decoder = VideoDecoder(
                path,
                stream_index=probe.stream,
                dimension_order="NHWC",
                num_ffmpeg_threads=0,
                transforms=[Resize((height, width))],
            )
        except (RuntimeError, ValueError) as error:
            raise UnsupportedFile(f"torchcodec cannot open it{ADVICE}") from error
        beat()

    def __iter__(self) -> Iterator[tuple[float, float, NDArray[np.uint8]]]:
        """Of every frame: time and length in seconds, uint8 (height, width, 3) RGB."""
        for first in range(0, len(self._decoder), AT_ONCE):
            found = self._decoded(
                self._decoder.get_frames_in_range, first, min(first + AT_ONCE, len(self._decoder))
            )
            times, lengths = (found.pts_seconds - self._start).tolist(), found.duration_seconds.tolist()
            yield from zip(times, lengths, self._images(found.data), strict=True)

    def image(self, index: int) -> NDArray[np.uint8]:
        """uint8 (height, width, 3) of the frame with this number."""
        image: NDArray[np.uint8] = self._images(self._decoded(self._decoder.get_frame_at, index).data[None])[
            0
        ]
        return image

    def _decoded(self, decode: Any, *where: Any) -> Any:
        try:
            found = decode(*where)
        except (RuntimeError, IndexError) as error:
            raise DamagedFile(f"torchcodec cannot decode a part of it{ADVICE}") from error
        self._beat()
        return found

    def _images(self, data: Any) -> NDArray[np.uint8]:
        images: NDArray[np.uint8] = data.numpy()
        if images.shape[1:] != self._shape:
            raise UnsupportedFile(f"torchcodec gives images of another size than the file says{ADVICE}")
        return images
