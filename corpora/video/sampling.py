"""From decoded frames to batches of samples, the same for every decoder: which are taken, and how scaled.

The grid is T_k = k / rate, and step k is [T_k - EPSILON, T_{k+1} - EPSILON). The first frame that starts
within a step is its sample, at the frame's own time. A step in which no frame starts has the frame that
is then on screen, at T_k. So a sample's time is always a moment at which that image is on screen, and
samples depend on nothing but the frames around them: a run may begin anywhere before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from corpora.records import Frames
from corpora.video.keyframes import KeyframePicker
from corpora.video.records import FrameBatch, FrameRequest, Keyframe

EPSILON = 1e-6
"""Seconds; containers round times to the microsecond."""

T = TypeVar("T")


class Sampler(Generic[T]):
    """Frames in order of time in, samples `(time in seconds, frame)` out."""

    def __init__(self, rate: float) -> None:
        """rate: grid steps a second, above 0."""
        self._rate = rate
        self._served = -1
        self._shown: T | None = None

    def push(self, time: float, frame: T, until: float | None = None) -> list[tuple[float, T]]:
        """The samples that become known with the frame that starts at `time`, later than the one before.

        until: when the frame before surely left the screen; None where it stayed until `time`. It is
        less where frames between the two are lost or were skipped: no image is held over a gap.
        """
        samples = self._held(time if until is None else min(time, until), self.step(time))
        if self.step(time) > self._served:
            samples.append((time, frame))
            self._served = self.step(time)
        self._shown = frame
        return samples

    def finish(self, end: float) -> list[tuple[float, T]]:
        """The samples of the last frame, which leaves the screen at `end`."""
        return self._held(end, self.step(end) + 1)

    def step(self, time: float) -> int:
        """The grid step that `time` falls in; negative before 0."""
        return math.floor((time + EPSILON) * self._rate)

    def _held(self, until: float, before: int) -> list[tuple[float, T]]:
        """Repeat the frame on screen over the steps below `before` that begin ahead of `until`."""
        samples: list[tuple[float, T]] = []
        if self._shown is not None:
            for step in range(self._served + 1, before):
                if step / self._rate >= until - EPSILON:
                    break
                samples.append((step / self._rate, self._shown))
                self._served = step
        return samples


def scaled_size(width: int, height: int, short_side: int) -> tuple[int, int]:
    """(width, height) with the short side at `short_side`: even, at least 2, never larger than the source."""
    scale = min(1.0, short_side / min(width, height))

    def side(pixels: int) -> int:
        even = round(pixels * scale / 2) * 2 if scale < 1 else pixels // 2 * 2
        return max(2, min(even, pixels // 2 * 2))

    return side(width), side(height)


class FrameRenderer:
    """Scales and turns frames as a player shows them; keeps libswscale's tables from frame to frame.

    Scaling is bilinear, whose support libswscale widens when it shrinks, so that it does not alias.
    """

    def __init__(self, pixel_aspect: float = 1.0) -> None:
        """`pixel_aspect`: width of a stored pixel, its height being 1."""
        from av.video.reformatter import VideoReformatter

        self._aspect = pixel_aspect
        self._scalers: dict[tuple[int, str], Any] = {}
        self._new_scaler = VideoReformatter

    def render(
        self, frame: Any, short_side: int, size: tuple[int, int] | None = None, format: str = "rgb24"
    ) -> NDArray[np.uint8]:
        """uint8 (height, width, 3) RGB, upright, of `scaled_size`, or of the upright `size` where given.

        format: `gray` gives the brightness alone, uint8 (height, width).
        """
        turns = round(frame.rotation / 90) % 4
        if size is None:
            width, height = scaled_size(round(frame.width * self._aspect), frame.height, short_side)
        else:
            width, height = size if turns % 2 == 0 else size[::-1]
        scaler = self._scalers.setdefault((short_side, format), None) or self._new_scaler()
        self._scalers[short_side, format] = scaler
        # One thread: the image is small, and threads cost more than they give.
        small = scaler.reformat(
            progressive(frame) if frame.interlaced_frame else frame,
            width=width,
            height=height,
            format=format,
            interpolation="BILINEAR",
            threads=1,
        )
        image = np.asarray(small.to_ndarray(), np.uint8)
        # Turning the small image costs a thousandth of turning the large one.
        return np.ascontiguousarray(np.rot90(image, turns)) if turns else image


def progressive(frame: Any) -> Any:
    """The first field of an interlaced frame, with lines drawn between its own.

    The other field is of another moment: woven together, the two comb. One frame is enough for it, so samples
    are the same wherever decoding begins.
    """
    from av.filter import Graph

    graph = Graph()
    steps = (
        graph.add_buffer(
            width=frame.width, height=frame.height, format=frame.format.name, time_base=Fraction(1, 90000)
        ),
        graph.add("estdif", "mode=frame"),
        graph.add("buffersink"),
    )
    graph.link_nodes(*steps).configure()
    graph.push(frame)
    graph.push(None)
    return graph.pull()


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
        self,
        time: float,
        image: NDArray[np.uint8],
        enlarge: Callable[[int], NDArray[np.uint8]],
        brightness: Callable[[int], NDArray[np.uint8]] | None = None,
    ) -> Sample | None:
        """The next sample; None if it is before the start that was asked for.

        `image`: uint8 (height, width, 3) RGB. enlarge: short side -> the same image larger. brightness: as
        `enlarge`, but uint8 (height, width), where the decoder has it cheaper than the green channel of that.
        """
        keyframe = None
        side = self._request.keyframe_side
        if side is not None and time >= self._request.origin:
            large = enlarge(side)[:, :, 1] if brightness is None else brightness(side)
            if self._picker.pick(time, image, large) and time >= self._request.start:
                keyframe = Keyframe(time, enlarge(side))
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
