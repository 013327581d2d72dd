"""One shot that is looked for, with its truth as far as it is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rag.agents.shotfinder.constraints import Constraints, read_constraint
from rag.reasoners.roles import ConstraintKind

Task = Literal["shot", "temporal", "color", "style", "resolution", "audio"]
TASKS: tuple[Task, ...] = ("shot", "temporal", "color", "style", "resolution", "audio")
"""In the order of the paper's table 1; `shot` has no constraint."""
CONSTRAINED: tuple[Task, ...] = TASKS[1:]


@dataclass(frozen=True, slots=True)
class Place:
    """[start, end) seconds of a video; (0, 0) where nobody knows when."""

    video_id: str
    """Of the content, or the publisher's id."""
    urls: tuple[str, ...]
    """Every upload that shows it."""
    start: float = 0.0
    end: float = 0.0

    @property
    def timed(self) -> bool:
        return self.end > self.start


@dataclass(frozen=True, slots=True)
class ShotQuery:
    query_id: str
    task: Task
    description: str
    constraint: str
    """In words; a temporal one has two lines, before and after, of which one may be empty."""
    gold: Place
    frame: float = 0.0
    """Seconds of the gold video at which the true frame is on screen, where the times are known."""
    value: str = ""
    """What the constraint asks for: `warm`, `2d`, `before`, ...; empty where nobody said."""
    twins: tuple[Place, ...] = ()
    """Shots that fit the description as well, and not the constraint; known of drawn webs alone."""
    cluster: str = ""
    """What stands or falls together: the queries on one set of films. Empty: the gold video."""
    image: str = ""
    """The true frame as a picture, relative to the data; empty where the frame is to be decoded."""
    changes: tuple[str, ...] = ()
    """What was left out, made vague or told wrongly in the words."""

    @property
    def constraints(self) -> Constraints:
        """As the words are read, by the same rules for published and for drawn rows."""
        if self.task == "shot":
            return Constraints()
        kind: ConstraintKind = self.task
        return read_constraint(kind, self.constraint)
