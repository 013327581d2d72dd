"""Subtitles that are published as JSON, of the whole video that a clip was cut from, as files of its own.

LongVideoBench: `subtitles/ID_en.json`, a list of `{"start": "00:00:01.000", "end", "line"}`, or of
`{"timestamp": [seconds, seconds or null], "text"}`. A clip starts at `starting_timestamp_for_subtitles`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora.outputs import atomic_write_text
from corpora.video.records import TimedText
from corpora.video.subtitles import ended, plain_cue
from eval.tasks.published import parsed_json
from eval.tasks.videos import FoundVideos, files_below
from rag.rendering.webvtt import webvtt
from rag.store.lookup import seconds

FOLDER = "subtitles-of-clips"
"""Below the data."""
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


def write_subtitles(folder: Path, sources: Mapping[str, SubtitleSource], found: FoundVideos) -> None:
    """`FOLDER/ID.vtt` for each video that was found and has a source, where it is not there already.

    A source that cannot be read is logged and left out.
    """
    paths = {path.name: folder / path for path in files_below(folder)} if sources else {}
    for video, source in sources.items():
        if video not in found.paths or source.name not in paths:
            continue
        try:
            entries = parsed_json(paths[source.name].read_text(encoding="utf-8-sig"))
            text = webvtt(_cues(entries, source))
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            log.warning("%s: no subtitles as LongVideoBench has them: %s", source.name, error)
            continue
        place = folder / FOLDER / f"{Path(found.paths[video]).stem}.vtt"
        if not place.is_file() or place.read_text(encoding="utf-8") != text:
            place.parent.mkdir(exist_ok=True)
            atomic_write_text(place, text)


def _cues(entries: Sequence[Mapping[str, Any]], source: SubtitleSource) -> Iterator[tuple[float, float, str]]:
    """Start and end in seconds of the clip, and text, of the cues that the clip has a part of."""
    for cue in ended([_cue(entry) for entry in entries]):
        begins, ends = max(0.0, cue.start - source.start), min(cue.end - source.start, source.duration)
        if begins < ends and cue.text:
            yield begins, ends, cue.text


def _cue(entry: Mapping[str, Any]) -> TimedText:
    """Raises `ValueError`, `KeyError` or `TypeError` for another layout."""
    if "timestamp" in entry:
        start, end = entry["timestamp"]
        start, end, text = float(start), float(start if end is None else end), entry["text"]
    else:
        start, end = (seconds(str(entry[name]).replace(",", ".")) for name in ("start", "end"))
        text = entry["line"]
    return TimedText(start, end, "subtitle", plain_cue(str(text)))
