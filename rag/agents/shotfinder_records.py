"""What ShotFinder is asked for, what it says of each candidate, and what it hands back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rag.agents.shotfinder_constraints import Check, Constraints
from rag.records import Usage

__all__ = ["FoundShot", "Look", "ShotRequest", "ShotRun", "ShotStep"]


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
    missed: Literal["", "constraint", "localizer"] = ""
    """What made it N/A: no shot meets what can be measured, or the localizer sees none."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ShotStep:
    """One thing that happened, for whoever looks on. No clock times: equal runs, equal steps."""

    number: int
    """From 1."""
    kind: str
    """`imagine`, `search`, `look`, `absent`, `shot`, `failure` or `web`."""
    text: str
    """One line for people."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The same as JSON values."""

    def line(self) -> dict[str, Any]:
        """As one line of a trace has it."""
        return {"number": self.number, "kind": self.kind, "text": self.text, "data": dict(self.data)}


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
    """Empty, or the name of the error that ended the run early: `BudgetSpent`, `ReasonerUnreachable`."""
    failures: tuple[str, ...]
    """Names of all errors met on the way, those that were got over included."""
    results: tuple[str, ...]
    """Addresses of all search results that were shown, best first, query by query."""
    searches: int
    usage: Usage
    timings: Mapping[str, float] = field(default_factory=dict, compare=False)
    steps: tuple[ShotStep, ...] = ()

    @property
    def tokens(self) -> int:
        return self.usage.prompt_tokens + self.usage.completion_tokens
