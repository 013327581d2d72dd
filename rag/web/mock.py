"""A frozen web that behaves like one: searched, opened, downloaded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.identity import content_hash
from indexers.settings import EncoderSettings
from rag.errors import (
    AccessRefused,
    LiveWebRefused,
    NoMedia,
    NoTranscript,
    PageGone,
    UnreadableFile,
    UsageError,
    WebUnusable,
)
from rag.web.catalogue import Catalogue, PageEntry, VideoEntry, read_catalogue
from rag.web.engine import ContentEngine, Engine, SearchEngine, words
from rag.web.records import PAGE_SIZE, Availability, Downloaded, SearchPage, SearchResult, TranscriptLine

if TYPE_CHECKING:
    from indexers.protocol import TextEncoder
    from rag.library import Library
    from rag.store.records import Hit

SNIPPET = 240
"""Characters of a snippet at most."""


def video_result(entry: VideoEntry, rank: int, score: float) -> SearchResult:
    """A video as a search result."""
    return SearchResult(
        url=entry.url,
        title=entry.title,
        description=shortened(entry.description),
        channel=entry.channel,
        upload_date=entry.upload_date,
        duration=entry.duration,
        tags=entry.tags,
        rank=rank,
        id=entry.id,
        thumbnail=entry.thumbnail,
        score=score,
    )


def page_result(entry: PageEntry, rank: int, score: float, query: str) -> SearchResult:
    """A page as a search result, with the part that fits the query best."""
    part = _best_part(entry.content, query)
    return SearchResult(entry.url, entry.title, part, entry.site, rank=rank, id=entry.id, score=score)


def shortened(text: str) -> str:
    """One line of whole words, with an ellipsis where something was cut."""
    line = " ".join(text.split())
    if len(line) <= SNIPPET:
        return line
    cut = line[: SNIPPET - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut) + "…"


def _best_part(text: str, query: str) -> str:
    """The stretch of `SNIPPET` characters with the most different words of the query, the first of equals."""
    wanted = set(words(query))
    line = " ".join(text.split())
    starts = range(0, max(1, len(line) - SNIPPET // 2), SNIPPET // 2)
    best = max(starts, key=lambda at: (len(wanted & set(words(line[at : at + SNIPPET]))), -at))
    if best == 0:
        return shortened(line)
    part = line[best:].split(" ", 1)[-1]
    return shortened(f"…{part}")


LARGEST_PAGE = 100
REASONS: dict[Availability, str] = {
    "dead": "this video has been removed",
    "private": "this video is private",
    "region-blocked": "this video is not available in your region",
    "age-gated": "this video is for adults who have signed in",
}


class Web:
    """A frozen web of videos and pages, made by `open_web`; used from one thread or several.

    Answers hang on the catalogue and the engine, and on nothing else: no call changes what another returns.
    """

    def __init__(self, catalogue: Catalogue, videos: Engine, pages: Engine, *, spoken: bool = False) -> None:
        """`spoken`: a video is described by what it says that fits the query best."""
        self.catalogue = catalogue
        """The truth behind the pages, for benchmarks; an agent that looks here cheats."""
        self._videos, self._pages, self._spoken = videos, pages, spoken

    def search_videos(self, query: str, *, page: int = 1, page_size: int = PAGE_SIZE) -> SearchPage:
        """Videos for words, best first, by their metadata. No result is an answer, not a failure.

        Raises `UsageError` for a page below 1.
        """

        def result(rank: int, hit: Hit) -> SearchResult:
            entry = self.catalogue.by_id[hit.key]
            found = video_result(entry, rank, hit.score)
            said = _best_part(_with_speech(entry).description, query) if self._spoken else ""
            return replace(found, description=said) if said else found

        return self._search(self._videos, query, page, page_size, result)

    def search(self, query: str, *, page: int = 1, page_size: int = PAGE_SIZE) -> SearchPage:
        """Pages of text for words, best first. Raises as `search_videos` does."""

        def result(rank: int, hit: Hit) -> SearchResult:
            return page_result(self.catalogue.pages_by_id[hit.key], rank, hit.score, query)

        return self._search(self._pages, query, page, page_size, result)

    def open(self, url: str) -> VideoEntry | PageEntry:
        """The page at an address. Raises `PageGone`: nothing was ever there, or it was removed, or it is
        private now, which looks the same from outside."""
        entry = self.catalogue.video(url) or self.catalogue.page(url)
        if entry is None:
            raise PageGone(f"{url}: not on this web, which is frozen; the live web is out of scope by design")
        if isinstance(entry, VideoEntry) and entry.availability in ("dead", "private"):
            raise PageGone(f"{url}: {REASONS[entry.availability]}")
        return entry

    def transcript(self, url: str) -> tuple[TranscriptLine, ...]:
        """What is said in a video, in time order. Raises `PageGone`, `AccessRefused` or `NoTranscript`."""
        entry = self.open(url)
        if isinstance(entry, PageEntry):
            raise NoTranscript(f"{url}: a page of text has no transcript")
        _pass_gates(entry, url)
        if not entry.transcript:
            raise NoTranscript(f"{url}: this video has no transcript")
        return entry.transcript

    def download(self, url: str) -> Downloaded:
        """The video's file, whole. Raises `PageGone`, `AccessRefused` (a gate of age or region), `NoMedia`
        (a page without a video), or `WebUnusable` where the web's own file is gone or has changed."""
        entry = self.open(url)
        if isinstance(entry, PageEntry):
            raise NoMedia(f"{url}: a page of text holds no video")
        _pass_gates(entry, url)
        if not entry.file:
            raise NoMedia(f"{url}: this web has the video's page, but not its file")
        return self._whole_file(entry)

    def video_id(self, url: str) -> str | None:
        """The content id of the video at an address, as a library has it; None where the web has no file
        for it."""
        entry = self.catalogue.video(url)
        if entry is None or not entry.file:
            return None
        return entry.content_id or self._whole_file(entry).video_id

    def _whole_file(self, entry: VideoEntry) -> Downloaded:
        """The file of an entry that has one, with the content that the catalogue names."""
        path = self.catalogue.path(entry)
        if path is None or not os.path.isfile(path):
            raise WebUnusable(f"{path or entry.url}: the web's file is gone; build the web again")
        path = path.resolve()
        state = path.stat()
        try:
            video_id = _content_id(path, state.st_size, state.st_mtime_ns)
        except UnreadableFile as error:
            raise WebUnusable(str(error)) from error
        if entry.content_id not in ("", video_id):
            raise WebUnusable(f"{path}: not the file that this web was built with; build the web again")
        return Downloaded(entry.url, str(path), video_id)

    def _search(
        self,
        engine: Engine,
        query: str,
        page: int,
        page_size: int,
        result: Callable[[int, Hit], SearchResult],
    ) -> SearchPage:
        if page < 1 or not 1 <= page_size <= LARGEST_PAGE:
            raise UsageError(
                f"page {page} of {page_size} results: pages count from 1, with 1 to {LARGEST_PAGE}"
            )
        ranked = engine.rank(query)
        first = (page - 1) * page_size
        shown = tuple(
            result(rank, hit) for rank, hit in enumerate(ranked[first : first + page_size], start=first + 1)
        )
        more = first + page_size < len(ranked)
        return SearchPage(query, page, shown, len(ranked), page + 1 if more else None)


def _pass_gates(entry: VideoEntry, url: str) -> None:
    if entry.availability in ("region-blocked", "age-gated"):
        raise AccessRefused(f"{url}: {REASONS[entry.availability]}")


@lru_cache(maxsize=4096)
def _content_id(path: Path, size: int, changed_ns: int) -> str:  # noqa: ARG001 (a changed file is read again)
    return content_hash(path)


LIVE = ("live", "http:", "https:", "www.")


def open_web(
    where: str | os.PathLike[str],
    *,
    encoder: EncoderSettings | None = None,
    library: Library | None = None,
    spoken: bool = False,
    dense: bool = True,
) -> Web:
    """The frozen web in a folder that `rag web build` made, or that holds a `web.jsonl`.

    `encoder`: whose text encoder serves the dense half of the engine; without `dense` words alone are
    compared. `library`: videos are searched by what it holds of them, and by their metadata.
    `spoken`: for files that have no metadata. They are searched by what the library holds alone, or without
    one by their names and transcripts, which no web's search reads; they are shown by what they say.

    Raises `LiveWebRefused` for the live web, and `WebUnusable`.
    Example: `open_web("DIR").search_videos("a kettle").results`.
    """
    named = os.fspath(where)
    if named.lower().startswith(LIVE) and not Path(named).exists():
        raise LiveWebRefused(
            f"{named}: the live web is out of scope by design: its answers never repeat; "
            "freeze what you need with: rag web build DIR SOURCE"
        )
    catalogue = read_catalogue(named)

    def engine_of(entries: Iterable[VideoEntry] | Iterable[PageEntry]) -> SearchEngine:
        opener = partial(_open_encoder, encoder or EncoderSettings()) if dense else None
        texts = {entry.id: entry.text for entry in entries}
        return SearchEngine(texts, opener, catalogue.folder / ".vectors")

    searched = map(_with_speech, catalogue.videos) if spoken and library is None else catalogue.videos
    titles = engine_of(searched)
    videos: Engine = titles
    if library is not None:
        videos = ContentEngine(catalogue.videos, library, None if spoken else titles)
    return Web(catalogue, videos, engine_of(catalogue.pages), spoken=spoken)


def _with_speech(entry: VideoEntry) -> VideoEntry:
    """As it is searched by its metadata and by what is said in it."""
    said = [line.text for line in entry.transcript]
    return replace(entry, description="\n".join([*filter(None, [entry.description]), *said]))


def _open_encoder(settings: EncoderSettings) -> TextEncoder:
    from indexers.registry import open_query_encoder

    return open_query_encoder(settings.text, settings)
