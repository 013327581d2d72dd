"""What other programs write about videos, into fields of the catalogue: `.info.json` files, pool rows.

A pool row (Video-Browser): id, title, link, description, channel, upload_date, duration, tags, thumbnail,
transcript. Such rows come in many hands' forms, so what cannot be read is left empty, and never an error.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from corpora.text_decoding import clean, decode, one_line
from rag.web.records import LONGEST, Availability, TranscriptLine

ADULT = 18
CLOSED: dict[str, Availability] = {
    "private": "private",
    "premium_only": "private",
    "subscriber_only": "private",
    "needs_auth": "private",
    "dead": "dead",
    "region-blocked": "region-blocked",
    "age-gated": "age-gated",
}
"""yt-dlp's words for who may see a video, and our own."""
MAX_ROWS_BYTES = 2**30


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one file about videos, and the numbers, from 1, of lines that are no JSON."""

    rows: tuple[Mapping[str, Any], ...]
    broken: tuple[int, ...] = ()


def read_rows(path: Path) -> Rows | None:
    """The rows of a JSON lines file (or a JSON list) that speak of videos; None where most of it does not.

    A row speaks of a video when it has a `link`, a `webpage_url`, or a `url` and a `duration`: so a
    `web.jsonl` is a source too. Raises `OSError`.
    """
    if path.stat().st_size > MAX_ROWS_BYTES:
        return None
    text = decode(path.read_bytes())
    rows, broken = list[dict[str, Any]](), list[int]()
    for number, part in enumerate([text] if text.lstrip().startswith("[") else text.split("\n"), start=1):
        try:
            found = json.loads(part) if part.strip() else []
        except (ValueError, RecursionError):
            broken.append(number)
            continue
        rows += [row for row in (found if isinstance(found, list) else [found]) if isinstance(row, dict)]
    named = tuple(row for row in rows if _speaks_of_a_video(row))
    return Rows(named, tuple(broken)) if len(named) * 2 > len(rows) + len(broken) else None


def read_info(path: Path) -> dict[str, Any]:
    """The fields of a yt-dlp `.info.json`, without the file it names; none where it cannot be read."""
    try:
        info = json.loads(decode(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        return {}
    fields = catalogue_fields(info) if isinstance(info, dict) else {}
    fields.pop("file", None)
    return fields


def catalogue_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """What the row says, by the catalogue's names; what it does not say is left out."""
    url = _first(row, "webpage_url", "link", "url", "original_url")
    duration = _seconds(row.get("duration"))
    lines, timed = _transcript(row.get("transcript"), duration)
    found: dict[str, Any] = {
        "id": _first(row, "id", "video_id") or _id_of(url),
        "url": url,
        "title": _first(row, "title", "fulltitle"),
        "description": _block(row.get("description")),
        "channel": _first(row, "channel", "uploader", "uploader_id"),
        "upload_date": _date(_first(row, "upload_date", "date", "release_date")),
        "duration": duration,
        "tags": _tags(row.get("tags")),
        "thumbnail": _first(row, "thumbnail"),
        "language": _first(row, "language"),
        "file": _first(row, "local_path", "file"),
        "alias_of": _first(row, "alias_of"),
        "transcript": lines,
    }
    if (availability := _availability(row)) != "ok":
        found["availability"] = availability
    known = {key: value for key, value in found.items() if value}
    return known | ({"transcript_timed": False} if lines and not timed else {})


def spread(text: str, duration: float) -> tuple[TranscriptLine, ...]:
    """Words without times as sentences whose share of `duration` is their share of the text."""
    sentences = [part for part in re.split(r"(?<=[.!?。！？])\s*|\n+", text) if part.strip()]
    total = sum(map(len, sentences))
    lines, before = [], 0
    for sentence in sentences:
        start, before = before, before + len(sentence)
        begin, end = (duration * at / total for at in (start, before))
        lines.append(TranscriptLine(round(begin, 2), round(end, 2), " ".join(sentence.split())))
    return tuple(lines)


def _speaks_of_a_video(row: Mapping[str, Any]) -> bool:
    address = _text(row.get("url")) if "duration" in row else ""
    return bool(address or _first(row, "link", "webpage_url"))


def _text(value: object) -> str:
    return one_line(value) if isinstance(value, str) else ""


def _block(value: object) -> str:
    return clean(value).strip() if isinstance(value, str) else ""


def _first(row: Mapping[str, Any], *keys: str) -> str:
    return next((text for key in keys if (text := _text(row.get(key)))), "")


def _id_of(url: str) -> str:
    try:
        parts = urlsplit(url)
        named = parse_qs(parts.query).get("v")
    except ValueError:
        parts, named = urlsplit(""), None
    last = named[0] if named else parts.path.rstrip("/").rpartition("/")[2]
    # An address that is a bare host still names one video.
    return last or (hashlib.blake2b(url.encode("utf-8", "replace")).hexdigest()[:11] if url else "")


def _date(text: str) -> str:
    """`YYYY-MM-DD`; empty for what is no day of the calendar."""
    found = re.match(r"(\d{4})-?(\d{2})-?(\d{2})", text)
    try:
        return date(*map(int, found.groups())).isoformat() if found else ""
    except ValueError:
        return ""


def _seconds(value: object) -> float:
    """Seconds, `M:SS`, `H:MM:SS` or ISO 8601 (`PT1M5S`)."""
    return _time(_written(value.strip()) if isinstance(value, str) else value) or 0.0


def _written(text: str) -> float:
    if iso := re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?", text):
        hours, minutes, seconds = (float(part or 0) for part in iso.groups())
        return hours * 3600 + minutes * 60 + seconds
    parts = text.split(":")
    if all(re.fullmatch(r"\d{1,9}(\.\d+)?", part) for part in parts) and len(parts) <= 3:
        return sum(float(part) * 60.0**power for power, part in enumerate(reversed(parts)))
    return 0.0


def _tags(value: object) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(dict.fromkeys(text for part in parts if (text := _text(part))))


def _availability(row: Mapping[str, Any]) -> Availability:
    limit = row.get("age_limit")
    if isinstance(limit, int) and limit >= ADULT:
        return "age-gated"
    return CLOSED.get(_text(row.get("availability")), "ok")


def _transcript(value: object, duration: float) -> tuple[tuple[TranscriptLine, ...], bool]:
    """Lines, and whether their times are true."""
    if isinstance(value, str):
        return spread(_block(value), duration), False
    if not isinstance(value, Sequence):
        return (), True
    timed = [line for part in value if isinstance(part, dict) and (line := _line(part)) is not None]
    if timed:
        return tuple(sorted(timed, key=lambda line: (line.start, line.end))), True
    return spread("\n".join(_text(part) for part in value), duration), False


def _line(part: Mapping[str, Any]) -> TranscriptLine | None:
    text, start = _text(part.get("text")), _time(part.get("start"))
    if not text or start is None:
        return None
    end = _time(part.get("end"))
    if end is None:
        end = start + (_time(part.get("duration")) or 0.0)
    return TranscriptLine(start, max(start, end), text)


def _time(value: object) -> float | None:
    """Seconds from the beginning; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LONGEST:
        return None
    return float(value)
