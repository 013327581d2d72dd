"""A search engine that knows what is in the videos: it asks the library that holds them, and reads titles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag.errors import QuestionError
from rag.records import VideoHit
from rag.retrieval.ranking import fuse
from rag.web.engine import RRF_K, Ranked, SearchEngine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.library import Library
    from rag.web.catalogue import VideoEntry

WINDOWS = 40
"""Hits of the library that are looked through: several may lie in one video."""


class ContentEngine:
    """Fuses two rankings: by the best window of each video that the library holds, and by metadata.

    Home footage has no titles to search by. Of a video that was uploaded twice both entries are found.
    """

    def __init__(self, entries: Sequence[VideoEntry], library: Library, titles: SearchEngine) -> None:
        self._entries = entries
        self._library = library
        self._titles = titles

    def rank(self, query: str) -> list[Ranked]:
        """All that fit, best first, equal scores by id."""
        by_title = [self._entries[hit.number].id for hit in self._titles.rank(query)]
        numbers = {entry.id: number for number, entry in enumerate(self._entries)}
        return [Ranked(numbers[hit.key], hit.score) for hit in fuse([self._held(query), by_title], RRF_K)]

    def _held(self, query: str) -> list[str]:
        """Ids of entries, by the best window of each; re-uploads stand side by side."""
        try:
            hits = self._library.search(query, kind="video", top_k=WINDOWS)
        except QuestionError:
            return []
        found: list[str] = []
        for video_id in dict.fromkeys(hit.video_id for hit in hits if isinstance(hit, VideoHit)):
            found += sorted(entry.id for entry in self._entries if entry.content_id == video_id)
        return found
