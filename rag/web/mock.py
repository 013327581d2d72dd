"""A frozen web that behaves like one: searched, opened, downloaded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

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
    WebError,
    WebUnusable,
)
from rag.web.catalogue import Catalogue, PageEntry, VideoEntry, read_catalogue
from rag.web.engine import ENGINES, ContentEngine, Engine, EngineKind, SearchEngine, words
from rag.web.records import PAGE_SIZE, Downloaded, Page, SearchPage, SearchResult, Transcript
from rag.web.trace import Operation, WebTrace

if TYPE_CHECKING:
    from indexers.protocol import TextEncoder
    from rag.library import Library
    from rag.store.records import Hit

SNIPPET = 240
"""Characters of a snippet at most."""
SHOWN = ("id", "url", "title", "channel", "upload_date", "duration", "tags", "thumbnail")
"""What a page and a search result show of a video as its entry has it."""


def video_result(entry: VideoEntry, rank: int, score: float) -> SearchResult:
    """A video as a search result."""
    return SearchResult(rank=rank, snippet=shortened(entry.description), score=score, **_shown(entry))


def _shown(entry: VideoEntry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in SHOWN}


def page_result(entry: PageEntry, rank: int, score: float, query: str) -> SearchResult:
    """A page as a search result, with the part that fits the query best as snippet."""
    return SearchResult(
        rank=rank,
        url=entry.url,
        title=entry.title,
        snippet=_best_part(entry.content, query),
        kind="text",
        id=entry.id,
        channel=entry.site,
        score=score,
    )


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
Gate = Literal["private", "region-blocked", "age-gated"]
REASONS: dict[Gate, str] = {
    "private": "this video is private",
    "region-blocked": "this video is not available in your region",
    "age-gated": "this video is for adults who have signed in",
}


@dataclass
class _Call:
    """One call while it lasts: what will be its line in the trace."""

    bytes: int = 0
    results: tuple[str, ...] = ()


class Web:
    """A frozen web of videos and pages, made by `open_web`; used from one thread or several.

    Every call, answered or failed, is one line of `trace`. Answers hang on the catalogue and the engine, and
    on nothing else.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        videos: Engine,
        pages: Engine,
        *,
        trace: WebTrace | None = None,
        spoken: bool = False,
    ) -> None:
        """`spoken`: the snippet of a video is what it says that fits the query best."""
        self.catalogue = catalogue
        """The truth behind the pages, for benchmarks; an agent that looks here cheats."""
        self.trace = trace or WebTrace()
        self._videos, self._pages, self._spoken = videos, pages, spoken

    def session(self, trace: WebTrace | None = None) -> Web:
        """The same web for another client: no call made yet, an empty trace.

        One session a question makes a question's answers independent of the questions before it.
        """
        return Web(self.catalogue, self._videos, self._pages, trace=trace, spoken=self._spoken)

    def search_videos(self, query: str, *, page: int = 1, page_size: int = PAGE_SIZE) -> SearchPage:
        """Videos for words, best first, by their metadata. No result is an answer, not a failure.

        Raises `UsageError` for a page below 1.
        """

        def result(rank: int, hit: Hit) -> SearchResult:
            entry = self.catalogue.by_id[hit.key]
            found = video_result(entry, rank, hit.score)
            said = _best_part(_with_speech(entry).description, query) if self._spoken else ""
            return replace(found, snippet=said) if said else found

        return self._search("search_videos", self._videos, query, page, page_size, result)

    def search(self, query: str, *, page: int = 1, page_size: int = PAGE_SIZE) -> SearchPage:
        """Pages of text for words, best first. Raises as `search_videos` does."""

        def result(rank: int, hit: Hit) -> SearchResult:
            return page_result(self.catalogue.pages_by_id[hit.key], rank, hit.score, query)

        return self._search("search", self._pages, query, page, page_size, result)

    def open(self, url: str) -> Page:
        """The page at an address. Raises `PageGone`: nothing was ever there, or it was removed, or it is
        private now, which looks the same from outside."""
        with self._call("open", url):
            entry = self._entry(url)
            if isinstance(entry, PageEntry):
                return Page(entry.url, entry.title, entry.content, "text", entry.id, entry.site)
            return Page(
                text=entry.description,
                availability=entry.availability,
                has_transcript=bool(entry.transcript),
                **_shown(entry),
            )

    def transcript(self, url: str) -> Transcript:
        """What is said in a video. Raises `PageGone`, `AccessRefused` or `NoTranscript`."""
        with self._call("transcript", url):
            entry = self._entry(url)
            if isinstance(entry, PageEntry):
                raise NoTranscript(f"{url}: a page of text has no transcript")
            _pass_gates(entry, url)
            if not entry.transcript:
                raise NoTranscript(f"{url}: this video has no transcript")
            return Transcript(entry.url, entry.transcript, entry.transcript_timed, entry.language)

    def download(self, url: str) -> Downloaded:
        """The video's file, whole. Raises `PageGone`, `AccessRefused` (a gate of age or region), `NoMedia`
        (a page without a video), or `WebUnusable` where the web's own file is gone or has changed."""
        with self._call("download", url) as call:
            entry = self._entry(url)
            if isinstance(entry, PageEntry):
                raise NoMedia(f"{url}: a page of text holds no video")
            _pass_gates(entry, url)
            if not entry.file:
                raise NoMedia(f"{url}: this web has the video's page, but not its file")
            got = self._whole_file(entry)
            call.bytes = got.bytes
            return got

    def media(self, url: str) -> Downloaded:
        """A file for whoever serves the web: it is no line in the trace; gates hold."""
        entry = self._entry(url)
        if isinstance(entry, PageEntry) or not entry.file:
            raise NoMedia(f"{url}: no video file here")
        _pass_gates(entry, url)
        return self._whole_file(entry)

    def video_id(self, url: str) -> str | None:
        """The content id of the video at an address, as a library has it, without a transfer and without a
        line in the trace; None where the web has no file for it."""
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
        return Downloaded(entry.url, str(path), video_id, state.st_size)

    def _search(
        self,
        operation: Operation,
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
        with self._call(operation, query, page) as call:
            ranked = engine.rank(query)
            first = (page - 1) * page_size
            shown = tuple(
                result(rank, hit)
                for rank, hit in enumerate(ranked[first : first + page_size], start=first + 1)
            )
            call.results = tuple(found.url for found in shown)
            more = first + page_size < len(ranked)
            return SearchPage(query, page, shown, len(ranked), page + 1 if more else None)

    @contextmanager
    def _call(self, operation: Operation, asked: str, page: int | None = None) -> Iterator[_Call]:
        """One call up to its line in the trace."""
        call, outcome = _Call(), "ok"
        try:
            yield call
        except WebError as error:
            outcome = type(error).__name__
            raise
        finally:
            self.trace.add(
                operation,
                asked,
                page=page,
                outcome=outcome,
                results=call.results if outcome == "ok" else (),
                bytes=call.bytes,
            )

    def _entry(self, url: str) -> VideoEntry | PageEntry:
        entry = self.catalogue.video(url) or self.catalogue.page(url)
        if entry is None:
            raise PageGone(f"{url}: not on this web, which is frozen; the live web is out of scope by design")
        if isinstance(entry, VideoEntry) and entry.availability in ("dead", "private"):
            why = REASONS["private"] if entry.availability == "private" else "this video has been removed"
            raise PageGone(f"{url}: {why}")
        return entry


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
    engine: EngineKind = "hybrid",
    trace: WebTrace | None = None,
    encoder: EncoderSettings | None = None,
    library: Library | None = None,
    spoken: bool = False,
) -> Web:
    """The frozen web in a folder that `rag web build` made, or that holds a `web.jsonl`.

    `encoder`: whose text encoder serves the dense half of the engine. `library`: videos
    are searched by what it holds of them, and by their metadata.
    `spoken`: for files that have no metadata. They are searched by what the library holds alone, or without
    one by their names and transcripts, which no web's search reads; they are shown by what they say.

    Raises `LiveWebRefused` for the live web, and `WebUnusable`.
    """
    named = os.fspath(where)
    if named.lower().startswith(LIVE) and not Path(named).exists():
        raise LiveWebRefused(
            f"{named}: the live web is out of scope by design: its answers never repeat; "
            "freeze what you need with: rag web build DIR SOURCE"
        )
    if engine not in ENGINES:
        raise UsageError(f"engine {engine}: no such engine; there are {', '.join(ENGINES)}")
    catalogue = read_catalogue(named)

    def engine_of(entries: Iterable[VideoEntry] | Iterable[PageEntry]) -> SearchEngine:
        opener = partial(_open_encoder, encoder or EncoderSettings())
        texts = {entry.id: entry.text for entry in entries}
        return SearchEngine(texts, engine, opener, catalogue.folder / ".vectors")

    searched = map(_with_speech, catalogue.videos) if spoken and library is None else catalogue.videos
    titles = engine_of(searched)
    videos: Engine = titles
    if library is not None:
        videos = ContentEngine(catalogue.videos, library, None if spoken else titles)
    return Web(catalogue, videos, engine_of(catalogue.pages), trace=trace, spoken=spoken)


def _with_speech(entry: VideoEntry) -> VideoEntry:
    """As it is searched by its metadata and by what is said in it."""
    said = [line.text for line in entry.transcript]
    return replace(entry, description="\n".join([*filter(None, [entry.description]), *said]))


def _open_encoder(settings: EncoderSettings) -> TextEncoder:
    from indexers.registry import open_query_encoder

    return open_query_encoder(settings.text, settings)
