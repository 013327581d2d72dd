"""One query by memory, with its truth: the video in all its uploads, and the moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from rag.agents.raclo.records import CUE_SETS
from rag.reasoners.roles import Memory

Group = Literal["0-3 minutes", "3-10 minutes", "10-30 minutes", "30-60 minutes"]
GROUPS: tuple[Group, ...] = get_args(Group)
"""Durations (section 2.1.2), rising."""
TASKS = CUE_SETS
"""In the order of tables 1 and 2."""
LIMITS = (180.0, 600.0, 1800.0)


@dataclass(frozen=True, slots=True)
class Shown:
    """One upload that shows the video that is meant."""

    url: str
    video_id: str = ""
    """Content id, where the web has its file."""
    speed: float = 1.0
    """Seconds of the original a second of this one."""


@dataclass(frozen=True, slots=True)
class RvmsSample:
    """Times in seconds of the original, [start, end)."""

    sample_id: str
    moment_id: str
    """Of the moment that several samples ask for, each with other cues."""
    task: str
    """One of `TASKS`."""
    memory: Memory
    """The cues of the task and no others."""
    url: str
    """The address that the rule asks for."""
    topic: str
    group: Group
    duration: float = 0.0
    """0.0 where nobody knows it."""
    key_time: float | None = None
    """Of the reference frame."""
    shot: tuple[float, float] | None = None
    event: tuple[float, float] | None = None
    uploads: tuple[Shown, ...] = ()
    """All that show the video, the original first; one is enough for the published rows."""
    changes: tuple[str, ...] = ()
    """What the wording left out, blurred or got wrong."""

    @property
    def asks_video(self) -> bool:
        """Whether model+rule applies: tasks with a global impression (table 1)."""
        return "G" in self.task

    @property
    def asks_moment(self) -> bool:
        """Whether localization applies: tasks with a key moment (table 2)."""
        return "K" in self.task


def group_of(seconds: float) -> Group:
    """The duration group; an hour and more counts to the last one."""
    return GROUPS[sum(seconds >= limit for limit in LIMITS)]
