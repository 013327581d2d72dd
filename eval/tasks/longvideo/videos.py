"""What truly happens in a film of the Workbench world, as its `events.jsonl` tells."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True, slots=True)
class VideoEvent:
    """[start, end) seconds of the film; `part` counts from 0."""

    part: int
    agent: str
    action_id: str
    patient: str
    place: str | None
    sentence: str
    """ "the camera wearer wipes the towel with the cloth"."""
    start: float
    end: float

    @property
    def key(self) -> tuple[str, str, str | None]:
        """Who does what where, whatever it is done to."""
        return self.agent, self.action_id, self.place


@dataclass(frozen=True, slots=True)
class Spoken:
    """Words that are said, or that can be read, during [start, end)."""

    part: int
    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class FilmPart:
    number: int
    """From 1, as the film counts."""
    start: float
    end: float
    scene: str
    description: str
    """ "doing paperwork at a desk with a red globe and a blue fan in warm light"."""
    props: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class LabelledVideo:
    video: str
    duration: float
    parts: tuple[FilmPart, ...]
    events: tuple[VideoEvent, ...]
    lines: tuple[Spoken, ...]
    cards: tuple[Spoken, ...]

    @cached_property
    def alone(self) -> frozenset[int]:
        """Indices of the parts that their scene and props tell from every other part."""
        looks = Counter((part.scene, frozenset(part.props)) for part in self.parts)
        return frozenset(
            index for index, part in enumerate(self.parts) if looks[part.scene, frozenset(part.props)] == 1
        )

    def of_part(self, index: int) -> tuple[VideoEvent, ...]:
        return tuple(event for event in self.events if event.part == index)


def video_of(truth: Mapping[str, Any]) -> LabelledVideo:
    """One line of `events.jsonl`, of a long film. Raises KeyError for any other."""
    starts = [float(part["start"]) for part in truth["parts"]]

    def part_at(time: float) -> int:
        return max(0, bisect_right(starts, time + 1e-6) - 1)

    def spoken(row: Mapping[str, Any]) -> Spoken:
        return Spoken(part_at(float(row["start"])), float(row["start"]), float(row["end"]), str(row["text"]))

    return LabelledVideo(
        video=str(truth["video"]),
        duration=float(truth["duration"]),
        parts=tuple(_part(number, row) for number, row in enumerate(truth["parts"], start=1)),
        events=tuple(
            VideoEvent(
                part=part_at(float(row["start"])),
                agent=str(row["agent"]),
                action_id=str(row["action_id"]),
                patient=str(row["patient"]),
                place=row["place"],
                sentence=str(row["rewritten"]),
                start=float(row["start"]),
                end=float(row["end"]),
            )
            for row in truth["events"]
        ),
        lines=tuple(spoken(row) for row in truth["lines"]),
        cards=tuple(spoken(row) for row in truth["cards"]),
    )


def _part(number: int, row: Mapping[str, Any]) -> FilmPart:
    return FilmPart(
        number=number,
        start=float(row["start"]),
        end=float(row["end"]),
        scene=str(row["scene"]),
        description=str(row["description"]),
        props=tuple((str(prop["prop"]), str(prop["color"])) for prop in row["props"]),
    )
