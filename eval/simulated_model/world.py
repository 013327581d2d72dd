"""The truth of the synthetic videos, as their corpora record it: what each moment shows."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from rag.errors import UsageError

TRUTH = Path(".workbench", "events.jsonl")


@dataclass(frozen=True, slots=True)
class Event:
    """A person does something with something; all times are [start, end) seconds of the video."""

    number: int
    agent: str
    action_id: str
    place: str | None
    kind_id: str
    start: float
    end: float
    seen_from: float
    seen_until: float


@dataclass(frozen=True, slots=True)
class Part:
    """One story of a video."""

    number: int
    start: float
    end: float
    scene: str
    light: str
    style: str
    person: str
    props: tuple[tuple[str, str], ...]
    """Id and colour."""


@dataclass(frozen=True, slots=True)
class Card:
    """Text on the screen."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class Moment:
    """What one frame shows, whole and true."""

    part: Part
    event: Event | None
    object_in_view: bool
    cards: tuple[Card, ...]


@dataclass(frozen=True)
class Video:
    """The truth of one video."""

    name: str
    path: Path
    parts: tuple[Part, ...]
    events: tuple[Event, ...]
    cards: tuple[Card, ...]

    def at(self, time: float) -> Moment:
        """What is to be seen at `time` seconds."""
        number = max(0, bisect_right([part.start for part in self.parts], time) - 1)
        event = next((each for each in self.events if each.start <= time < each.end), None)
        seen = event is not None and event.seen_from <= time < event.seen_until
        cards = tuple(card for card in self.cards if card.start <= time < card.end)
        return Moment(self.parts[number], event, seen, cards)


def corpus_folders(places: Iterable[Path]) -> list[Path]:
    """The corpora and webs of the synthetic world at or below the places, sorted.

    Raises `UsageError` for a place without one.
    """
    found: set[Path] = set()
    for place in places:
        here = {
            path.parent.parent for path in place.rglob(TRUTH.name) if path.parent.name == TRUTH.parent.name
        }
        if not here:
            raise UsageError(
                f"{place}: holds no synthetic videos; name a folder of 'rag workbench' or --data"
            )
        found |= here
    return sorted(found)


def read_videos(corpus: Path) -> list[Video]:
    """The videos of a corpus of which the file is there."""
    lines = (corpus / TRUTH).read_text(encoding="utf-8").splitlines()
    videos = (_video(corpus / "videos", json.loads(line)) for line in lines)
    return [video for video in videos if video.path.is_file()]


def _video(folder: Path, row: Mapping[str, Any]) -> Video:
    parts = row.get("parts") or [{**row, "start": 0.0, "end": row["duration"]}]
    found: Video = TypeAdapter(Video).validate_python(
        {
            "name": row["video"],
            "path": folder / row["video"],
            "parts": [
                {**part, "number": number, "props": [(prop["prop"], prop["color"]) for prop in part["props"]]}
                for number, part in enumerate(parts)
            ],
            "events": [{**event, "number": number} for number, event in enumerate(row["events"])],
            "cards": row.get("cards", ()),
        }
    )
    return found
