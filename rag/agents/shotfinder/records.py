"""What ShotFinder depends on (sections 4 and 5.1, figure 4), its request, its candidates, and its result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import PositiveInt
from pydantic.dataclasses import dataclass as validated

from rag.agents.runtime.context import NOTHING_FOUND
from rag.agents.runtime.frame_source import FrameBudget, fixed_budget
from rag.agents.runtime.trace import WebRun
from rag.agents.shotfinder.constraints import Check, Constraints
from rag.errors import UsageError

ConstraintMode = Literal["exact", "asked", "off"]
FRAME_BUDGET = FrameBudget(((180.0, 64), (600.0, 128)), 192)


@validated(frozen=True, slots=True)
class ShotSettings:
    """Defaults are the paper's main ones. Values out of range are refused."""

    queries: PositiveInt = 2
    """Searches imagined for one description."""
    urls: PositiveInt = 2
    """Videos looked at of each search: the first that can be had, that no search before it gave and whose
    resolution is not another."""
    results: PositiveInt = 10
    """Search results considered for them."""
    budget: FrameBudget = FRAME_BUDGET
    """Frames shown to the localizer, by duration."""
    constraint_mode: ConstraintMode = "exact"
    """`exact`: the resolution, which is exact, decides about its constraint, the reasoner about the rest; a
    video that it rules out does not count as looked at. `asked`: constraints are passed to the reasoner as
    text, as in the paper. `off`: only the description counts."""
    look: Literal["frames and texts", "frames"] = "frames and texts"
    """What the localizer is shown of a video. `frames`: its frames alone, and its sound where the constraint
    is about it, as in the paper. `frames and texts`: also title, description, speech and text on the
    screen."""
    imagine: bool = True
    """False: the description itself is the one search (section 4.2, what the paper tried first)."""
    tries: PositiveInt = 3
    """Shots of one video that are compared where something is said of what comes before or after."""
    context_frames: PositiveInt = 16
    """Frames of a neighbouring interval."""


MAIN = ShotSettings()
PAPER = replace(MAIN, constraint_mode="asked", look="frames")
"""The paper's closed models: frames by duration."""
ASKED_FRAMES = "asked"
"""Axis of the paper's open models: `asked@64` has 64 frames of every video."""
SWEEPS: Mapping[str, tuple[str, ...]] = {
    "queries": ("1x2", "2x2", "3x2"),
    "urls": ("2x1", "2x2", "2x3"),
    "frames": ("16-32-64", "32-64-128", "64-128-192"),
}
"""Figure 4: searches x videos of each, and frames of a video of less than 3 minutes, of 3 to 10, and of
more (X-Y-Z)."""


def sweep(axis: str, value: str) -> ShotSettings:
    """The paper's method at `sweep("urls", "2x3")`, `sweep("frames", "16-32-64")` or `sweep("asked", "64")`.

    Raises `UsageError`.
    """
    counts = [int(part) if part.isdecimal() else 0 for part in re.split("[x-]", value)]
    if min(counts) > 0:
        match axis, "x" in value, counts:
            case "queries" | "urls", True, [searches, videos]:
                return replace(PAPER, queries=searches, urls=videos)
            case "frames", False, [short, middle, long]:
                limits = (limit for limit, _ in FRAME_BUDGET.steps)
                steps = tuple(zip(limits, (short, middle), strict=True))
                return replace(PAPER, budget=FrameBudget(steps, long))
            case "asked", False, [count]:
                return replace(PAPER, budget=fixed_budget(count))
    raise UsageError(f"no sweep {axis}@{value}; there are {', '.join((ASKED_FRAMES, *SWEEPS))}")


NOTHING_LOOKED_AT = "NothingLookedAt"
"""Name of a failure; see `ShotRun.failure`."""


@dataclass(frozen=True, slots=True)
class ShotRequest:
    """A shot description and what else must hold of it (ShotFinder, section 3.1)."""

    description: str
    constraints: Constraints = field(default=Constraints())


@dataclass(frozen=True, slots=True)
class FoundShot:
    """[start, end) seconds of a video of the web, and the frame that decided."""

    url: str
    title: str
    video_id: str
    start: float
    end: float
    frame: float
    """Seconds; inside the shot."""
    confidence: float
    """Of the localizer, in [0, 1]."""
    score: float
    """Confidence, times how well its neighbours fit where something is said of them; in [0, 1]."""
    measured: bool
    """Whether start and end are those of a measured shot; else the times nearest to the frame."""
    checks: tuple[Check, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Look:
    """One candidate video: the shot that fits best in it, or N/A and why."""

    url: str
    title: str
    video_id: str
    query: str
    """The search that found it first."""
    found: FoundShot | None
    frames: int
    """Frames that were laid before the localizer."""
    missed: Literal["", "constraint", "localizer", "unseen"] = ""
    """What made it N/A: another resolution, the localizer sees none, or there was nothing to look at."""
    reason: str = ""
    lines: int = 0
    """Lines of speech that came with the video."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShotRun(WebRun):
    """The result of one request. `failure` is `NothingFound` where no search returned a video that could be
    downloaded, `NothingLookedAt` where none of them could be looked at; N/A after looks is no failure."""

    request: ShotRequest
    queries: tuple[str, ...]
    looks: tuple[Look, ...]
    """Every candidate that could be looked at, in order."""
    shot: FoundShot | None
    """The best of them; None is N/A."""
    results: tuple[str, ...]
    """Addresses of all search results, best first, query by query."""

    @property
    def absence(self) -> str:
        """Why there is no shot, in words; empty where there is one."""
        failure, looks = self.failure, self.looks
        if self.shot is not None:
            return ""
        if failure == NOTHING_FOUND:
            return f"no search brought a video that could be had ({failure})"
        if failure == NOTHING_LOOKED_AT:
            why = _commonest([look.reason for look in looks if look.missed == "unseen"])
            return f"nothing could be looked at ({failure})" + (f": {why}" if why else "")
        if failure:
            return f"the run ended with {failure}"
        if looks and all(look.missed == "constraint" for look in looks):
            return f"no video has the resolution; {_commonest([look.reason for look in looks])}"
        return "no video that was looked at holds it"

    @property
    def found(self) -> bool:
        """Whether a shot was found."""
        return self.shot is not None


def _commonest(reasons: Sequence[str]) -> str:
    """Of equally common ones the first."""
    return max(Counter(reasons).items(), key=lambda each: each[1], default=("", 0))[0]
