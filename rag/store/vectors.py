"""The vectors of a table that a search compares with a question: in memory (`Matrix`), or, of a large table,
through LanceDB's index of it (`Indexed`); and the clips and stored frames that a search asks for.

Both only propose rows. Scores of these are computed again here, row by row in double precision, rounded to 6
decimals and ranked with ties broken by id, so that the result does not depend on neighbours in a batch, on a
filter, or on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.records import Clip
from rag.records import SearchFilter
from rag.store.error_mapping import read_errors
from rag.store.filters import Codes, RowSpans, is_timed, kinds_sql, within
from rag.store.records import ClipFrames, Hit, best_hits
from rag.store.schema import VectorColumns, column_matrix, quoted, vectors_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.store.snapshot import Snapshot

DECIMALS = 6
FEW_ROWS = 2048
"""So few rows that a filter leaves are scored one by one: quicker than asking FAISS with a filter."""
MARGIN = 2 * 10**-DECIMALS
"""Below the last hit by so much, the worst proposed row says that all that tie with it were proposed."""
PROPOSED = 1000
"""Rows of a large table that are ranked by their vectors for a question, at least
(docs/reports/scale.md)."""
LEFT = 250
"""If fewer of the proposed rows lie in the times of a filter, more are asked for."""
MOST_PROPOSED = 64_000
"""And at most, under a filter on times that lets few of them through."""
TimesOf = Callable[[Any], RowSpans]
"""Start and end of the rows of an Arrow table, which may have none itself."""
ABOUT_ONE = 1.01
"""More than a component of a unit row may be, rounded to float16."""


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


class Matrix:
    """Rows of one library with unit vectors in memory, all of which a question is compared with."""

    def __init__(self, rows: Any, table: VectorColumns, times: TimesOf | None = None) -> None:
        """`rows`: an Arrow table with the columns of `table`, and their vectors."""
        self.table = table
        self._times = times or _own_times
        # Arrow takes rows of a column in several chunks by copying all of it.
        self._columns = rows.drop_columns(["vector"]).combine_chunks()
        self._keys: Any = self._columns[table.key].combine_chunks()
        self._matrix = column_matrix(rows["vector"], table.dim)

    @cached_property
    def _owners(self) -> Codes:
        return Codes(self._columns[self.table.owner])

    @cached_property
    def _kinds(self) -> Codes:
        return Codes(self._columns["kind"])

    @cached_property
    def _spans(self) -> RowSpans:
        return self._times(self._columns)

    @cached_property
    def _index(self) -> Any:
        """FAISS over the rows, built at its first use."""
        faiss = faiss_module()
        count, dim = self._matrix.shape
        index = faiss.IndexScalarQuantizer(dim, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
        # Its codes are the rows themselves; to encode 100,000 again takes half a second.
        index.add_sa_codes(np.ascontiguousarray(self._matrix).view(np.uint8).reshape(count, 2 * dim))
        return index

    def _mask(self, owners: Collection[str] | None, where: SearchFilter) -> NDArray[np.bool_] | None:
        """bool (n,): rows that pass a filter; None where all do."""
        masks = [] if owners is None else [self._owners.among(owners)]
        if where.kinds is not None and "kind" in self.table.others:
            masks.append(self._kinds.among(where.kinds))
        if is_timed(where):
            masks.append(within(where, self._owners, self._spans))
        return np.logical_and.reduce(masks) if masks else None

    def nearest(
        self, query: NDArray[np.floating[Any]], k: int, owners: Collection[str] | None, where: SearchFilter
    ) -> list[Hit]:
        """The k best hits by cosine to `query`, unit float (dim,), best first, ties by key; one for each key.

        `owners`: those whose rows may be answered; None is all of them.
        """
        keep = self._mask(owners, where)
        allowed = len(self._keys) if keep is None else int(np.count_nonzero(keep))
        if k < 1 or not allowed:
            return []
        count = k + 32  # a few more, for rows that tie
        if allowed <= (FEW_ROWS if keep is not None else 4 * count):
            rows, count = np.arange(len(self._keys)) if keep is None else np.flatnonzero(keep), allowed
        else:
            rows = self._proposed(query, count, keep)
        while True:
            found = _ranked(query, self._keys.take(rows).to_pylist(), self._matrix[rows])
            # Rows that tie with the last hit may not be proposed: ask for more until the worst of those
            # that are is truly worse.
            if count >= allowed or (len(found) > k and found[-1].score < found[k - 1].score - MARGIN):
                return found[:k]
            count *= 4
            rows = self._proposed(query, count, keep)

    def _proposed(
        self, query: NDArray[np.floating[Any]], count: int, keep: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        """Positions, int64 (m,), of about the `count` rows nearest to `query`, unit float (dim,)."""
        faiss, index = faiss_module(), self._index
        params = faiss.SearchParameters()
        if keep is not None:
            # Held by name: the parameters do not keep it alive.
            selector = faiss.IDSelectorBitmap(np.packbits(keep, bitorder="little"))
            params.sel = selector
        single = query.astype(np.float32).reshape(1, -1)
        with one_thread(faiss):
            _, found = index.search(single, min(count, index.ntotal), params=params)
        return np.asarray(found[0][found[0] >= 0], np.int64)

    def count(self, owners: Collection[str] | None, where: SearchFilter) -> int:
        """Count by a mask."""
        keep = self._mask(owners, where)
        return len(self._keys) if keep is None else int(np.count_nonzero(keep))

    def everything(self) -> tuple[list[str], NDArray[np.float16]]:
        """The keys of all rows, and their vectors, float16 (n, dim)."""
        return self._keys.to_pylist(), self._matrix


class Indexed:
    """Rows of a large table, whose vectors stay on the disk; they are asked as those of `Matrix`. LanceDB's
    index of them proposes rows, also those that came after it; without an index all are compared."""

    def __init__(self, s: Snapshot, table: VectorColumns, times: TimesOf | None = None) -> None:
        self.table = table
        self._times = times or _own_times
        self._snapshot = s

    def _scan(
        self, owners: Collection[str] | None, where: SearchFilter, *columns: str, **options: Any
    ) -> tuple[int, Any]:
        """How many rows were found, and those of them that lie in the times of `where`."""
        columns = (*self.table.columns, *columns)
        rows = self._snapshot.scan(self.table.name, [*columns], self._conditions(owners, where), **options)
        count = rows.num_rows
        if is_timed(where):
            rows = rows.filter(within(where, Codes(rows[self.table.owner]), self._times(rows)))
        return count, rows

    def _conditions(self, owners: Collection[str] | None, where: SearchFilter) -> str:
        kinds = kinds_sql(where) if "kind" in self.table.others else []
        return " AND ".join([*self._snapshot.owners_sql(self.table.name, owners), *kinds])

    def nearest(
        self, query: NDArray[np.floating[Any]], k: int, owners: Collection[str] | None, where: SearchFilter
    ) -> list[Hit]:
        """Exact among the rows that are proposed. `query`: float (dim,)."""
        count, found = max(PROPOSED, 4 * k), list[Hit]()
        while k > 0:
            near = {"column": "vector", "q": query.astype(np.float32), "k": count, "metric": "dot"}
            proposed, rows = self._scan(owners, where, "vector", nearest=near, prefilter=True)
            vectors = column_matrix(rows["vector"], self.table.dim)
            found = _ranked(query, rows[self.table.key].to_pylist(), vectors)
            # Codes err most among the last that are proposed: a few that times leave are not enough.
            enough = len(found) >= k and rows.num_rows >= max(LEFT, 4 * k)
            if enough or proposed < count or count >= MOST_PROPOSED:
                break
            count *= 4
        return found[:k]

    def count(self, owners: Collection[str] | None, where: SearchFilter) -> int:
        """Count; where times are asked for, by a scan of the ids."""
        if is_timed(where):
            return int(self._scan(owners, where)[1].num_rows)
        return self._snapshot.count_rows(self.table.name, self._conditions(owners, where))

    def everything(self) -> tuple[list[str], NDArray[np.float16]]:
        """Scan all rows; the vectors are float16 (n, dim)."""
        _, rows = self._scan(None, SearchFilter(), "vector")
        return rows[self.table.key].to_pylist(), column_matrix(rows["vector"], self.table.dim)


Rows = Matrix | Indexed


def _own_times(rows: Any) -> RowSpans:
    return rows["start"].to_numpy(), rows["end"].to_numpy()


def _ranked(query: NDArray[np.floating[Any]], keys: Sequence[str], vectors: NDArray[np.float16]) -> list[Hit]:
    """Each of m keys with its best score, best first, ties by key. `query`: float (dim,); `vectors`: float16
    (m, dim)."""
    # Summed along the last axis each row's sum is its own: the other rows change nothing in it.
    scores = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1).round(DECIMALS)
    # Adding zero turns -0.0 into 0.0.
    return best_hits(map(Hit, keys, (scores + 0.0).tolist()))


def fetch(s: Snapshot, clip_ids: Sequence[str]) -> list[ClipFrames]:
    """Frame times, float64 (m,) seconds, and vectors, unit float32 (m, dim), of clips as in `clip_ids`.

    Those that are unknown or have no vectors are left out. Raises `LibraryCorrupt`
    for vectors or times that cannot have been written.
    """
    clips = s.clips_by_id(clip_ids)
    if not clips or s.meta is None or s.meta.image_encoder is None:
        return []
    name = vectors_table(s.meta.image_encoder)
    rows = s.scan(name, ["clip_id", "vector", "frames", "times"], f"clip_id IN {quoted(sorted(clips))}")
    with read_errors(s.layout.folder, name):
        held = [clips[key] for key in rows["clip_id"].to_pylist()]
        found = {one.clip.clip_id: one for one in _clip_frames(held, rows, s.meta.image_encoder.dim)}
    return [found[clip_id] for clip_id in clip_ids if clip_id in found]


def _clip_frames(clips: Sequence[Clip], table: Any, dim: int) -> Iterator[ClipFrames]:
    """Columns are checked as a whole, for a search compares the frames of a hundred clips."""
    frames, times = (table[name].combine_chunks() for name in ("frames", "times"))
    whole = column_matrix(table["vector"], dim)
    if not clips:
        return
    ends = np.asarray(times.offsets, np.int64) - times.offsets[0].as_py()
    at = np.asarray(times.flatten(), np.float64)
    rows = np.asarray(frames.flatten().flatten(), np.float16).reshape(-1, dim)
    # Late interaction takes standard scores over all frames: one NaN would rank every clip.
    if not (_within_one(whole) and _within_one(rows) and np.isfinite(at).all()):
        raise ValueError("a vector or time is not one that was written")
    for number, clip in enumerate(clips):
        held = slice(ends[number], ends[number + 1])
        yield ClipFrames(clip, at[held], rows[held], whole[number].astype(np.float32))


def _within_one(rows: NDArray[np.float16]) -> bool:
    """Whether all components, float16 (n, dim), are between -1 and 1 as those of unit rows; not for NaN."""
    # Without their signs, the bits of two numbers are in the order of the numbers, and NaN is the last.
    bits = rows.view(np.uint16) & np.uint16(0x7FFF)
    return not rows.size or bool(bits.max() < np.float16(ABOUT_ONE).view(np.uint16))
