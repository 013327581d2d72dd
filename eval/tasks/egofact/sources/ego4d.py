"""Ego4DSounds and Ego4D files, by their real field names: events, scenarios, and captions of one's own.

Read from a folder: an Ego4DSounds table (`*.csv`, `*.tsv`; tab-separated:
`video_uid`, `clip_start`, `clip_end`, `clip_text`, ...), or else Ego4D's
`narration.json`; with them, where they are there, Ego4D's `ego4d.json`
(scenarios and durations) and `descriptions.json` (clip id or video uid to what
it shows, as captions of frames tell). Videos are `videos/<video_uid>.mp4`.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eval.tasks.egofact.narrations import parse_narration
from eval.tasks.egofact.records import EventStructure, Segment
from eval.tasks.egofact.segments import cut_segments
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
COLUMNS = ("video_uid", "clip_start", "clip_end", "clip_text")
Parse = Callable[[str, float, float], EventStructure | None]


@dataclass(frozen=True, slots=True)
class Narrated:
    """One narration with its time in the video, seconds, [start, end)."""

    video_uid: str
    start: float
    end: float
    text: str


def read_ego4d(
    folder: Path,
    segment_seconds: float,
    *,
    parse: Parse = parse_narration,
    scenarios: Sequence[str] = SCENARIOS,
) -> list[Segment]:
    """The clips of all videos of the folder's event list.

    `scenarios`: only videos of one of these, where `ego4d.json` tells; empty for all.
    Raises `UsageError` where there is no event list or it cannot be read.
    """
    narrated = _event_list(folder)
    scenarios_of, lengths = _metadata(folder / "ego4d.json")
    shown = _descriptions(folder / "descriptions.json")
    by_video: dict[str, list[Narrated]] = {}
    for row in narrated:
        by_video.setdefault(row.video_uid, []).append(row)
    found: list[Segment] = []
    for uid, rows in sorted(by_video.items()):
        if scenarios_of and scenarios and not set(scenarios_of.get(uid, ())) & set(scenarios):
            continue
        parsed = [parse(row.text, row.start, row.end) for row in rows]
        cut = cut_segments(
            uid,
            f"videos/{uid}.mp4",
            [event for event in parsed if event is not None],
            seconds=segment_seconds,
            duration=lengths.get(uid),
            description="",
            scenarios=scenarios_of.get(uid, ()),
        )
        found += [replace(clip, description=_described(clip, uid, shown)) for clip in cut if clip.events]
    return found


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


def read_narrations(path: Path) -> list[Narrated]:
    """Ego4D's `narration.json`: of each video the first pass that holds narrations.

    Both passes narrate the same video, so that taking both would double every event.
    """
    found = []
    for uid, passes in _json(path).items():
        if not isinstance(passes, Mapping):
            raise UsageError(f"{path}: {uid!r} holds no narration passes; not Ego4D's narration.json")
        lines: Sequence[Any] = ()
        for name in ("narration_pass_1", "narration_pass_2"):
            held = passes.get(name) or {}
            lines = lines or (held.get("narrations") if isinstance(held, Mapping) else None) or ()
        if not isinstance(lines, Sequence):
            raise UsageError(f"{path}: the narrations of {uid!r} are no list; not Ego4D's narration.json")
        for line in lines:
            try:
                time, text = float(line["timestamp_sec"]), str(line["narration_text"])
                if not math.isfinite(time):
                    raise ValueError(f"{time} is no time")
            except (KeyError, TypeError, ValueError) as error:
                raise UsageError(
                    f"{path}: a narration of {uid!r} lacks timestamp_sec or narration_text"
                ) from error
            found.append(Narrated(uid, max(0.0, time - HALF_WINDOW), time + HALF_WINDOW, text))
    return found


def _event_list(folder: Path) -> list[Narrated]:
    for path in sorted([*folder.glob("*.csv"), *folder.glob("*.tsv")]):
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            if "video_uid" in file.readline().split("\t"):
                return read_ego4dsounds(path)
    path = folder / "narration.json"
    if path.is_file():
        return read_narrations(path)
    raise UsageError(
        f"{folder}: no event list: neither .workbench/events.jsonl, nor an Ego4DSounds table, "
        "nor Ego4D's narration.json"
    )


def _metadata(path: Path) -> tuple[dict[str, tuple[str, ...]], dict[str, float]]:
    """Scenarios and durations by video uid; empty where the file is not there."""
    scenarios: dict[str, tuple[str, ...]] = {}
    lengths: dict[str, float] = {}
    if path.is_file():
        videos = _json(path).get("videos")
        if not isinstance(videos, list) or not all(isinstance(video, Mapping) for video in videos):
            raise UsageError(f"{path}: holds no list of videos; not Ego4D's ego4d.json")
        for video in videos:
            uid = str(video.get("video_uid", ""))
            scenarios[uid] = tuple(map(str, video.get("scenarios") or ()))
            if isinstance(video.get("duration_sec"), int | float):
                lengths[uid] = float(video["duration_sec"])
    return scenarios, lengths


def _descriptions(path: Path) -> dict[str, str]:
    return {str(key): str(text) for key, text in _json(path).items()} if path.is_file() else {}


def _described(clip: Segment, uid: str, shown: Mapping[str, str]) -> str:
    """A caption where there is one; else the scenario and the places that events name most."""
    given = shown.get(clip.clip_id) or shown.get(uid)
    if given:
        return given.removeprefix("the video that shows ").rstrip(". ")
    places = Counter(
        place
        for event in clip.events
        for place in (event.patient_location, event.patient_destination, event.event_location)
        if place
    )
    what = clip.scenarios[0].lower() if clip.scenarios else "everyday work"
    common = [f"the {place}" for place, _ in sorted(places.items(), key=lambda item: (-item[1], item[0]))[:2]]
    return f"{what} around {' and '.join(common)}" if common else what


def _json(path: Path) -> dict[str, Any]:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(held, dict):
        raise UsageError(f"{path}: holds no JSON object")
    return held
