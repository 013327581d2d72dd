"""The interface of a web, and the records it returns: frozen, times in seconds, [start, end)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from rag.web.trace import WebTrace

Availability = Literal["ok", "dead", "private", "region-blocked", "age-gated"]
"""`dead` and `private` answer nothing any more; the last two still show their page, but not the video."""
AVAILABILITIES: tuple[Availability, ...] = ("ok", "dead", "private", "region-blocked", "age-gated")
PageKind = Literal["video", "text"]


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

    start: float
    end: float
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
    """A whole file, verified, in the cache of downloads. Never change it: others read it too."""

    url: str
    path: str
    video_id: str
    """Hash of the content: the video's id in a library, and the file's name in the cache."""
    bytes: int
    cached: bool
    """It was in the cache before, so that nothing was transferred."""


PAGE_SIZE = 10


class Web(Protocol):
    """A web of videos and pages. Any verb may raise `RateLimited` or `WebTimeout` (try again, later),
    and every call, answered or failed, is one line of `trace`.

    Made by `rag.web.open_web`; used from one thread or several.
    """

    trace: WebTrace

    @property
    def fingerprint(self) -> str:
        """Hash over all that the web holds and over its search engine; same web, same answers."""
        ...

    def search_videos(self, query: str, *, page: int = 1, page_size: int = PAGE_SIZE) -> SearchPage:
        """Videos for words, best first, by their metadata. No result is an answer, not a failure."""
        ...

    def search(self, query: str, *, page: int = 1, page_size: int = PAGE_SIZE) -> SearchPage:
        """Pages of text for words, best first."""
        ...

    def open(self, url: str) -> Page:
        """The page at an address. Raises `PageGone`: nothing was ever there, or it was removed, or it is
        private now, which looks the same from outside."""
        ...

    def transcript(self, url: str) -> Transcript:
        """What is said in a video. Raises `PageGone`, `AccessRefused` or `NoTranscript`."""
        ...

    def download(self, url: str) -> Downloaded:
        """The video's file, whole. Raises `PageGone`, `AccessRefused` (a gate of age or region),
        `NoMedia` (a page without a video) or `DownloadTruncated` (try again)."""
        ...

    def video_id(self, url: str) -> str | None:
        """The content id of the video at an address, as a library has it, without a transfer and
        without a line in the trace; None where the web has no file for it."""
        ...

    def close(self) -> None:
        """Release files and processes."""
