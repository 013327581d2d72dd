"""Number of frames sampled from a video, by its duration.

`RACLO`: RACLO, section 4.1 (closed-source models). `SHOTFINDER`: ShotFinder, section 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass

from rag.errors import UsageError


@dataclass(frozen=True, slots=True)
class FrameBudget:
    """Raises `UsageError` where the limits do not increase or a count is below 1."""

    steps: tuple[tuple[float, int], ...]
    """(seconds, frames): a video shorter than that many seconds gets that many frames; increasing."""
    longest: int
    """Frames of a video longer than every limit."""

    def __post_init__(self) -> None:
        limits = [seconds for seconds, _ in self.steps]
        if limits != sorted(set(limits)) or min(self.longest, *(count for _, count in self.steps), 1) < 1:
            raise UsageError("the limits of a frame budget increase, and each has at least one frame")

    def frames(self, seconds: float) -> int:
        """Number of frames for a video of some seconds."""
        return next((count for limit, count in self.steps if seconds < limit), self.longest)


RACLO = FrameBudget(((180.0, 32), (600.0, 64), (1800.0, 128)), 192)
SHOTFINDER = FrameBudget(((180.0, 64), (600.0, 128)), 192)


def fixed_budget(count: int) -> FrameBudget:
    """`count` frames of every video."""
    return FrameBudget((), count)
