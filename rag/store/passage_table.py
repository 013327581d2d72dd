"""The writer's passages: gathered in memory, committed in large parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from corpora.records import Passage
from rag.store import schema
from rag.store.database import Database, quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class PassageTable:
    """Passages waiting to be written, and the sources that are written."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._waiting: list[Any] = []
        self.sources: set[str] = set()
        if db.has("passages"):
            self.sources = set(db.rows("passages", ["source_id"])["source_id"].to_pylist())

    def __len__(self) -> int:
        """How many passages wait for `flush`."""
        return sum(rows.num_rows for rows in self._waiting)

    def add(
        self, source_id: str, passages: Sequence[Passage], vectors: NDArray[np.floating[Any]], dim: int
    ) -> None:
        """Queue the passages of a source with their vectors, unit rows, float (n, dim), one for each."""
        rows = schema.passage_rows(source_id, passages, vectors, dim)
        if rows.num_rows:
            self._waiting.append(rows)
            self.sources.add(source_id)

    def flush(self) -> None:
        """Write the queued passages in one append."""
        import pyarrow as pa

        if self._waiting:
            self._db.add("passages", pa.concat_tables(self._waiting))
            self._waiting = []

    def erase(self, sources: set[str]) -> None:
        """Delete all passages of `sources`; what waits must have been flushed."""
        if sources:
            self._db.delete("passages", f"source_id IN {quoted(sorted(sources))}")
            self.sources -= sources
