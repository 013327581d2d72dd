"""Addresses of the HTTP face, and the few formats that its pages and APIs share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from rag.web.records import PageKind, TranscriptLine


@dataclass(frozen=True, slots=True)
class Links:
    """Below `base`, which is what the client itself called: `http://127.0.0.1:8640`."""

    base: str

    def page(self, name: str, kind: PageKind = "video") -> str:
        """Address of a video's or text's page."""
        path = "watch?v=" if kind == "video" else "pages/"
        return f"{self.base}/{path}{quote(name, safe='')}"

    def media(self, name: str) -> str:
        """Address of a video file."""
        return f"{self.base}/media/{quote(name, safe='')}.mp4"

    def thumbnail(self, name: str) -> str:
        """Address of a video's thumbnail."""
        return f"{self.base}/thumbnails/{quote(name, safe='')}.jpg"

    def transcript(self, name: str) -> str:
        """Address of a video's transcript in WebVTT."""
        return f"{self.base}/transcripts/{quote(name, safe='')}.vtt"


def iso_duration(seconds: float) -> str:
    """ISO 8601, whole seconds: PT1H2M3S."""
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    parts = [f"{number}{unit}" for number, unit in ((hours, "H"), (minutes, "M"), (rest, "S")) if number]
    return "PT" + ("".join(parts) or "0S")


def published(upload_date: str) -> str:
    """RFC 3339, at midnight; the epoch where the day is not known, since clients parse it."""
    return f"{upload_date or '1970-01-01'}T00:00:00Z"


def subtitles(lines: Iterable[TranscriptLine], kind: str = "vtt") -> str:
    """WebVTT (`vtt`) or SubRip (`srt`)."""
    mark = "," if kind == "srt" else "."
    blocks = [
        f"{number}\n{_time(line.start, mark)} --> {_time(line.end, mark)}\n{line.text.replace('-->', '->')}\n"
        for number, line in enumerate(lines, start=1)
    ]
    return ("" if kind == "srt" else "WEBVTT\n\n") + "\n".join(blocks)


def _time(seconds: float, mark: str) -> str:
    whole = round(seconds * 1000)
    hours, minutes = whole // 3_600_000, whole % 3_600_000 // 60_000
    return f"{hours:02d}:{minutes:02d}:{whole % 60_000 // 1000:02d}{mark}{whole % 1000:03d}"
