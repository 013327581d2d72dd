"""The search engine of a web: BM25 and dense by reciprocal rank fusion; with a library, by contents.

    score(q, d) = sum over t in q of idf(t) * tf(t, d) * (k1 + 1) / (tf(t, d) + norm(d))
    norm(d) = k1 * (1 - b + b * |d| / mean|d|)
    idf(t) = ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5))

(Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009; the idf with the 1 is Lucene's,
which is never negative.) LanceDB's full text has k1 fixed at 1.2, so it cannot serve here.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rag.errors import QuestionError
from rag.records import VideoHit
from rag.retrieval.ranking import fuse
from rag.store.records import Hit
from rag.words import UNSPACED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexers.protocol import TextEncoder
    from rag.library import Library
    from rag.web.catalogue import VideoEntry


_RUN = re.compile(rf"(?:{UNSPACED.pattern})+|(?:(?!{UNSPACED.pattern})\S)+")


def words(text: str) -> list[str]:
    """List the words of a text in order, case folded and in compatibility form (NFKC).

    A word is a run of letters, marks and digits. A run of Chinese, Japanese or Thai characters gives
    its overlapping pairs (or itself, where it is one character), as search engines index them.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = (one if unicodedata.category(one)[0] in "LNM" or UNSPACED.match(one) else " " for one in folded)
    found: list[str] = []
    for run in _RUN.findall("".join(kept)):
        pairs = [run[at : at + 2] for at in range(len(run) - 1)] if UNSPACED.match(run) else []
        found += pairs or [run]
    return found


K1 = 1.5
B = 0.75


class Bm25:
    """Made once of all documents, each a list of words."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        self._count = len(documents)
        lengths = np.array([len(document) for document in documents], np.float64)
        mean = max(float(lengths.mean()), 1.0) if len(lengths) else 1.0
        norms = K1 * (1 - B + B * lengths / mean)
        places: dict[str, list[int]] = {}
        counts: dict[str, list[int]] = {}
        for number, document in enumerate(documents):
            for word, times in Counter(document).items():
                places.setdefault(word, []).append(number)
                counts.setdefault(word, []).append(times)
        self._postings: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        for word, held in places.items():
            at, tf = np.array(held, np.int64), np.array(counts[word], np.float64)
            idf = math.log(1 + (self._count - len(held) + 0.5) / (len(held) + 0.5))
            self._postings[word] = at, idf * tf * (K1 + 1) / (tf + norms[at])

    def scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """One for each document, float64 (n,); 0 where no word fits; a repeated word counts again."""
        total = np.zeros(self._count, np.float64)
        for word, times in Counter(query).items():
            if word in self._postings:
                at, weights = self._postings[word]
                total[at] += times * weights
        return total


POOL = 100
"""How far down the dense ranking goes: everything is a little similar to anything."""
DECIMALS = 6


class Engine(Protocol):
    """A search engine over entries given when it is made."""

    def rank(self, query: str) -> list[Hit]:
        """Ids of all that fit, best first, with their scores."""


class SearchEngine:
    """Searches the texts of one table, by id. `open_encoder` is called at the first query only."""

    def __init__(
        self,
        texts: Mapping[str, str],
        open_encoder: Callable[[], TextEncoder] | None = None,
        cache: Path | None = None,
    ) -> None:
        """`open_encoder`: of the dense half; None ranks by words alone. `cache`: a folder where the texts'
        vectors are kept; None keeps them in memory only."""
        self._ids, self._texts = list(texts), list(texts.values())
        self._open_encoder = open_encoder
        self._cache = cache
        self._lock = threading.RLock()

    def rank(self, query: str) -> list[Hit]:
        """All that fit, best first, equal scores by id."""
        # What was no UTF-8 on the command line, no encoder takes.
        query = query.encode("utf-8", "replace").decode()
        asked = words(query)
        if not asked or not self._ids:
            return []
        if self._open_encoder is None:
            return self._by_words(asked)
        rankings = (self._by_words(asked)[:POOL], self._by_meaning(query))
        return fuse([[hit.key for hit in found] for found in rankings])

    def _by_words(self, asked: list[str]) -> list[Hit]:
        with self._lock:
            scores = self._bm25.scores(asked)
        return self._ordered(scores, np.flatnonzero(scores > 0))

    def _by_meaning(self, query: str) -> list[Hit]:
        with self._lock:
            vector = self._encoder.encode_text([query])[0]
            scores = (self._vectors @ vector).astype(np.float64)
        return self._ordered(scores, np.arange(len(scores)))[:POOL]

    def _ordered(self, scores: NDArray[np.float64], numbers: NDArray[np.int64]) -> list[Hit]:
        found = [Hit(self._ids[number], round(float(scores[number]), DECIMALS)) for number in numbers]
        return sorted(found, key=lambda hit: (-hit.score, hit.key))

    @cached_property
    def _bm25(self) -> Bm25:
        return Bm25([words(text) for text in self._texts])

    @cached_property
    def _encoder(self) -> TextEncoder:
        assert self._open_encoder is not None, "words alone are not encoded"
        return self._open_encoder()

    @cached_property
    def _vectors(self) -> NDArray[np.float32]:
        """float32 (n, dim), unit rows, in the texts' order."""
        key = hashlib.sha256(
            "\x1f".join([self._encoder.fingerprint, *self._texts]).encode("utf-8", "replace")
        )
        kept = None if self._cache is None else self._cache / f"{key.hexdigest()[:32]}.npy"
        if kept is not None and kept.exists():
            # A file that was cut, or is none of ours, is made again.
            with contextlib.suppress(OSError, ValueError, EOFError), kept.open("rb") as file:
                found = np.lib.format.read_array(file, allow_pickle=False)
                if _are_vectors(found, (len(self._texts), self._encoder.dim)):
                    held: NDArray[np.float32] = found
                    return held
        rows = self._encoder.encode_text(self._texts)
        if kept is not None:
            _keep(kept, rows)
        return rows


def _are_vectors(found: object, shape: tuple[int, int]) -> bool:
    return (
        isinstance(found, np.ndarray)
        and found.shape == shape
        and found.dtype == np.float32
        and bool(np.isfinite(found).all())
    )


def _keep(path: Path, rows: NDArray[np.float32]) -> None:
    """A web on a disk that cannot be written is searched all the same."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
        with unfinished.open("wb") as file:
            np.save(file, rows)
        unfinished.replace(path)


WINDOWS = 40
"""Hits of the library that are looked through: several may be in one video."""


class ContentEngine:
    """Ranks by the best window of each video that the library holds, fused with a ranking by metadata.

    `titles`: None where there are none: names like `clip_025` are near to any question, and to none. Of a
    video that was uploaded twice both entries are found.
    """

    def __init__(self, entries: Sequence[VideoEntry], library: Library, titles: SearchEngine | None) -> None:
        self._entries = entries
        self._library = library
        self._titles = titles

    def rank(self, query: str) -> list[Hit]:
        """All that fit, best first, equal scores by id."""
        by_title = [] if self._titles is None else [hit.key for hit in self._titles.rank(query)]
        return fuse([self._held(query), by_title])

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
