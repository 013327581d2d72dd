"""What an agent may do on a web: five verbs, each of which answers or fails by name."""

from __future__ import annotations

from typing import Protocol

from rag.web.records import Downloaded, Page, SearchPage, Transcript
from rag.web.trace import WebTrace

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
        """What stands at an address. Raises `PageGone`: nothing was ever there, or it was removed, or it is
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
