"""Columns of one table in memory: vectors and what they are filtered by, as arrays."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rag.store.records import Hit
from rag.store.schema import column_matrix
from rag.store.vector_index import IndexKind, VectorIndex, build_index, nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray


class Codes:
    """A column of strings with few different values, as numbers."""

    def __init__(self, column: Any) -> None:
        encoded = column.combine_chunks().dictionary_encode()
        self.names: list[str] = encoded.dictionary.to_pylist()
        self.codes: NDArray[np.int32] = encoded.indices.to_numpy(zero_copy_only=False)

    def among(self, wanted: Collection[str]) -> NDArray[np.bool_]:
        """bool (n,): whether each row's value is in `wanted`."""
        chosen = np.fromiter((name in wanted for name in self.names), np.bool_, len(self.names))
        return chosen[self.codes] if len(chosen) else np.zeros(len(self.codes), np.bool_)


class Matrix:
    """Unit vectors of a table's rows.

    `rows`: float16 (n, d); `ids` and `row_ids`: n of them; `owners`: the video or the source of each.
    `spans`: (start, end), float64 (n,) seconds each, and `kinds`, where the table has them.
    """

    def __init__(self, table: Any, key: str, owner: str, dim: int, index: IndexKind) -> None:
        self.rows = column_matrix(table["vector"], dim)
        self.ids: list[str] = table[key].to_pylist()
        self.row_ids: NDArray[np.uint64] = table["_rowid"].to_numpy()
        self.owners = Codes(table[owner])
        self.spans: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        self.kinds: Codes | None = None
        if "start" in table.column_names:
            self.spans = (table["start"].to_numpy(), table["end"].to_numpy())
        if "kind" in table.column_names:
            self.kinds = Codes(table["kind"])
        self._kind: IndexKind = index

    @cached_property
    def index(self) -> VectorIndex:
        """The vector index over the rows, built at its first use."""
        return build_index(self._kind, self.rows)

    @cached_property
    def positions(self) -> dict[str, int]:
        """Row number by id."""
        return {key: position for position, key in enumerate(self.ids)}

    def rows_with(self, keys: Iterable[str]) -> list[int]:
        """Row ids of those of `keys` that are here, sorted."""
        known = self.positions
        return sorted(int(self.row_ids[known[key]]) for key in keys if key in known)

    def rows_of(self, owners: Collection[str]) -> list[int]:
        """Row ids of all rows of `owners`."""
        return [int(row_id) for row_id in self.row_ids[self.owners.among(owners)]]

    def nearest(self, query: NDArray[np.floating[Any]], k: int, keep: NDArray[np.bool_] | None) -> list[Hit]:
        """The k rows nearest by cosine to `query`, unit float (dim,), best first.

        `keep`: bool (n,), the rows that may be answered; None is all of them. Raises ValueError for a
        query of another shape.
        """
        return nearest(self.index, self.rows, self.ids, query, k, keep)


def overlapping(
    spans: tuple[NDArray[np.float64], NDArray[np.float64]], start: float | None, end: float | None
) -> NDArray[np.bool_]:
    """bool (n,): whether each half-open span shares a moment with [start, end); None is no bound."""
    keep = np.ones(len(spans[0]), np.bool_)
    if end is not None:
        keep &= spans[0] < end
    if start is not None:
        keep &= spans[1] > start
    return keep
