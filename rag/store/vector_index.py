"""Vectors of a table that a search compares with a question: proposed in single precision, ranked exactly.

Scores of the proposed rows are computed again here, row by row in double precision, rounded to 6 decimals
and ranked with ties broken by id, so that the result does not depend on neighbours in a batch, on a filter,
or on the order of the rows.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rag.records import SearchFilter
from rag.store.filters import RowSpans, row_mask
from rag.store.records import Hit
from rag.store.schema import VectorColumns, column_matrix, video_id_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

DECIMALS = 6
FEW_ROWS = 2048
"""So few rows that a filter leaves are scored one by one: quicker than asking an index with a filter."""


def faiss_module() -> Any:
    """FAISS, untyped: its own type stubs know little of what it has."""
    return import_module("faiss")


@contextmanager
def one_thread(faiss: Any) -> Iterator[None]:
    """FAISS with one thread: a second one gains a single query nothing, and spins while it waits.

    12,000 x 512 with 2 threads takes 15 ms of CPU, with one 2.3 ms.
    """
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


def proposals(
    index: Any, params: Any, query: NDArray[np.float32], count: int, keep: NDArray[np.bool_] | None
) -> NDArray[np.int64]:
    """Positions, int64 (m,), of about the `count` rows of an index nearest to `query`, float32 (1, dim).

    `params`: how the index is searched. `keep`: bool (n,), the rows that may be proposed; None is all.
    """
    faiss = faiss_module()
    if keep is not None:
        # Held by name: the parameters do not keep it alive.
        selector = faiss.IDSelectorBitmap(np.packbits(keep, bitorder="little"))
        params.sel = selector
    with one_thread(faiss):
        _, found = index.search(query, min(count, index.ntotal), params=params)
    return np.asarray(found[0][found[0] >= 0], np.int64)


class Codes:
    """A column of strings with few different values, as numbers."""

    def __init__(self, column: Any) -> None:
        encoded = column.combine_chunks().dictionary_encode()
        self.names: list[str] = encoded.dictionary.to_pylist()
        self.codes: NDArray[np.int32] = encoded.indices.to_numpy(zero_copy_only=False)

    def among(self, wanted: Collection[str]) -> NDArray[np.bool_]:
        """bool (n,): whether each row's value is in `wanted`."""
        chosen = np.fromiter(map(wanted.__contains__, self.names), np.bool_, len(self.names))
        return chosen[self.codes] if len(chosen) else np.zeros(len(self.codes), np.bool_)

    def rows_of(self, name: str) -> NDArray[np.int64]:
        """Positions of the rows with that value, int64 (m,), ascending; none for one that no row has."""
        code = self._code_of.get(name)
        if code is None:
            return np.empty(0, np.int64)
        first, last = self._bounds[code], self._bounds[code + 1]
        return np.arange(first, last) if self._order is None else self._order[first:last]

    @cached_property
    def _bounds(self) -> NDArray[np.int64]:
        """int64 (names + 1,): where the rows of each code begin in the order of codes."""
        # Of another type, the codes would be converted, all of them.
        each = np.arange(len(self.names) + 1, dtype=self.codes.dtype)
        return np.searchsorted(self.codes, each, sorter=self._order)

    @cached_property
    def _code_of(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self.names)}

    @cached_property
    def _order(self) -> NDArray[np.int64] | None:
        """Positions in the order of codes; None where the rows are in it, as those written video by video."""
        return None if (self.codes[:-1] <= self.codes[1:]).all() else np.argsort(self.codes, kind="stable")


class Rows(ABC):
    """Rows with unit vectors, each found by its position: in memory (`Matrix`), or in index files
    (`rag.store.code_index.Segment`)."""

    first_id = 0
    """What is added to the table's row ids in a snapshot of several libraries."""
    visible: NDArray[np.bool_] | None = None
    """The rows that a snapshot shows, (n,); None where it shows all."""
    margin = 2 * 10**-DECIMALS
    """Below the last hit by so much, the worst proposed row says that all that tie with it were proposed."""
    most = sys.maxsize
    """Rows that are proposed for a question, about. Where more tie with the last hit, such as equal texts,
    some of them are answered."""

    def __init__(self, columns: Any, table: VectorColumns, spans: Callable[[Any], RowSpans] | None) -> None:
        """`columns`: an Arrow table with row ids and the columns of `table`.

        `spans`: gives the times of rows by their keys, of a table that has none itself.
        """
        self._columns = columns
        self._table = table
        self._spans_of = spans
        self.keys: Any = whole(columns[table.key])
        """Arrow array of n strings."""
        self.row_ids: NDArray[np.uint64] = whole(columns["_rowid"]).to_numpy()
        """The table's row ids, (n,)."""

    @cached_property
    def owners(self) -> Codes:
        """The video or the source of each row."""
        return Codes(self._columns[self._table.owner])

    @cached_property
    def kinds(self) -> Codes | None:
        """The kind of evidence of each row; None where rows have none."""
        return Codes(self._columns["kind"]) if "kind" in self._columns.column_names else None

    @cached_property
    def spans(self) -> RowSpans | None:
        """Start and end of each row; None where rows have no times."""
        if self._spans_of is not None:
            return self._spans_of(self.keys)
        if "start" not in self._columns.column_names:
            return None
        return self._columns["start"].to_numpy(), self._columns["end"].to_numpy()

    def rows_at(self, positions: NDArray[np.int64]) -> list[dict[str, Any]]:
        """Rows, int64 (m,), by the columns of the table."""
        found: list[dict[str, Any]] = self._columns.select(self._table.columns).take(positions).to_pylist()
        return found

    @abstractmethod
    def first_count(self, k: int) -> int:
        """How many rows are proposed at first where k are wanted."""

    @abstractmethod
    def candidates(
        self, query: NDArray[np.float32], count: int, keep: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        """Positions, int64 (m,), of about the `count` rows nearest to `query`, unit float32 (dim,).

        `keep`: bool (n,), the rows that may be proposed; None is all of them.
        """

    @abstractmethod
    def vectors(self, positions: NDArray[np.int64]) -> NDArray[np.float16]:
        """float16 (m, dim) of rows, int64 (m,)."""

    def __len__(self) -> int:
        return len(self.row_ids)

    def mask(self, owners: Collection[str] | None, where: SearchFilter) -> NDArray[np.bool_] | None:
        """bool (n,): visible rows that pass a filter; None where all do. `owners`: None is all of them."""
        keep = row_mask(self, owners, where)
        if keep is None or self.visible is None:
            return self.visible if keep is None else keep
        return keep & self.visible

    def shown(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The visible ones of some rows, int64 (m,)."""
        return positions if self.visible is None else positions[self.visible[positions]]

    def rows_of(self, owner: str) -> NDArray[np.int64]:
        """Positions of the visible rows of an owner, int64 (m,)."""
        return self.shown(self.owners.rows_of(owner))

    def rows_inside(self, owner: str, start: float, end: float) -> NDArray[np.int64]:
        """Rows of an owner that overlap [start, end) seconds, int64 (m,); none where rows have no times."""
        rows, spans = self.rows_of(owner), self.spans
        return rows[:0] if spans is None else rows[(spans[0][rows] < end) & (spans[1][rows] > start)]

    def positions(self, keys: Collection[str]) -> NDArray[np.int64]:
        """Positions of the visible rows of videos with one of `keys`, int64 (m,)."""
        import pyarrow as pa
        import pyarrow.compute as pc

        owners = sorted({video_id_of(key) for key in keys})
        rows = np.concatenate([np.empty(0, np.int64), *map(self.rows_of, owners)])
        held = self.keys.take(rows)
        found = pc.is_in(held, pa.array(sorted(keys), held.type))
        return np.asarray(rows[found.to_numpy(zero_copy_only=False)], np.int64)

    def ids_at(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The snapshot's row ids of rows, int64 (m,)."""
        return self.row_ids[positions].astype(np.int64) + self.first_id

    def places(self, row_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions of rows by the snapshot's row ids, int64 (m,); -1 for one that is not here."""
        found = np.full(len(row_ids), -1, np.int64)
        if not len(self):
            return found
        row_ids, held, order = row_ids - self.first_id, self.row_ids, self._by_row_id
        first, last = (held[0], held[-1]) if order is None else held[order[[0, -1]]]
        # A table of millions of rows has several parts, of which most hold none of the wanted ones.
        near = np.flatnonzero((row_ids >= int(first)) & (row_ids <= int(last)))
        wanted = row_ids[near].astype(np.uint64)
        place = np.searchsorted(held, wanted, sorter=order)
        rows = place if order is None else order[place]
        there = held[rows] == wanted
        found[near[there]] = rows[there]
        return found

    @cached_property
    def _by_row_id(self) -> NDArray[np.int64] | None:
        """Positions in the order of row ids; None where the rows are in it."""
        return None if (self.row_ids[:-1] <= self.row_ids[1:]).all() else np.argsort(self.row_ids)

    def nearest(self, query: NDArray[np.floating[Any]], k: int, keep: NDArray[np.bool_] | None) -> list[Hit]:
        """The k best hits by cosine to `query`, unit float (dim,), best first, ties by key; one for each key.

        `keep`: bool (n,), the rows that may be answered; None is all of them.
        """
        allowed = len(self) if keep is None else int(np.count_nonzero(keep))
        if k < 1 or not allowed:
            return []
        exact, single, count = query.astype(np.float64), query.astype(np.float32), self.first_count(k)
        if allowed <= (FEW_ROWS if keep is not None else 4 * count):
            rows, count = np.arange(len(self)) if keep is None else np.flatnonzero(keep), allowed
        else:
            rows = self.candidates(single, count, keep)
        while True:
            found = self._ranked(exact, rows)
            # Rows that tie with the last hit may not be proposed: ask for more until the worst of those
            # that are is truly worse.
            settled = len(found) > k and found[-1][1] < found[k - 1][1] - self.margin
            if settled or count >= min(allowed, self.most):
                # Adding zero turns -0.0 into 0.0.
                return [Hit(key, score + 0.0) for key, score in found[:k]]
            count *= 4
            rows = self.candidates(single, count, keep)

    def _ranked(self, query: NDArray[np.float64], rows: NDArray[np.int64]) -> list[tuple[str, float]]:
        """Each key of these rows with its best score, best first, ties by key."""
        # Summed along the last axis each row's sum is its own: the other rows change nothing in it.
        scores = (self.vectors(rows).astype(np.float64) * query).sum(axis=1).round(DECIMALS).tolist()
        best: dict[str, float] = {}
        for key, score in zip(self.keys.take(rows).to_pylist(), scores, strict=True):
            if score > best.get(key, -np.inf):
                best[key] = score
        return sorted(best.items(), key=lambda item: (-item[1], item[0]))


def whole(column: Any) -> Any:
    """The one array of a column as it is in its file; `combine_chunks` may copy it."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


class Matrix(Rows):
    """Vectors in memory, all of which a question is compared with."""

    def __init__(
        self, rows: Any, table: VectorColumns, spans: Callable[[Any], RowSpans] | None = None
    ) -> None:
        """`rows`: as `columns` of all rows, with their vectors."""
        # Arrow takes rows of a column in several chunks by copying all of it.
        super().__init__(rows.drop_columns(["vector"]).combine_chunks(), table, spans)
        self.matrix = column_matrix(rows["vector"], table.dim)

    @cached_property
    def _index(self) -> Any:
        """FAISS over the rows, built at its first use."""
        faiss = faiss_module()
        count, dim = self.matrix.shape
        index = faiss.IndexScalarQuantizer(dim, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
        # Its codes are the rows themselves; to encode 100,000 again takes half a second.
        index.add_sa_codes(np.ascontiguousarray(self.matrix).view(np.uint8).reshape(count, 2 * dim))
        return index

    def first_count(self, k: int) -> int:
        """A few more than `k`, for rows that tie."""
        return k + 32

    def candidates(
        self, query: NDArray[np.float32], count: int, keep: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        """Positions, int64 (m,), by the vectors themselves. `query`: float32 (dim,)."""
        params = faiss_module().SearchParameters()
        return proposals(self._index, params, query.reshape(1, -1), count, keep)

    def vectors(self, positions: NDArray[np.int64]) -> NDArray[np.float16]:
        """float16 (m, dim) of rows, int64 (m,)."""
        return self.matrix[positions]
