"""Which frames are sampled, and at which time: the one rule, apart from who decodes.

The grid is T_k = k / rate, and step k is [T_k - EPSILON, T_{k+1} - EPSILON). The first frame that starts
within a step is its sample, at the frame's own time. A step in which no frame starts has the frame that
is then on screen, at T_k. So a sample's time is always a moment at which that image is on screen, and
samples depend on nothing but the frames around them: a run may begin anywhere before.
"""

from __future__ import annotations

import math
from typing import Generic, TypeVar

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
