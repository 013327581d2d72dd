"""How many frames of a video are looked at, by its length, and at which moments of it.

`RACLO`: RACLO, section 4.1 (closed-source models). `SHOTFINDER`: ShotFinder, section 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class FrameBudget:
    """Raises `UsageError` for steps that do not rise or counts below 1."""

    steps: tuple[tuple[float, int], ...]
    """(seconds, frames): a video shorter than so many seconds gets so many frames; rising."""
    longest: int
    """Frames of a video that no step covers."""

    def __post_init__(self) -> None:
        limits = [seconds for seconds, _ in self.steps]
        if limits != sorted(set(limits)) or min(self.longest, *(count for _, count in self.steps), 1) < 1:
            raise UsageError("the steps of a frame budget rise, and every one has at least one frame")

    def frames(self, seconds: float) -> int:
        return next((count for limit, count in self.steps if seconds < limit), self.longest)


RACLO = FrameBudget(((180.0, 32), (600.0, 64), (1800.0, 128)), 192)
SHOTFINDER = FrameBudget(((180.0, 64), (600.0, 128)), 192)


def fixed_budget(count: int) -> FrameBudget:
    """So many frames of every video, as of a model that takes no more."""
    return FrameBudget((), count)


def frame_times(duration: float, count: int, *, shift: float = 0.0) -> NDArray[np.float64]:
    """(count,) seconds t_i = (i + 0.5 + shift) / count x duration (RACLO, F.2), to 6 decimals.

    `shift`: in steps, in [-0.5, 0.5): the moments between those of another look.
    """
    import numpy as np

    places = (np.arange(count) + 0.5 + shift) / count * duration
    return np.asarray(np.round(np.clip(places, 0.0, duration), 6), np.float64)
