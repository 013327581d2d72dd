"""Searches of one question, which run side by side in threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from rag.retrieval.ranking import TextHits, text_hits
from rag.store.records import Hit

AT_ONCE = min(4, (os.cpu_count() or 1) + 1)
"""With more threads than processors, the search that is waited for gets less of them."""
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class TextSearches:
    """Both searches of one query over one table, under way."""

    near: Future[list[Hit]]
    matched: Future[list[Hit]]

    def hits(self, pool: int) -> TextHits:
        """Waits for both."""
        return text_hits(self.near.result(), self.matched.result(), pool)


def start(search: Callable[..., Found], *arguments: object) -> Future[Found]:
    """Run `search` in a thread; it must not start another and wait for it."""
    return _threads().submit(search, *arguments)


@cache
def _threads() -> ThreadPoolExecutor:
    """They spend their time in FAISS and Lance."""
    # A process that is forked has none of these threads.
    os.register_at_fork(after_in_child=_threads.cache_clear)
    return ThreadPoolExecutor(AT_ONCE, "search")
