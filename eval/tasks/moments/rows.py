"""Rows of one sentence each from annotation files of moments, whose entries are nested in several ways."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from eval.runs.records import UnusableRow
from eval.tasks.published import read_entries

TEXT = ".txt"
"""Of a file with lines of Charades-STA."""
WINDOWS = "windows"
"""Field of a row that is made of a nested entry."""
_SECONDS = frozenset(("answer_start_second", "answer_end_second"))
"""Fields of MedVidQA, beside a clock's times."""
_CHARADES = re.compile(r"(?P<video>\S+)\s+(?P<start>\S+)\s+(?P<end>\S+?)\s*##(?P<sentence>.*)")


def read_moment_rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Place and value of each row; what is no row is an `UnusableRow` or a text."""
    lines = path.suffix.lower() == TEXT
    for place, value in read_entries(path):
        yield from _unfolded(place, _text_row(value) if lines and isinstance(value, str) else value)


def _text_row(line: str) -> Any:
    """A line of Charades-STA as an entry of its JSON; what is none stays a text."""
    found = _CHARADES.match(line.strip())
    if found is None:
        return line
    return {
        "video": found["video"],
        "timestamp": (found["start"], found["end"]),
        "caption": found["sentence"],
    }


def _unfolded(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The entries of `annotations`, one row for each sentence of each video or query of each clip, or the
    value itself."""
    if isinstance(value, dict) and isinstance(value.get("annotations"), list):
        for number, each in enumerate(value["annotations"], start=1):
            yield f"{place}.{number}", each
    elif isinstance(value, dict) and any(
        isinstance(each, dict) and "sentences" in each for each in value.values()
    ):
        for video, entry in value.items():
            yield from _sentence_rows(f"{place}.{video}", video, entry)
    elif isinstance(value, dict) and isinstance(value.get("database"), dict):
        for video, entry in value["database"].items():
            yield from _step_rows(f"{place}.{video}", video, entry)
    elif isinstance(value, dict) and any(map(_is_hirest, value.values())):
        for query, videos in value.items():
            yield from _hirest_rows(f"{place}.{query}", query, videos)
    elif isinstance(value, dict) and value and all(map(_is_sentence, value.values())):
        for key, row in value.items():
            yield f"{place}.{key}", {"id": key, **row, **_extended(row)}
    elif isinstance(value, dict) and _dicts(value.get("videos")):
        for video in _dicts(value["videos"]):
            for clip in _dicts(video.get("clips")):
                yield from _query_rows(f"{place}.{clip.get('clip_uid')}", clip)
    elif isinstance(value, dict) and value.keys() >= _SECONDS:
        yield place, {**value, WINDOWS: [[value[key] for key in sorted(_SECONDS, reverse=True)]]}
    else:
        yield place, value


def _sentence_rows(place: str, video: str, entry: Any) -> Iterator[tuple[str, Any]]:
    """One row for each sentence; an entry without sentences and as many times is one unusable row."""
    if not isinstance(entry, dict):
        yield place, UnusableRow(place, "not an object")
        return
    sentences, windows = entry.get("sentences"), entry.get("timestamps")
    if not isinstance(sentences, list) or not isinstance(windows, list) or len(sentences) != len(windows):
        yield place, UnusableRow(place, "sentences: not a list with as many timestamps")
        return
    shared = {"video": video, "duration": entry.get("duration") or 0.0}
    if "duration" not in entry and "num_frames" in entry:
        try:
            rate, last = float(entry["fps"]), float(entry["num_frames"])
            windows = [[min(float(frame), last) / rate for frame in window] for window in windows]
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            yield place, UnusableRow(place, "timestamps: frames without a rate (fps)")
            return
        shared |= {"duration": last / rate, "num_frames": last}
    for number, (sentence, window) in enumerate(zip(sentences, windows, strict=True)):
        yield f"{place}.{number}", {**shared, "sentence": sentence, "window": window, "number": number}


def _step_rows(place: str, video: str, entry: Any) -> Iterator[tuple[str, Any]]:
    """One row for each step that a video of `database` has, with all its windows; none of training.

    YouCook2: `annotations` with `sentence`; COIN: `annotation` with `label`, which may come again.
    """
    if not isinstance(entry, dict):
        yield place, UnusableRow(place, "not an object")
        return
    subset = str(entry.get("subset", ""))
    if subset.lower().startswith("train"):
        return
    windows: dict[str, list[Any]] = {}
    for step in _dicts(entry.get("annotations") or entry.get("annotation")):
        windows.setdefault(str(step.get("sentence") or step.get("label") or ""), []).append(
            step.get("segment")
        )
    for number, (sentence, held) in enumerate(windows.items()):
        row = {"video_id": video, "query": sentence, WINDOWS: held, "id": f"{video}-{number}"}
        yield f"{place}.{number}", {**row, "duration": entry.get("duration") or 0.0}


def _is_hirest(value: Any) -> bool:
    return isinstance(value, dict) and any(
        isinstance(one, dict) and {"relevant", "bounds"} <= one.keys() for one in value.values()
    )


def _hirest_rows(place: str, query: str, videos: Any) -> Iterator[tuple[str, Any]]:
    """One row for each video that has a moment of the query; HiREST asks of others, too."""
    for video, entry in videos.items() if isinstance(videos, dict) else ():
        where = f"{place}.{video}"
        if not isinstance(entry, dict) or not (entry.get("relevant") and entry.get("clip")):
            yield where, UnusableRow(where, "no moment: the query is on the whole video, or on none of it")
            continue
        row = {"video_id": video, "query": query, WINDOWS: [entry.get("bounds")], "id": f"{query}-{video}"}
        yield where, {**row, "duration": entry.get("v_duration") or 0.0}


def _is_sentence(value: Any) -> bool:
    """Of MAD: sentences by their number."""
    return isinstance(value, dict) and value.keys() >= {"sentence", "timestamps"}


def _extended(row: Mapping[str, Any]) -> dict[str, Any]:
    """The window of MAD that its baselines are scored by; it may begin before the movie."""
    held = row.get("ext_timestamps")
    if not isinstance(held, list) or not all(isinstance(time, int | float) for time in held):
        return {}
    return {WINDOWS: [[0.0 if time < 0 else time for time in held]]}  # NaN stays, and is refused


def _query_rows(place: str, clip: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """One row for each query of each annotation of a clip of Ego4D."""
    times = (clip.get("video_start_sec"), clip.get("video_end_sec"))
    start, end = (time if isinstance(time, int | float) else 0.0 for time in times)
    for annotation in _dicts(clip.get("annotations")):
        shared = {
            "clip_uid": clip.get("clip_uid"),
            "clip_seconds": max(0.0, end - start),
            "annotation": annotation.get("annotation_uid") or clip.get("clip_uid"),
        }
        for number, query in enumerate(_dicts(annotation.get("language_queries"))):
            yield f"{place}.{number}", {**query, **shared, "number": number}


def _dicts(value: Any) -> list[Mapping[str, Any]]:
    """The mappings of a list; none of anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
