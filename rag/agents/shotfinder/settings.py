"""What ShotFinder depends on. Source: ShotFinder, sections 4 and 5.1, figure 4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from rag.agents.runtime.frame_budget import SHOTFINDER, FrameBudget, fixed_budget
from rag.errors import UsageError

ConstraintMode = Literal["measured", "asked", "off"]


@dataclass(frozen=True, slots=True)
class ShotSettings:
    """Defaults are the paper's main ones. Raises `UsageError` for values out of range."""

    queries: int = 2
    """Searches imagined for one description."""
    urls: int = 2
    """Videos looked at of each search: the first that can be had, that no search before it gave and that no
    measurement denies."""
    results: int = 10
    """Search results considered for them."""
    budget: FrameBudget = SHOTFINDER
    """Frames shown to the localizer, by duration."""
    constraint_mode: ConstraintMode = "measured"
    """`measured`: measurements of the shots decide about a constraint, the reasoner about the rest; a video
    that a measurement rules out does not count as looked at. `asked`: constraints are passed to the reasoner
    as text, as in the paper. `off`: only the description counts."""
    imagine: bool = True
    """False: the description itself is the one search (section 4.2, what the paper tried first)."""
    tries: int = 3
    """Shots of one video that are compared where something is said of what comes before or after."""
    context_frames: int = 16
    """Frames of a neighbouring interval."""
    attempts: int = 3
    """Tries of one call to the web that may succeed when repeated."""

    def __post_init__(self) -> None:
        modes = get_args(ConstraintMode)
        if self.constraint_mode not in modes:
            raise UsageError(f"constraint_mode {self.constraint_mode!r}: it is one of {', '.join(modes)}")
        for name in ("queries", "urls", "results", "tries", "context_frames", "attempts"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is at least 1, not {getattr(self, name)}")


MAIN = ShotSettings()

SWEEPS: Mapping[str, tuple[str, ...]] = {
    "queries": ("1x2", "2x2", "3x2"),
    "urls": ("2x1", "2x2", "2x3"),
    "frames": ("16", "32", "64", "128", "192"),
}
"""Figure 4: searches x videos of each, and frames of a video."""


def sweep(axis: str, value: str) -> ShotSettings:
    """`sweep("urls", "2x3")`; of frames, so many of every video. Raises `UsageError`."""
    if axis == "frames" and value.isdigit() and int(value) > 0:
        return replace(MAIN, budget=fixed_budget(int(value)))
    searches, times, videos = value.partition("x")
    if axis in ("queries", "urls") and times and searches.isdigit() and videos.isdigit():
        return replace(MAIN, queries=int(searches), urls=int(videos))
    raise UsageError(f"no sweep {axis}@{value}; there are {', '.join(SWEEPS)}")
