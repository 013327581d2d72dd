"""The mock web: a frozen web of videos and pages, searched, opened and downloaded offline."""

from __future__ import annotations

from rag.web.catalogue import PageEntry, VideoEntry, read_catalogue, write_catalogue
from rag.web.mock import Web, open_web
from rag.web.records import PAGE_SIZE, Availability, Downloaded, SearchPage, SearchResult, TranscriptLine

__all__ = [
    "PAGE_SIZE",
    "Availability",
    "Downloaded",
    "PageEntry",
    "SearchPage",
    "SearchResult",
    "TranscriptLine",
    "VideoEntry",
    "Web",
    "open_web",
    "read_catalogue",
    "write_catalogue",
]
