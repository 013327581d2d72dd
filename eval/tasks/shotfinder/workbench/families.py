"""Films in families: the same shots in two films, and one thing that tells the films apart.

A family of the colour, style, sound or resolution task is two films of the same
stories; each asks for the same shots, so for every query there is a shot that
fits the description as well and not the constraint. A temporal film shows one
story twice, and only what comes before or after tells which is meant.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import cycle

from eval.tasks.shotfinder.records import Task
from eval.workbench.catalogue import Split
from eval.workbench.jobs import CorpusPlan
from eval.workbench.pen import Style
from eval.workbench.seeds import stable_number, stream
from eval.workbench.shot_videos import (
    AudioKind,
    ShotJob,
    shot_job,
    shot_story,
)
from eval.workbench.story import ClipStory
from eval.workbench.video import Render

FIRST_NUMBER = 2_000_000
COLOR_PAIRS = (("warm", "cold"), ("cold", "neutral"), ("neutral", "warm"))
STYLE_PAIRS = (
    ("live", "2d"),
    ("3d", "graphics"),
    ("live", "3d"),
    ("2d", "graphics"),
    ("live", "graphics"),
    ("2d", "3d"),
)
AUDIO_PAIRS = (("speech", "music"), ("speech", "ambient"))
RESOLUTION_PAIRS = (("720p", "1080p"),)
PAIRS: Mapping[Task, tuple[tuple[str, str], ...]] = {
    "color": COLOR_PAIRS,
    "style": STYLE_PAIRS,
    "audio": AUDIO_PAIRS,
    "resolution": RESOLUTION_PAIRS,
}
DRAWN: Mapping[str, Style] = {"live": "live", "2d": "flat", "3d": "shaded", "graphics": "graphics"}
SOUNDS: Mapping[str, AudioKind] = {"speech": "speech", "music": "music", "ambient": "ambient"}
SIDES = ("before", "after", "both")


@dataclass(frozen=True, slots=True)
class ShotShape:
    """How many families of each kind, and how they are drawn; the same shape, the same bytes."""

    seed: int = 41
    split: Split = "test"
    families: Mapping[str, int] = field(
        default_factory=lambda: {"color": 12, "style": 12, "audio": 12, "resolution": 12}
    )
    sides: tuple[int, int, int] = (9, 9, 6)
    """Temporal films asked by what comes before, after, and both."""
    shots: int = 3
    """Of a film that is no temporal one; the first `asked` are asked for."""
    asked: int = 2
    shot_seconds: float = 4.0
    render: Render = field(default=Render(height=360, fps=2))
    """As many frames a second as a library keeps; more would be drawn and thrown away."""
    noise: int = 60


FULL = ShotShape()
MINI = ShotShape(
    families={"color": 3, "style": 2, "audio": 2, "resolution": 1}, sides=(1, 1, 1), shots=2, asked=1, noise=8
)


@dataclass(frozen=True, slots=True)
class Member:
    """One film of a family."""

    value: str
    """What it has and its twin has not; empty for a temporal film."""
    job: ShotJob


@dataclass(frozen=True, slots=True)
class Family:
    name: str
    task: Task
    value: str
    """Of a temporal film: the side that is asked by."""
    members: tuple[Member, ...]
    asked: tuple[int, ...]
    """Indices of the shots that are asked for."""


def plan_families(shape: ShotShape) -> tuple[Family, ...]:
    """The same shape, the same families. No two shots that are asked for show one deed with one thing."""
    picker = _Picker(shape)
    families: list[Family] = []
    for task, pairs in PAIRS.items():
        for number, values in zip(range(shape.families.get(task, 0)), cycle(pairs), strict=False):
            name = f"{task}-{number:02d}"
            seeds = picker.seeds(name, shape.shots)
            members = tuple(
                Member(value, _video(shape, f"{name}-{value}", seeds, task, value)) for value in values
            )
            families.append(Family(name, task, "", members, tuple(range(shape.asked))))
    for number, side in enumerate(
        side for side, count in zip(SIDES, shape.sides, strict=True) for _ in range(count)
    ):
        name = f"temporal-{number:02d}"
        a, x, b, c, d = picker.seeds(name, 5)
        member = Member("", _video(shape, name, (a, x, b, c, x, d), "temporal", ""))
        families.append(Family(name, "temporal", side, (member,), (1, 4)))
    return tuple(families)


def stories_of(shape: ShotShape, job: ShotJob) -> tuple[ClipStory, ...]:
    """What happens in each shot of a film."""
    plan = job.plan
    return tuple(
        shot_story(seed, plan.split, shape.shot_seconds, plan.style, job.light) for seed in job.seeds
    )


class _Picker:
    """Stories with one event each, that no other film has, in changing scenes."""

    def __init__(self, shape: ShotShape) -> None:
        self._shape = shape
        self._used: set[tuple[str, str]] = set()
        self._kinds: set[str] = set()

    def seeds(self, name: str, count: int) -> tuple[int, ...]:
        found: list[int] = []
        before = ""
        for story_seed, story in self._candidates(name):
            (event,) = story.events
            action = (event.action_id, event.kind_id)
            if story.scene == before or action in self._used or event.kind_id in self._kinds:
                continue
            before = story.scene
            self._used.add(action)
            self._kinds.add(event.kind_id)
            found.append(story_seed)
            if len(found) == count:
                break
        self._kinds.clear()
        return tuple(found)

    def _candidates(self, name: str) -> Iterator[tuple[int, ClipStory]]:
        shape, attempt = self._shape, 0
        while True:
            seed = stable_number("shot story", shape.seed, shape.split, name, attempt)
            story = shot_story(seed, shape.split, shape.shot_seconds)
            attempt += 1
            if len(story.events) == 1:
                yield seed, story


def _video(shape: ShotShape, name: str, seeds: tuple[int, ...], task: Task, value: str) -> ShotJob:
    number = FIRST_NUMBER + stable_number("shot film number", name) % 1_000_000
    height = int(value.removesuffix("p")) if task == "resolution" else shape.render.height
    render = Render(height, shape.render.fps, shape.render.crf)
    style = DRAWN[value] if task == "style" else "live"
    file = f"{stable_number('shot video name', shape.seed, shape.split, name):016x}"[:12]
    return shot_job(
        f"{file}.mp4",
        number,
        CorpusPlan(shape.seed, shape.split, 0, render, style),
        seeds,
        shape.shot_seconds,
        light=value if task == "color" else "",
        audio=SOUNDS[value] if task == "audio" else "ambient",
    )


def rng_of(shape: ShotShape, *parts: object) -> random.Random:
    """A generator of one purpose."""
    return stream("shotfinder", shape.seed, shape.split, *parts)
