"""What ShotFinder is asked for, what it says of each candidate, and what it hands back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rag.agents.runtime.context import NOTHING_FOUND
from rag.agents.runtime.trace import Step
from rag.agents.shotfinder.constraints import Check, Constraints
from rag.records import Usage

NOTHING_LOOKED_AT = "NothingLookedAt"
"""Name of a failure; see `ShotRun.failure`."""


@dataclass(frozen=True, slots=True)
class ShotRequest:
    """A shot description and what else must hold of it (ShotFinder, section 3.1)."""

    description: str
    constraints: Constraints = field(default=Constraints())
    request_id: str = ""


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
    """Whether start and end are those of a measured shot; else what lies nearest to the frame."""
    checks: tuple[Check, ...] = ()
    reason: str = ""
    looked: bool = True
    """False: no frame of it was seen, and measurements alone speak for it."""


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
    """What made it N/A: no shot meets what can be measured, the localizer sees none, or there was nothing
    to look at."""
    reason: str = ""
    lines: int = 0
    """Lines of speech that came with the video."""


@dataclass(frozen=True, slots=True)
class ShotRun:
    """What came of one request."""

    request: ShotRequest
    queries: tuple[str, ...]
    looks: tuple[Look, ...]
    """Every candidate that could be looked at, in the order in which it was."""
    shot: FoundShot | None
    """The best of them; None is N/A."""
    failure: str
    """Empty, or why no answer of this run could be one: the name of the error that ended it early
    (`BudgetSpent`, `ReasonerUnreachable`), `NothingFound` where no search brought a video that could be
    had, `NothingLookedAt` where none of those could be looked at. N/A after looks is no failure."""
    failures: tuple[str, ...]
    """Names of all errors met on the way, those that were got over included."""
    results: tuple[str, ...]
    """Addresses of all search results that were shown, best first, query by query."""
    searches: int
    usage: Usage
    timings: Mapping[str, float] = field(default_factory=dict, compare=False)
    steps: tuple[Step, ...] = ()

    @property
    def absence(self) -> str:
        """Why there is no shot, in words; empty where there is one."""
        return "" if self.shot is not None else absence_of(self.failure, self.looks)

    @property
    def found(self) -> bool:
        """Whether a shot was found."""
        return self.shot is not None

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens."""
        return self.usage.prompt_tokens + self.usage.completion_tokens


def absence_of(failure: str, looks: Sequence[Look]) -> str:
    """Why a run has no shot, in words."""
    if failure == NOTHING_FOUND:
        return f"no search brought a video that could be had ({failure})"
    if failure == NOTHING_LOOKED_AT:
        why = _commonest([look.reason for look in looks if look.missed == "unseen"])
        return f"nothing could be looked at ({failure})" + (f": {why}" if why else "")
    if failure:
        return f"the run ended with {failure}"
    if looks and all(look.missed == "constraint" for look in looks):
        return f"no video meets what was measured; {_commonest([look.reason for look in looks])}"
    return "no video that was looked at holds it"


def _commonest(reasons: Sequence[str]) -> str:
    """Of equally common ones the first."""
    return max(Counter(reasons).items(), key=lambda each: each[1], default=("", 0))[0]
