"""How many of the nearest rows are found through index files, compared with an exact scan of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rag.records import SearchFilter
from rag.store.schema import FULL_TEXT, column_matrix
from rag.store.snapshot import Snapshot
from rag.store.vector_index import Codes
from rag.store.vectors import VectorTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

BEST = 10
"""Rows that are to be found for each question."""
ROUNDING = 10**-5
"""Cosine below the last of the best rows at which a row ties with it."""


def recall(
    s: Snapshot, count: int, texts: Callable[[list[str]], NDArray[np.float32]] | None
) -> dict[str, tuple[int, float]]:
    """By table that has an index: how many questions were asked, and the share of the exact `BEST` rows that
    a search finds.

    `count`: questions, stored vectors of each table; for clips stored texts, where `texts` encodes them
    in the space of images, unit float32 (n, dim).
    """
    found = {}
    for vectors in (s.clip_vectors, s.sound_vectors, s.evidence_vectors, s.passage_vectors):
        if vectors is None or not vectors.indexed:
            continue
        queries = _stored_vectors(s, vectors, count)
        if texts is not None and vectors is s.clip_vectors and (words := _stored_texts(s, count)):
            queries = texts(words)
        found[vectors.table.name] = (len(queries), _recall(s, vectors, queries))
    return found


def _recall(s: Snapshot, vectors: VectorTable, queries: NDArray[np.float32]) -> float:
    """Of unit float32 (n, dim), in one scan. Rows that tie with the last of the best count as found."""
    name, owner, dim = vectors.table.name, vectors.table.owner, vectors.table.dim
    best = np.full((len(queries), BEST), -np.inf)
    shown = {each for part in vectors.indexed for each in part.shown}.union(vectors.matrix.owners.names)
    for batch in s.batches(name, [owner, "vector"]):
        keep = Codes(batch[owner]).among(shown)
        scores = column_matrix(batch["vector"], dim)[keep].astype(np.float32) @ queries.T
        best = -np.sort(-np.concatenate([best, scores.T], axis=1), axis=1)[:, :BEST]
    found = 0
    for query, right in zip(queries, best, strict=True):
        least = right[-1] - ROUNDING
        found += sum(hit.score >= least for hit in vectors.nearest(query, BEST, None, SearchFilter()))
    return float(found) / max(1, int(np.count_nonzero(best > -np.inf)))


def _stored_vectors(s: Snapshot, vectors: VectorTable, count: int) -> NDArray[np.float32]:
    """float32 (n, dim) of rows spread over a table."""
    rows = s.take(vectors.table.name, ["vector"], _spread_rows(s, vectors.table.name, count))
    return column_matrix(rows["vector"], vectors.table.dim).astype(np.float32)


def _stored_texts(s: Snapshot, count: int) -> list[str]:
    """Texts of spans spread over the library."""
    rows = s.take("evidence", [FULL_TEXT], _spread_rows(s, "evidence", count))
    texts: list[str] = rows[FULL_TEXT].to_pylist()
    return texts


def _spread_rows(s: Snapshot, name: str, count: int) -> list[int]:
    """Ids of `count` rows spread over a table, or of all where it has fewer."""
    rows = np.sort(s.scan(name, [], row_ids=True)["_rowid"].to_numpy())
    chosen: list[int] = rows[np.linspace(0, len(rows) - 1, min(count, len(rows))).astype(np.int64)].tolist()
    return chosen
