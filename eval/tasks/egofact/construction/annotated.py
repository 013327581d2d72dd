"""Annotated videos from outside: an Ego4D release, or a file of events of any egocentric set.

A line of such a file is one event:

    {"video": "P01/P01_01.mp4", "start": 12.4, "end": 14.1, "text": "take plate", "scenarios": ["kitchen"]}

`video`: path of the file, relative to the file of events; `start`, `end`: seconds of the video; `text`: what
happens, in any words, or Ego4D's `#C C ...`. `scenarios` may be left out. `event` may hold the structure of
C.2.1 (`rewritten`, `agent`, `action`, `patient`, `patient_canonical`, ...), which then is not asked for.

Of Ego4D, by its real field names: an Ego4DSounds table (tab-separated: `video_uid`, `clip_start`, `clip_end`,
`clip_text`, ...) and `ego4d.json` (scenarios and durations).
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from eval.tasks.egofact.construction.records import EventFields, EventStructure
from eval.tasks.published import numbered_lines, validation_reason
from rag.errors import UsageError

VIDEO_FOLDERS = ("videos", "full_scale", "video_540ss", "clips", ".")
"""Where a release has its videos, below its folder or its `v1` or `v2`."""


SCENARIOS = (
    "Bike mechanic",
    "Getting car fixed",
    "Car mechanic",
    "Car commuting, road trip",
    "Fixing something in the home",
)
"""Which Ego4D scenarios the paper takes (C.1)."""
COLUMNS = ("video_uid", "clip_start", "clip_end", "clip_text")
LONGEST = 100 * 3600
"""Seconds; a video that is said to be longer is counted in something else."""


def narrated(text: str, start: float, end: float) -> EventStructure:
    """A narration with its time in the video, seconds [start, end), whose structure is still to be found."""
    parts = dict.fromkeys(("agent", "action", "patient", "patient_canonical"), "")
    return EventStructure(**EventFields(rewritten=text, **parts).model_dump(), start=start, end=end)


def _unsure(text: str) -> bool:
    """Whether the annotator did not know what happens; such a narration is left out."""
    return "#unsure" in text.casefold()


def read_ego4dsounds(path: Path) -> dict[str, list[EventStructure]]:
    """The narrations of an Ego4DSounds table by video uid. Raises `UsageError` naming file and line."""
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
    found: dict[str, list[EventStructure]] = {}
    for number, row in enumerate(rows, 2):
        try:
            start, end = float(row["clip_start"]), float(row["clip_end"])
        except (TypeError, ValueError) as error:
            raise UsageError(f"{path}:{number}: clip_start or clip_end is no number") from error
        if not (math.isfinite(start) and math.isfinite(end)):
            raise UsageError(f"{path}:{number}: clip_start or clip_end is no number")
        if row["video_uid"] and row["clip_text"] and 0 <= start < end and not _unsure(row["clip_text"]):
            found.setdefault(row["video_uid"], []).append(narrated(row["clip_text"], start, end))
    return found


class _Recorded(BaseModel):
    video_uid: str = ""
    scenarios: tuple[str, ...] | None = None
    duration_sec: Annotated[float, Field(ge=0, le=LONGEST)] | None = None


class _Release(BaseModel):
    videos: list[_Recorded]


def read_metadata(path: Path) -> tuple[dict[str, tuple[str, ...]], dict[str, float]]:
    """Scenarios and durations by video uid, of Ego4D's `ego4d.json`."""
    try:
        videos = _Release.model_validate_json(path.read_bytes()).videos
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    except ValidationError as error:
        raise UsageError(f"{path}: not Ego4D's {path.name}: {validation_reason(error)}") from error
    lengths = {video.video_uid: video.duration_sec for video in videos if video.duration_sec is not None}
    return {video.video_uid: video.scenarios or () for video in videos}, lengths


@dataclass(frozen=True, slots=True)
class AnnotatedVideo:
    """One video with its events."""

    video_id: str
    file: Path
    """It need not exist."""
    events: tuple[EventStructure, ...]
    """By start; of one without an action the words alone."""
    scenarios: tuple[str, ...] = ()
    duration: float | None = None
    """Seconds; None where the annotation does not say it."""


def read_release(folder: Path, sounds: Path, scenarios: Sequence[str] = SCENARIOS) -> list[AnnotatedVideo]:
    """The videos of an Ego4D folder, as its own client fills it, that are of one of `scenarios` (C.1).

    `sounds`: an Ego4DSounds table. `scenarios`: empty for all. Raises `UsageError` where a file cannot be
    read.
    """
    places = [base / inner / "ego4d.json" for base in _bases(folder) for inner in ("", "annotations")]
    metadata = next((path for path in places if path.is_file()), None)
    scenarios_of, lengths = read_metadata(metadata) if metadata else ({}, {})
    if scenarios and not scenarios_of:
        raise UsageError(f"{folder}: no ego4d.json, which names the scenarios of the videos")
    return [
        AnnotatedVideo(
            uid,
            next((path for path in _places(folder, uid) if path.is_file()), folder / "videos" / f"{uid}.mp4"),
            _by_start(held),
            tuple(scenarios_of.get(uid, ())),
            lengths.get(uid),
        )
        for uid, held in sorted(read_ego4dsounds(sounds).items())
        if not scenarios or set(scenarios_of.get(uid, ())) & set(scenarios)
    ]


def _by_start(events: Sequence[EventStructure]) -> tuple[EventStructure, ...]:
    return tuple(sorted(events, key=lambda event: (event.start, event.end, event.rewritten)))


def _bases(folder: Path) -> tuple[Path, ...]:
    return folder, folder / "v2", folder / "v1"


def _places(folder: Path, uid: str) -> Iterator[Path]:
    for base in _bases(folder):
        for inner in VIDEO_FOLDERS:
            yield base / inner / f"{uid}.mp4"


class _EventLine(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    video: Annotated[str, Field(min_length=1)]
    start: Annotated[float, Field(ge=0)]
    end: Annotated[float, Field(gt=0, le=LONGEST)]
    text: Annotated[str, Field(min_length=1)]
    scenarios: tuple[str, ...] = ()
    event: EventFields | None = None


def read_events(path: Path) -> list[AnnotatedVideo]:
    """The videos of a file of events; see the module. Raises `UsageError` naming file and line."""
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    rows: dict[str, list[EventStructure]] = {}
    scenarios: dict[str, dict[str, None]] = {}
    for number, line in numbered_lines(path):
        try:
            given = _EventLine.model_validate_json(line)
        except ValidationError as error:
            raise UsageError(f"{path}:{number}: {validation_reason(error)}") from error
        if given.start >= given.end:
            raise UsageError(f"{path}:{number}: start {given.start:g} is not before end {given.end:g}")
        event = narrated(given.text, given.start, given.end)
        if given.event is not None:
            event = replace(event, **given.event.model_dump())
        rows.setdefault(given.video, []).extend([event] * (not _unsure(given.text)))
        scenarios.setdefault(given.video, {}).update(dict.fromkeys(given.scenarios))
    stems = [Path(video).stem for video in rows]
    return [
        AnnotatedVideo(
            Path(video).stem if stems.count(Path(video).stem) == 1 else video.replace("/", "_"),
            path.parent / video,
            _by_start(held),
            tuple(scenarios[video]),
        )
        for video, held in sorted(rows.items())
    ]
