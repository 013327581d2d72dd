"""The search engine of a web: BM25, dense, or both by reciprocal rank fusion."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, get_args

import numpy as np

from rag.retrieval.ranking import fuse
from rag.web.bm25 import Bm25
from rag.web.words import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexers.protocol import TextEncoder

EngineKind = Literal["bm25", "dense", "hybrid"]
ENGINES: tuple[EngineKind, ...] = get_args(EngineKind)
POOL = 100
"""How far down the dense ranking goes: everything is a little similar to anything."""
RRF_K = 60
DECIMALS = 6


class Searchable(Protocol):
    """An entry of a search engine: id and text."""

    @property
    def id(self) -> str:
        """Unique within an engine."""

    @property
    def text(self) -> str:
        """What is indexed."""


class Engine(Protocol):
    """A search engine over entries given when it is made."""

    def rank(self, query: str) -> list[Ranked]:
        """All that fit, best first."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """An entry found, with its score."""

    number: int
    """Of the entry, in the order in which the engine was given them."""
    score: float


class SearchEngine:
    """Over the texts of one table. `open_encoder` is called at the first dense query only."""

    def __init__(
        self,
        entries: Sequence[Searchable],
        kind: EngineKind,
        open_encoder: Callable[[], TextEncoder],
        cache: Path | None = None,
    ) -> None:
        """`cache`: a folder where the entries' vectors are kept; None keeps them in memory only."""
        self._entries = entries
        self._kind = kind
        self._open_encoder = open_encoder
        self._cache = cache
        self._lock = threading.RLock()

    def rank(self, query: str) -> list[Ranked]:
        """All that fit, best first, equal scores by id."""
        # What was no UTF-8 on the command line, no encoder takes.
        query = query.encode("utf-8", "replace").decode()
        asked = words(query)
        if not asked or not self._entries:
            return []
        if self._kind == "bm25":
            return self._by_words(asked)
        if self._kind == "dense":
            return self._by_meaning(query)
        rankings = [
            [self._entries[hit.number].id for hit in found]
            for found in (self._by_words(asked)[:POOL], self._by_meaning(query))
        ]
        return [Ranked(self._numbers[hit.key], hit.score) for hit in fuse(rankings, RRF_K)]

    def _by_words(self, asked: list[str]) -> list[Ranked]:
        with self._lock:
            scores = self._bm25.scores(asked)
        return self._ordered(scores, np.flatnonzero(scores > 0))

    def _by_meaning(self, query: str) -> list[Ranked]:
        with self._lock:
            vector = self._encoder.encode_text([query])[0]
            scores = (self._vectors @ vector).astype(np.float64)
        return self._ordered(scores, np.arange(len(scores)))[:POOL]

    def _ordered(self, scores: NDArray[np.float64], numbers: NDArray[np.int64]) -> list[Ranked]:
        found = [Ranked(int(number), round(float(scores[number]), DECIMALS)) for number in numbers]
        return sorted(found, key=lambda hit: (-hit.score, self._entries[hit.number].id))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {entry.id: number for number, entry in enumerate(self._entries)}

    @cached_property
    def _bm25(self) -> Bm25:
        return Bm25([words(entry.text) for entry in self._entries])

    @cached_property
    def _encoder(self) -> TextEncoder:
        return self._open_encoder()

    @cached_property
    def _vectors(self) -> NDArray[np.float32]:
        """float32 (n, dim), unit rows, in the entries' order."""
        texts = [entry.text for entry in self._entries]
        key = hashlib.sha256("\x1f".join([self._encoder.fingerprint, *texts]).encode("utf-8", "replace"))
        kept = None if self._cache is None else self._cache / f"{key.hexdigest()[:32]}.npy"
        if kept is not None and kept.exists():
            # A file that was cut, or is none of ours, is made again.
            with contextlib.suppress(OSError, ValueError, EOFError), kept.open("rb") as file:
                found = np.lib.format.read_array(file, allow_pickle=False)
                if _are_vectors(found, (len(texts), self._encoder.dim)):
                    held: NDArray[np.float32] = found
                    return held
        rows = self._encoder.encode_text(texts)
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
