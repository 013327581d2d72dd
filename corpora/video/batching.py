"""Sampled images into batches, with the keyframes among them; the same for every decoder."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corpora.records import Frames
from corpora.video.keyframes import KeyframePicker
from corpora.video.records import FrameBatch, FrameRequest, Keyframe

MOST_FRAMES = 32
MOST_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Sample:
    """A decoded frame (h, w, 3) uint8 RGB and its time in seconds."""

    time: float
    image: NDArray[np.uint8]
    keyframe: Keyframe | None = None


class Selector:
    """Turns sampled images, in order, into samples, and decides which are keyframes."""

    def __init__(self, request: FrameRequest) -> None:
        self._request = request
        self._picker = KeyframePicker(request.keyframe_reset)

    def sample(
        self, time: float, image: NDArray[np.uint8], enlarge: Callable[[int], NDArray[np.uint8]]
    ) -> Sample | None:
        """The next sample; None if it lies before the start that was asked for.

        `image`: uint8 (height, width, 3) RGB. enlarge: short side -> the same image larger; called for
        keyframes only.
        """
        keyframe = None
        side = self._request.keyframe_side
        if side is not None and time >= self._request.origin and self._picker.pick(time, image):
            keyframe = Keyframe(time, enlarge(side)) if time >= self._request.start else None
        return Sample(time, image, keyframe) if time >= self._request.start else None


class Batcher:
    """Collects samples; gives a batch when it is full or the size of the images changes."""

    def __init__(self) -> None:
        self._waiting: list[Sample] = []
        self.last = -math.inf
        """Time of the last sample taken in."""
        self.taken = 0
        self.salvaging = False
        """Whether the file has proved to be damaged."""

    def add(self, sample: Sample) -> Iterator[FrameBatch]:
        """Queue a sample; yields a batch whenever one is full."""
        if self._waiting and self._waiting[0].image.shape != sample.image.shape:
            yield from self.flush()
        self._waiting.append(sample)
        self.last = sample.time
        self.taken += 1
        most = max(1, min(MOST_FRAMES, MOST_BYTES // sample.image.nbytes))
        if len(self._waiting) >= most:
            yield from self.flush()

    def flush(self) -> Iterator[FrameBatch]:
        """Yield what is queued as a last batch."""
        if self._waiting:
            samples, self._waiting = self._waiting, []
            frames = Frames(
                np.array([sample.time for sample in samples]), np.stack([sample.image for sample in samples])
            )
            keyframes = tuple(s.keyframe for s in samples if s.keyframe is not None)
            yield FrameBatch(frames, keyframes, self.salvaging)
