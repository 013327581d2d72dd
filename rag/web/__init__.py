"""The mock web: a frozen web of videos and pages, searched, opened and downloaded offline."""

from __future__ import annotations

from rag.web.catalogue import PageEntry, VideoEntry, read_catalogue, write_catalogue
from rag.web.engine import ENGINES, EngineKind
from rag.web.mock import Web, open_web
from rag.web.records import (
    PAGE_SIZE,
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
    "ENGINES",
    "PAGE_SIZE",
    "Availability",
    "Downloaded",
    "EngineKind",
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
