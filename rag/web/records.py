"""What a web returns: frozen records, times in seconds, [start, end)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from rag.reasoners.roles.searching import Candidate

Availability = Literal["ok", "dead", "private", "region-blocked", "age-gated"]
"""`dead` and `private` answer nothing any more; the last two still show their page, but not the video."""
LONGEST = 1e9
"""Seconds; no video is as long."""
Seconds = Annotated[float, Field(ge=0, lt=LONGEST)]


@dataclass(frozen=True, slots=True)
class SearchResult(Candidate):
    """One line of a list of results. It may be out of date, and its link may be dead.

    `description`: the beginning of it, or the part of a page that fits the query; under 300 characters.
    `channel`: who uploaded a video; of a text page, its site. `duration`: 0.0 where unknown.
    """

    rank: int = 1
    """From 1, counted through all pages of the query."""
    id: str = ""
    """The web's own name of the page, as in `watch?v=ID`."""
    thumbnail: str = ""
    score: float = 0.0
    """Orders the results of one query, and says nothing across queries."""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page of the results of one query."""

    query: str
    page: int
    """Counted from 1."""
    results: tuple[SearchResult, ...]
    total: int
    """Results on all pages together."""
    next_page: int | None = None


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """A line of a transcript with its time [start, end) in seconds."""

    start: Seconds
    end: Seconds
    text: str


@dataclass(frozen=True, slots=True)
class Downloaded:
    """The web's own file of a video, whole and verified. Never change it: others read it too."""

    url: str
    path: str
    video_id: str
    """Hash of the content: the video's id in a library."""


PAGE_SIZE = 10
