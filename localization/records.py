"""The window of a video that a localizer returns."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Window"]


@dataclass(frozen=True, slots=True)
class Window:
    """A window of a video, half-open [start, end) in seconds, with the score that chose it."""

    video_id: str
    start: float
    end: float
    score: float
