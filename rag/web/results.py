"""A line of a list of results, out of an entry of the catalogue."""

from __future__ import annotations

from rag.web.catalogue import PageEntry, VideoEntry
from rag.web.records import SearchResult
from rag.web.words import words

SNIPPET = 240
"""Characters of a snippet at most."""
STALE_SHARE = 0.6
"""Of the title's words, those that an early state of it had."""


def video_result(entry: VideoEntry, rank: int, score: float, *, stale: bool = False) -> SearchResult:
    """`stale`: as it stood when the engine last looked, which is long ago."""
    title = entry.title.split()
    early = " ".join(title[: max(1, round(len(title) * STALE_SHARE))])
    return SearchResult(
        rank=rank,
        url=entry.url,
        title=early if stale else entry.title,
        snippet="" if stale else shortened(entry.description),
        id=entry.id,
        channel=entry.channel,
        upload_date=entry.upload_date,
        duration=0.0 if stale else entry.duration,
        tags=() if stale else entry.tags,
        thumbnail=entry.thumbnail,
        score=score,
    )


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


def shortened(text: str, limit: int = SNIPPET) -> str:
    """One line of whole words, with an ellipsis where something was cut."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
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
