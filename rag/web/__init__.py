"""The mock web: a frozen web of videos and pages, searched, opened and downloaded offline."""

from __future__ import annotations

from rag.web.catalogue import PageEntry, VideoEntry, read_catalogue, write_catalogue
from rag.web.engine import ENGINES, EngineKind
from rag.web.faults import FAULTS, Fault, Faults
from rag.web.mock import MockWeb, open_web
from rag.web.protocol import (
    AVAILABILITIES,
    PAGE_SIZE,
    Availability,
    Downloaded,
    Page,
    SearchPage,
    SearchResult,
    Transcript,
    TranscriptLine,
    Web,
)
from rag.web.trace import WebEvent, WebTrace

__all__ = [
    "AVAILABILITIES",
    "ENGINES",
    "FAULTS",
    "PAGE_SIZE",
    "Availability",
    "Downloaded",
    "EngineKind",
    "Fault",
    "Faults",
    "MockWeb",
    "Page",
    "PageEntry",
    "SearchPage",
    "SearchResult",
    "Transcript",
    "TranscriptLine",
    "VideoEntry",
    "Web",
    "WebEvent",
    "WebTrace",
    "open_web",
    "read_catalogue",
    "write_catalogue",
]
