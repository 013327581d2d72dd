"""The window of a video that a localizer returns."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Window"]


@dataclass(frozen=True, slots=True)
class Window:
    video_id: str
    start: float
    end: float
    score: float
