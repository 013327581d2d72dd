"""The truth of a Workbench corpus: `.workbench/events.jsonl`, one line a video, and the world's passages."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict

from eval.tasks.egofact.records import EventStructure, FactPassage, Segment, Statement
from eval.tasks.egofact.schema import EventFields
from eval.tasks.egofact.segments import cut_segments
from rag.errors import UsageError

TRUTH = ".workbench/events.jsonl"


class _Given(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class _Thing(_Given):
    kind_id: str


class _Event(EventFields):
    model_config = _Given.model_config

    start: float
    end: float
    seen_from: float
    seen_until: float

    def record(self) -> EventStructure:
        parts = self.model_dump(include=set(EventFields.model_fields))
        return EventStructure(**parts, start=self.start, end=self.end, seen=(self.seen_from, self.seen_until))


class _Story(_Given):
    description: str
    events: tuple[_Event, ...]
    clutter: tuple[_Thing, ...] = ()
    duration: float | None = None


class _Line(_Story):
    video: str


def read_workbench(corpus: Path, segment_seconds: float) -> list[Segment]:
    """The clips of a Workbench corpus with what truly happens in them.

    Raises `UsageError` naming file and line.
    """
    path = corpus / TRUTH
    found: list[Segment] = []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            given = _Line.model_validate(json.loads(line))
            name = given.video if "/" in given.video else f"videos/{given.video}"
            found += _segments(PurePosixPath(name).stem, name, given, segment_seconds)
        except (ValueError, RecursionError) as error:
            said = str(error).splitlines()[0]
            raise UsageError(f"{path}:{number}: not a clip's events: {said}") from error
        except KeyError as error:
            raise UsageError(f"{path}:{number}: the world knows no thing called {error}") from error
    return found


def segments_of_stories(stories: Iterable[tuple[str, Any]], segment_seconds: float) -> list[Segment]:
    """(file name, `ClipStory`) pairs as clips, so that one may choose before anything is drawn."""
    found: list[Segment] = []
    for name, story in stories:
        given = _Story.model_validate(story, from_attributes=True)
        found += _segments(PurePosixPath(name).stem, f"videos/{name}", given, segment_seconds)
    return found


def _segments(video: str, path: str, given: _Story, seconds: float) -> list[Segment]:
    from eval.workbench.catalogue import kind

    return cut_segments(
        video,
        path,
        [event.record() for event in given.events],
        seconds=seconds,
        duration=given.duration,
        description=given.description,
        clutter=[kind(thing.kind_id).name for thing in given.clutter],
    )


def workbench_aliases() -> dict[str, tuple[str, ...]]:
    """Every other name of each kind, by its name."""
    from eval.workbench.catalogue import KINDS

    return {found.name: tuple(found.aliases.values()) for found in KINDS}


def workbench_passages() -> list[FactPassage]:
    """The passages of the Workbench world with their facts and counter-facts."""
    from eval.workbench.catalogue import kind
    from eval.workbench.passages import world_passages

    return [
        FactPassage(
            passage_id=passage.passage_id,
            title=passage.title,
            text=passage.text,
            object=kind(passage.kind_id).name if passage.kind_id else "",
            activity=passage.activity,
            statements=tuple(Statement(one.fact, tuple(one.counterfacts)) for one in passage.statements),
        )
        for passage in world_passages()
    ]
