"""What RACLO depends on: how much it searches and looks at, and what ablations take away.

Source: RACLO, sections 3 and 4.1. `PAPER` has its main settings, `sweep` those of figure 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from rag.agents.runtime.frame_budget import RACLO, FrameBudget, fixed_budget
from rag.errors import UsageError

Frames = Literal["sampled", "stored"]


@dataclass(frozen=True, slots=True)
class RacloSettings:
    """Defaults are the paper's. Raises `UsageError` for values out of range."""

    queries: int = 2
    """Queries generated in one turn."""
    urls: int = 2
    """Videos taken of each query: the first that can be had and that no search before it gave."""
    results: int = 10
    """How far down a search is gone for them."""
    turns: int = 3
    """Turns of query generation and search at most; a turn that finds a candidate is the last."""
    abduction: bool = True
    """False: the cues themselves are the queries."""

    # Verification, in parallel with localization
    verify: bool = True
    """False: the first candidate is taken for the video."""
    consensus: bool = True
    """False: the first judge alone decides."""
    verify_frames: int = 64

    # Localization
    budget: FrameBudget = RACLO
    """Frames by duration; open-source models got 64 of every video."""
    frames: Frames = "sampled"
    """`stored`: every frame vector that the library holds stands in for sampled frames (ours)."""
    context: bool = True
    """False: the key moment alone is localized, without what was before, after or heard."""
    sound: bool = True
    """False: no speech or sound is shown to the reasoner."""
    attempts: int = 3
    """Tries of one call to the web that may succeed when repeated."""

    def __post_init__(self) -> None:
        if self.frames not in get_args(Frames):
            raise UsageError(f"frames {self.frames!r}: it is one of {', '.join(get_args(Frames))}")
        for name in ("queries", "urls", "results", "turns", "verify_frames", "attempts"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is at least 1, not {getattr(self, name)}")


PAPER = RacloSettings()

SWEEPS: Mapping[str, tuple[str, ...]] = {
    "search": ("1x1", "1x2", "1x3", "2x1", "2x2", "2x3", "3x1", "3x2", "3x3"),
    "frames": ("16", "32", "64", "128", "192"),
}
"""Figure 4: searches x videos of each; frames of every video, for both checks."""


def sweep(axis: str, value: str) -> RacloSettings:
    """`sweep("search", "2x3")`, `sweep("frames", "128")`. Raises `UsageError`."""
    if axis == "frames" and value.isdigit() and int(value) > 0:
        return replace(PAPER, budget=fixed_budget(int(value)), verify_frames=int(value))
    searches, times, videos = value.partition("x")
    if axis == "search" and times and searches.isdigit() and videos.isdigit():
        return replace(PAPER, queries=int(searches), urls=int(videos))
    raise UsageError(f"no sweep {axis}@{value}; there are {', '.join(SWEEPS)}")
