"""The mock web: a frozen web of videos and pages, searched, opened and downloaded offline."""

from __future__ import annotations

from rag.web.protocol import PAGE_SIZE, Web
from rag.web.records import (
    AVAILABILITIES,
    Availability,
    Downloaded,
    Page,
    SearchPage,
    SearchResult,
    Transcript,
    TranscriptLine,
)
from rag.web.trace import WebEvent, WebTrace

__all__ = [
    "AVAILABILITIES",
    "PAGE_SIZE",
    "Availability",
    "Downloaded",
    "Page",
    "SearchPage",
    "SearchResult",
    "Transcript",
    "TranscriptLine",
    "Web",
    "WebEvent",
    "WebTrace",
]
