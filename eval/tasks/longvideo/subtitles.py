"""Subtitles that are published as JSON, of the whole video that a clip was cut from, as files of its own.

LongVideoBench: `subtitles/ID_en.json`, a list of `{"start": "00:00:01.000", "end", "line"}`, or of
`{"timestamp": [seconds, seconds or null], "text"}`. A clip starts at `starting_timestamp_for_subtitles`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from corpora.outputs import atomic_write_text
from eval.tasks.published import first_text, parsed_json
from eval.tasks.videos import FoundVideos, files_below

FOLDER = "subtitles-of-clips"
"""Below the data."""
UNKNOWN_END = 5.0
"""Seconds that a cue without an end stays, at most."""
_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{2}(?:\.\d+)?)")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SubtitleSource:
    """Where the subtitles of a clip are."""

    name: str
    """Of the file."""
    start: float
    """Of the clip, in seconds of the whole video."""
    duration: float
    """Of the clip in seconds; infinite where the row does not say it."""


def subtitle_source(fields: Mapping[str, Any]) -> SubtitleSource | None:
    """What a row says of its subtitles; None unless they are JSON."""
    name = PurePath(first_text(fields, ("subtitle_path",))).name
    if not name.lower().endswith(".json"):
        return None
    start = _number(fields.get("starting_timestamp_for_subtitles"), 0.0)
    return SubtitleSource(name, start, _number(fields.get("duration"), float("inf")))


def write_subtitles(folder: Path, sources: Mapping[str, SubtitleSource], found: FoundVideos) -> None:
    """`FOLDER/ID.srt` for each video that was found and has a source, where it is not there already.

    A source that cannot be read is logged and left out.
    """
    paths = {path.name: folder / path for path in files_below(folder)} if sources else {}
    for video, source in sources.items():
        if video not in found.paths or source.name not in paths:
            continue
        try:
            entries = parsed_json(paths[source.name].read_text(encoding="utf-8-sig"))
            text = "\n".join(_blocks(list(_cues(entries, source))))
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            log.warning("%s: no subtitles as LongVideoBench has them: %s", source.name, error)
            continue
        place = folder / FOLDER / f"{Path(found.paths[video]).stem}.srt"
        if not place.is_file() or place.read_text(encoding="utf-8") != text:
            place.parent.mkdir(exist_ok=True)
            atomic_write_text(place, text)


def _cues(entries: Sequence[Mapping[str, Any]], source: SubtitleSource) -> Iterator[tuple[float, float, str]]:
    """Start and end in seconds of the clip, and text, of the cues that the clip has a part of."""
    read = [_cue(entry) for entry in entries]
    for place, (start, end, text) in enumerate(read):
        if end is None:
            following = read[place + 1][0] if place + 1 < len(read) else start + UNKNOWN_END
            end = min(start + UNKNOWN_END, following if following > start else start + UNKNOWN_END)
        begins, ends = max(0.0, start - source.start), min(end - source.start, source.duration)
        if begins < ends and text.strip():
            yield begins, ends, text


def _cue(entry: Mapping[str, Any]) -> tuple[float, float | None, str]:
    """Raises `ValueError`, `KeyError` or `TypeError` for another layout."""
    if "timestamp" in entry:
        start, end = entry["timestamp"]
        return float(start), None if end is None else float(end), str(entry["text"])
    return _seconds(entry["start"]), _seconds(entry["end"]), str(entry["line"])


def _seconds(clock: str) -> float:
    found = _CLOCK.fullmatch(clock.strip().replace(",", "."))
    if found is None:
        raise ValueError(f"{clock!r} is no time")
    return int(found[1] or 0) * 3600 + int(found[2]) * 60 + float(found[3])


def _blocks(cues: Sequence[tuple[float, float, str]]) -> Iterator[str]:
    for number, (start, end, text) in enumerate(cues, start=1):
        yield f"{number}\n{_clock(start)} --> {_clock(end)}\n{' '.join(text.split())}\n"


def _clock(seconds: float) -> str:
    whole, thousandths = divmod(round(seconds * 1000), 1000)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d},{thousandths:03d}"


def _number(value: Any, missing: float) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else missing
