"""ShotFinder's queries: one shot by its description and at most one constraint, with its gold.

Published rows come in two spellings. The files: `id, Video URL, Description` (which constraint; empty for
none), `Clip Description`, `"{Description} Description"` (a string, or a list of two for the temporal one),
the true frame at `images/{id}.jpg`. The paper (appendix C.2.3): `id, video_link, segment_description_en,
context_description_en, ...`; such a row may name its task as `task` or `Description`, else it has the one
constraint that it describes, and none where it describes several. Unknown keys are ignored. Times are not
published: there the verifier decides whether a shot is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from eval.runs.records import Query, TaskInput
from eval.tasks.layouts import Layout
from eval.tasks.published import text_of
from rag.agents.shotfinder.constraints import Constraints, read_constraint
from rag.reasoners.roles.material import ConstraintKind

Task = Literal["shot", "temporal", "color", "style", "resolution", "audio"]
TASKS: tuple[Task, ...] = ("shot", "temporal", "color", "style", "resolution", "audio")
"""In the order of the paper's table 1; `shot` has no constraint."""
CONSTRAINED: tuple[Task, ...] = TASKS[1:]
QUOTA: Mapping[str, int] = {"shot": 20, **dict.fromkeys(CONSTRAINED, 24)}
"""Queries a task in the paper's further analysis (appendix F): 140 in all."""
BENCHMARK = "ShotFinder"
IMAGES = "images"


@dataclass(frozen=True, slots=True)
class Place:
    """[start, end) seconds of a video; (0, 0) where the time is unknown."""

    video_id: str
    """The hash of the content, or the publisher's id."""
    urls: tuple[str, ...]
    """Every upload that shows it."""
    start: float = 0.0
    end: float = 0.0

    @property
    def timed(self) -> bool:
        """Whether the time is known."""
        return self.end > self.start


@dataclass(frozen=True, slots=True)
class ShotQuery:
    """One query with its gold."""

    query_id: str
    task: Task
    description: str
    constraint: str
    """As text; a temporal one has two lines, before and after, of which one may be empty."""
    gold: Place
    frame: float = 0.0
    """Seconds of the gold video at which the true frame is on screen, where the times are known."""
    value: str = ""
    """What the constraint asks for: `warm`, `2d`, `before`, ...; empty where it is unknown."""
    twins: tuple[Place, ...] = ()
    """Shots that fit the description as well, and not the constraint; known for synthetic webs alone."""
    cluster: str = ""
    """The queries on one set of videos. Empty: the gold video."""
    image: str = ""
    """The true frame as an image file, relative to the data; empty where the frame is to be decoded."""
    topic: str = ""
    """The topic of the video, one of the paper's 20; empty where it is unknown."""

    @property
    def constraints(self) -> Constraints:
        """Parsed from the text, by the same rules for published and for synthetic rows."""
        if self.task == "shot":
            return Constraints()
        kind: ConstraintKind = self.task
        return read_constraint(kind, self.constraint)


@dataclass(frozen=True, slots=True)
class ShotInput(TaskInput):
    """What a solver sees: description and constraint."""

    description: str = ""
    constraint: str = ""
    constraints: Constraints = field(default=Constraints())


def stated(constraints: Constraints) -> str:
    """What a constraint asks for, without its wording: `color warm`, `after`, `resolution 720`."""
    options = {name: value for name, value in constraints.options().items() if name != "wording"}
    sides = ("after", "before")
    return ", ".join(name if name in sides else f"{name} {value}" for name, value in options.items())


def query_of(query: ShotQuery) -> Query:
    """An open query; the window is the shot."""
    gold = query.gold
    name = gold.video_id or (gold.urls[0] if gold.urls else "")
    return Query(
        query_id=query.query_id,
        text=input_of(query).text,
        options=(),
        answer=f"{name}@{gold.start:g}-{gold.end:g}",
        family=query.task,
        video=name,
        cluster=query.cluster or name,
        window=(gold.start, gold.end),
    )


def input_of(query: ShotQuery) -> ShotInput:
    """What a solver sees of a query."""
    text = f"{query.description} {' '.join(query.constraint.split())}".strip()
    return ShotInput(
        query.query_id,
        text,
        description=query.description,
        constraint=query.constraint,
        constraints=query.constraints,
    )


LAYOUTS = Layout.read("eval.tasks.shotfinder", "description")


def shot_query(folder: Path, keys: Mapping[str, Any], fallback: str) -> ShotQuery:
    """The query of a published row; `folder` holds `images`, `fallback`: its id where it has none.

    Raises `ValueError`.
    """
    paper = LAYOUTS["paper"].value(keys, "description") is not None
    layout = LAYOUTS["paper" if paper else "files"]
    texts = {name: _text(layout.value(keys, name)) for name in ("id", "url", "topic", "description", "task")}
    if not texts["description"] or not texts["url"]:
        raise ValueError("it has no description of a clip, or no address of a video")
    told = {task: _joined(layout.value(keys, task)) for task in CONSTRAINED}
    # Every row of the paper has a resolution; it is the constraint only where a row names it.
    present = [task for task in CONSTRAINED if paper and task != "resolution" and told[task].strip()]
    task = present[0] if len(present) == 1 and not texts["task"] else _task(texts["task"])
    if task != "shot" and not told[task].strip():
        raise ValueError(f"its task is {task}, and it has no text for it")
    name = texts["id"] or fallback
    image = f"{IMAGES}/{name}.jpg"
    return ShotQuery(
        query_id=name,
        task=task,
        description=texts["description"],
        constraint=told.get(task, ""),
        gold=Place("", (texts["url"],)),
        image=image if (folder / image).is_file() else "",
        topic=texts["topic"],
    )


def _task(text: str) -> Task:
    plain = text.strip().casefold().removesuffix(" description") or "shot"
    plain = {"colour": "color", "shot description": "shot", "clip": "shot"}.get(plain, plain)
    for task in TASKS:
        if plain == task:
            return task
    raise ValueError(f"Description: {text!r} is none of {', '.join(CONSTRAINED)}")


def _joined(value: Any) -> str:
    """A string, or the two of a list on two lines."""
    if isinstance(value, list):
        return "\n".join(_text(part) for part in value[:2])
    return _text(value)


def _text(value: Any) -> str:
    """On one line."""
    return " ".join(text_of(value).split())
