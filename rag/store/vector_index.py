"""Nearest vectors, in memory: FAISS proposes rows in single precision, and they are ranked exactly.

Scores of the proposed rows are computed again here, row by row in double precision, rounded to 6 decimals
and ranked with ties broken by id, so that the result does not depend on neighbours in a batch, on a filter,
or on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rag.store.records import Hit
from rag.store.schema import column_matrix, video_id_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

RowSpans = tuple["NDArray[np.float64]", "NDArray[np.float64]"]
"""Start and end of each of n rows, float64 (n,) seconds each."""
DECIMALS = 6
FEW_ROWS = 2048
"""So few rows that a filter leaves are scored one by one: quicker than asking an index with a filter."""
REMEMBERED = 10_000
"""Positions of what was found last, kept by key."""


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


class FaissIndex:
    """Unit rows in memory, float16 (n, d), all of which a query is compared with."""

    def __init__(self, rows: NDArray[np.float16]) -> None:
        faiss = faiss_module()
        dim = rows.shape[1]
        self._index: Any = faiss.IndexScalarQuantizer(
            dim, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
        )
        # Its codes are the rows themselves; to encode 100,000 again takes half a second.
        self._index.add_sa_codes(np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), 2 * dim))

    def candidates(
        self, query: NDArray[np.float32], count: int, keep: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        """Positions, int64 (m,), of about the `count` rows with the largest inner product, or of all rows.

        `query`: float32 (d,). `keep`: bool (n,), the rows that may be answered; None is all of them.
        """
        faiss = faiss_module()
        count = min(count, self._index.ntotal)
        selector = None
        if keep is not None:
            bits = np.packbits(keep, bitorder="little")
            selector = faiss.IDSelectorBitmap(bits)
        params = faiss.SearchParameters(sel=selector)
        with one_thread(faiss):
            _, positions = self._index.search(query.reshape(1, -1), count, params=params)
        found = positions[0]
        return np.asarray(found[found >= 0], dtype=np.int64)


def nearest(
    index: FaissIndex,
    rows: NDArray[np.float16],
    ids: Any,
    query: NDArray[np.floating[Any]],
    k: int,
    keep: NDArray[np.bool_] | None = None,
    seen: dict[str, int] | None = None,
) -> list[Hit]:
    """The k best hits, best first, ties by id; one hit for each id.

    `rows`: float16 (n, d), unit rows; `ids`: Arrow array of n strings; `query`: (d,); `seen`: takes the
    positions of what was ranked, by id. Raises ValueError for another shape.
    """
    if query.shape != (rows.shape[1],):
        raise ValueError(f"the query must be ({rows.shape[1]},), not {query.shape}")
    if k < 1 or len(rows) == 0:
        return []
    exact = query.astype(np.float64)
    allowed = len(rows) if keep is None else int(np.count_nonzero(keep))
    count = k + 32
    if allowed <= (FEW_ROWS if keep is not None else 4 * count):
        few = np.arange(len(rows)) if keep is None else np.flatnonzero(keep)
        return _ranked(rows, ids, exact, few, seen)[:k]
    while True:
        found = index.candidates(query.astype(np.float32), count, keep)
        hits = _ranked(rows, ids, exact, found, seen)
        # Rows that tie with the last hit may be outside the candidates: ask for more until the worst
        # of them is truly worse.
        settled = len(hits) > k and hits[-1].score < hits[k - 1].score - 2 * 10**-DECIMALS
        if settled or count >= allowed:
            return hits[:k]
        count *= 4


def _ranked(
    rows: NDArray[np.float16],
    ids: Any,
    query: NDArray[np.float64],
    positions: NDArray[np.int64],
    seen: dict[str, int] | None,
) -> list[Hit]:
    # Summed along the last axis each row's sum is its own: the other rows change nothing in it.
    scores = (rows[positions].astype(np.float64) * query).sum(axis=1).round(DECIMALS).tolist()
    best: dict[str, float] = {}
    keys = ids.take(positions).to_pylist()
    if seen is not None:
        seen.update(zip(keys, positions.tolist(), strict=True))
    for key, score in zip(keys, scores, strict=True):
        if score > best.get(key, -np.inf):
            best[key] = score
    # Adding zero turns -0.0 into 0.0.
    return [
        Hit(key, score + 0.0) for key, score in sorted(best.items(), key=lambda item: (-item[1], item[0]))
    ]


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


def positions_of(ids: Any, videos: Codes, wanted: Iterable[str]) -> dict[str, int]:
    """Position by id of those of `wanted` that are among `ids`, an Arrow array of strings.

    `videos`: of the rows.
    """
    found: dict[str, int] = {}
    for video_id, keys in groupby(sorted(set(wanted)), video_id_of):
        rows = videos.rows_of(video_id)
        held = dict(zip(ids.take(rows).to_pylist(), rows.tolist(), strict=True))
        found.update((key, held[key]) for key in keys if key in held)
    return found


def places_of(
    held: NDArray[np.uint64], order: NDArray[np.int64] | None, row_ids: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Positions in `held`, uint64 (n,), of row ids, int64 (m,); -1 for one that is not there.

    `order` sorts `held`; None where it is sorted.
    """
    found = np.full(len(row_ids), -1, np.int64)
    if not len(held):
        return found
    first, last = (held[0], held[-1]) if order is None else held[order[[0, -1]]]
    # A table of millions of rows has several parts, of which most hold none of the wanted ones.
    near = np.flatnonzero((row_ids >= int(first)) & (row_ids <= int(last)))
    wanted = row_ids[near].astype(np.uint64)
    place = np.searchsorted(held, wanted, sorter=order)
    rows = place if order is None else order[place]
    there = held[rows] == wanted
    found[near[there]] = rows[there]
    return found


class FilterColumns(Protocol):
    """What a filter looks at of the rows of a table."""

    @property
    def owners(self) -> Codes:
        """The video or the source of each row."""
        ...

    @property
    def kinds(self) -> Codes | None:
        """The kind of each row; None where there are none."""
        ...


class Matrix:
    """Unit vectors of a table's rows.

    `rows`: float16 (n, d); `ids`: Arrow array of n strings; `row_ids`: uint64 (n,); `owners`: the video or
    the source of each. `spans` and `kinds`, where the table has
    them. `texts`: the rows as an Arrow table without vectors, where it has one of those columns.
    """

    def __init__(self, table: Any, key: str, owner: str, dim: int, texts: Collection[str] = ()) -> None:
        self.rows = column_matrix(table["vector"], dim)
        self.ids: Any = table[key].cast("large_string").combine_chunks()
        self.row_ids: NDArray[np.uint64] = table["_rowid"].to_numpy()
        self.owners = Codes(table[owner])
        self.spans: RowSpans | None = None
        self.kinds: Codes | None = None
        if "start" in table.column_names:
            self.spans = (table["start"].to_numpy(), table["end"].to_numpy())
        if "kind" in table.column_names:
            self.kinds = Codes(table["kind"])
        self.texts: Any = None
        if set(texts) & set(table.column_names):
            # Arrow takes rows of a column in several chunks by copying all of it.
            self.texts = table.drop_columns(["vector"]).combine_chunks()
        self._seen: dict[str, int] = {}

    @cached_property
    def index(self) -> FaissIndex:
        """The vector index over the rows, built at its first use."""
        return FaissIndex(self.rows)

    def positions(self, keys: Iterable[str]) -> dict[str, int]:
        """Row number of those of `keys` that are here; not of passages, whose ids don't name their source."""
        if not len(self.row_ids):
            return {}
        wanted, seen = set(keys), self._seen
        found = {key: seen[key] for key in wanted if key in seen}
        return found | positions_of(self.ids, self.owners, wanted - found.keys())

    def rows_among(self, keys: Collection[str]) -> NDArray[np.int64]:
        """Numbers of all rows with one of `keys`, int64 (m,), rising; several rows may have one key."""
        import pyarrow as pa
        import pyarrow.compute as pc

        held = pc.is_in(self.ids, value_set=pa.array(sorted(keys), pa.large_string()))
        return np.flatnonzero(held.to_numpy(zero_copy_only=False))

    def places(self, row_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions of rows by their row ids, int64 (m,); -1 for one that is not here."""
        return places_of(self.row_ids, self._by_row_id, row_ids)

    @cached_property
    def _by_row_id(self) -> NDArray[np.int64] | None:
        """Positions in the order of row ids; None where the rows are in it."""
        return None if (self.row_ids[:-1] <= self.row_ids[1:]).all() else np.argsort(self.row_ids)

    def note(self, keys: list[str], row_ids: NDArray[np.int64]) -> None:
        """So that `positions` knows those of some rows that are here; row ids int64 (n,)."""
        places = self.places(row_ids)
        self._note([keys[at] for at in np.flatnonzero(places >= 0)], places[places >= 0].tolist())

    def _note(self, keys: list[str], positions: list[int]) -> None:
        if len(self._seen) + len(keys) > REMEMBERED:
            self._seen = {}
        self._seen.update(zip(keys, positions, strict=True))

    def rows_of(self, owners: Collection[str]) -> list[int]:
        """Row ids of all rows of `owners`."""
        return [int(row_id) for owner in owners for row_id in self.row_ids[self.owners.rows_of(owner)]]

    def nearest(self, query: NDArray[np.floating[Any]], k: int, keep: NDArray[np.bool_] | None) -> list[Hit]:
        """The k rows nearest by cosine to `query`, unit float (dim,), best first.

        `keep`: bool (n,), the rows that may be answered; None is all of them. Raises ValueError for a
        query of another shape.
        """
        seen: dict[str, int] = {}
        hits = nearest(self.index, self.rows, self.ids, query, k, keep, seen)
        self._note(list(seen), list(seen.values()))
        return hits


def overlapping(spans: RowSpans, start: float | None, end: float | None) -> NDArray[np.bool_]:
    """bool (n,): whether each half-open span shares a moment with [start, end); None is no bound."""
    keep = np.ones(len(spans[0]), np.bool_)
    if end is not None:
        keep &= spans[0] < end
    if start is not None:
        keep &= spans[1] > start
    return keep
