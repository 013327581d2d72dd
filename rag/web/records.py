"""What a web returns: frozen records, times in seconds, [start, end)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

Availability = Literal["ok", "dead", "private", "region-blocked", "age-gated"]
"""`dead` and `private` answer nothing any more; the last two still show their page, but not the video."""
PageKind = Literal["video", "text"]
LONGEST = 1e9
"""Seconds; no video is as long."""
Seconds = Annotated[float, Field(ge=0, lt=LONGEST)]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One line of a list of results. It may be out of date, and its link may be dead."""

    rank: int
    """From 1, counted through all pages of the query."""
    url: str
    title: str
    snippet: str
    """The beginning of the description, or the part of the page that fits the query; under 300 characters."""
    kind: PageKind = "video"
    id: str = ""
    """The web's own name of the page, as in `watch?v=ID`."""
    channel: str = ""
    """Who uploaded the video; of a text page, its site."""
    upload_date: str = ""
    """YYYY-MM-DD, or empty."""
    duration: float = 0.0
    """0.0 where unknown, and of text pages."""
    tags: tuple[str, ...] = ()
    thumbnail: str = ""
    score: float = 0.0
    """Orders the results of one query, and says nothing across queries."""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page of the results of one query."""

    query: str
    page: int
    """From 1."""
    results: tuple[SearchResult, ...]
    total: int
    """Results on all pages together."""
    next_page: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """What a browser shows at an address: a watch page, or a page of text."""

    url: str
    title: str
    text: str
    """A video's full description; all the words of a text page."""
    kind: PageKind = "video"
    id: str = ""
    channel: str = ""
    upload_date: str = ""
    duration: float = 0.0
    tags: tuple[str, ...] = ()
    thumbnail: str = ""
    availability: Availability = "ok"
    has_transcript: bool = False


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """A line of a transcript with its time [start, end) in seconds."""

    start: Seconds
    end: Seconds
    text: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """The transcript of a video."""

    url: str
    lines: tuple[TranscriptLine, ...]
    """In time order."""
    timed: bool = True
    """False: the source gave words alone, and the times are their share of the duration by length."""
    language: str = ""

    @property
    def text(self) -> str:
        """All lines, joined by spaces."""
        return " ".join(line.text for line in self.lines)


@dataclass(frozen=True, slots=True)
class Downloaded:
    """The web's own file of a video, whole and verified. Never change it: others read it too."""

    url: str
    path: str
    video_id: str
    """Hash of the content: the video's id in a library."""
    bytes: int


PAGE_SIZE = 10
