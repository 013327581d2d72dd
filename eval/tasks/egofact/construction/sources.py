"""Where events and passages come from: a Workbench corpus, and the files of Ego4D and Ego4DSounds.

Of Ego4D, by its real field names: an Ego4DSounds table (tab-separated: `video_uid`, `clip_start`, `clip_end`,
`clip_text`, ...), `narration.json`, and `ego4d.json` (scenarios and durations).
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from pydantic import BaseModel, FiniteFloat, TypeAdapter, ValidationError

from eval.tasks.egofact.construction.records import (
    EventFields,
    EventStructure,
    FactPassage,
    Segment,
    Statement,
)
from eval.tasks.egofact.construction.segments import cut_segments
from eval.tasks.jsonl import numbered_lines, validation_reason
from rag.errors import UsageError

SCENARIOS = (
    "Bike mechanic",
    "Getting car fixed",
    "Car mechanic",
    "Car commuting, road trip",
    "Fixing something in the home",
)
"""Which Ego4D scenarios the paper takes (C.1)."""
HALF_WINDOW = 0.75
"""Ego4DSounds cuts 1.5 s around each narration's time; the same is done to narrations alone."""
Held = TypeVar("Held")
COLUMNS = ("video_uid", "clip_start", "clip_end", "clip_text")


@dataclass(frozen=True, slots=True)
class Narrated:
    """One narration with its time in the video, seconds, [start, end)."""

    video_uid: str
    start: float
    end: float
    text: str
    event: EventStructure | None = None
    """Its structure, where the annotation has one."""


def read_ego4dsounds(path: Path) -> list[Narrated]:
    """The rows of an Ego4DSounds table. Raises `UsageError` naming file and line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    # Lines end where a table's do; str.splitlines would cut at rarer characters within a text.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
    if missing:
        raise UsageError(f"{path}: no tab-separated column {missing[0]!r}; not an Ego4DSounds table")
    found = []
    for number, row in enumerate(rows, 2):
        try:
            start, end = float(row["clip_start"]), float(row["clip_end"])
        except (TypeError, ValueError) as error:
            raise UsageError(f"{path}:{number}: clip_start or clip_end is no number") from error
        if not (math.isfinite(start) and math.isfinite(end)):
            raise UsageError(f"{path}:{number}: clip_start or clip_end is no number")
        if row["video_uid"] and row["clip_text"] and 0 <= start < end:
            found.append(Narrated(row["video_uid"], start, end, row["clip_text"]))
    return found


class _Narration(BaseModel):
    timestamp_sec: FiniteFloat
    narration_text: str


class _Pass(BaseModel):
    narrations: list[_Narration] | None = None


class _Passes(BaseModel):
    narration_pass_1: _Pass | None = None
    narration_pass_2: _Pass | None = None


class _Recorded(BaseModel):
    video_uid: str = ""
    scenarios: tuple[str, ...] | None = None
    duration_sec: float | None = None


class _Release(BaseModel):
    videos: list[_Recorded]


def read_narrations(path: Path) -> list[Narrated]:
    """Ego4D's `narration.json`: of each video the first pass that holds narrations.

    Both passes narrate the same video, so that taking both would double every event.
    """
    found = []
    for uid, passes in _read(path, dict[str, _Passes]).items():
        held = [one.narrations for one in (passes.narration_pass_1, passes.narration_pass_2) if one]
        for line in next(filter(None, held), ()):
            start, end = max(0.0, line.timestamp_sec - HALF_WINDOW), line.timestamp_sec + HALF_WINDOW
            found.append(Narrated(uid, start, end, line.narration_text))
    return found


def read_metadata(path: Path) -> tuple[dict[str, tuple[str, ...]], dict[str, float]]:
    """Scenarios and durations by video uid, of Ego4D's `ego4d.json`."""
    videos = _read(path, _Release).videos
    lengths = {video.video_uid: video.duration_sec for video in videos if video.duration_sec is not None}
    return {video.video_uid: video.scenarios or () for video in videos}, lengths


def _read(path: Path, kind: type[Held]) -> Held:
    """Raises `UsageError` with the first fault."""
    try:
        return TypeAdapter(kind).validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    except ValidationError as error:
        raise UsageError(f"{path}: not Ego4D's {path.name}: {validation_reason(error)}") from error


TRUTH = ".workbench/events.jsonl"


class _Thing(BaseModel):
    kind_id: str


class _Event(EventFields):
    start: FiniteFloat
    end: FiniteFloat
    seen_from: float
    seen_until: float
    paraphrase: str = ""

    def record(self) -> EventStructure:
        parts = self.model_dump(exclude={"seen_from", "seen_until"})
        return EventStructure(**parts, seen=(self.seen_from, self.seen_until))


class _Story(BaseModel):
    description: str
    events: tuple[_Event, ...]
    clutter: tuple[_Thing, ...] = ()
    duration: float | None = None


class _VideoLine(_Story):
    video: str


def read_workbench(corpus: Path, segment_seconds: float) -> list[Segment]:
    """The clips of a Workbench corpus with what truly happens in them.

    Raises `UsageError` naming file and line.
    """
    path = corpus / TRUTH
    found: list[Segment] = []
    for number, line in numbered_lines(path):
        try:
            given = _VideoLine.model_validate(json.loads(line))
            name = given.video if "/" in given.video else f"videos/{given.video}"
            found += _segments(PurePosixPath(name).stem, name, given, segment_seconds)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}:{number}: not a clip's events: {str(error).splitlines()[0]}") from error
        except KeyError as error:
            raise UsageError(f"{path}:{number}: the world knows no thing called {error}") from error
    return found


def segments_of_stories(stories: Iterable[tuple[str, Any]], segment_seconds: float) -> list[Segment]:
    """(file name, `ClipStory`) pairs as clips, so that clips are chosen before any is rendered."""
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


def workbench_passages(twins: bool = False) -> list[FactPassage]:
    """The passages of the Workbench world with their facts and counter-facts; `twins`: those that have one
    and their twins, each with the other's facts for counter-facts."""
    from eval.workbench.catalogue import kind
    from eval.workbench.passages import twin_passages, world_passages

    return [
        FactPassage(
            passage_id=passage.passage_id,
            title=passage.title,
            text=passage.text,
            object=kind(passage.kind_id).name if passage.kind_id else "",
            activity=passage.activity,
            statements=tuple(Statement(one.fact, tuple(one.counterfacts)) for one in passage.statements),
        )
        for passage in (twin_passages() if twins else world_passages())
    ]
