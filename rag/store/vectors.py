"""The vectors of a table as a snapshot shows them, and the clips and stored frames that a search asks for.

Vectors are those of index files, and in memory those that came since. Index files only propose: every answer
is ranked exactly, by the table's vectors, of which they keep a copy. In a large library only the times of the
videos that are asked for are read, from the index files of the clips' vectors.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from operator import sub
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from corpora.platforms import after_fork
from corpora.records import Clip
from rag.records import SearchFilter, VideoInterval
from rag.store.error_mapping import read_errors
from rag.store.filters import row_mask
from rag.store.records import ClipFrames, Hit, best_hits
from rag.store.schema import FULL_TEXT_TABLES, VectorColumns, column_matrix, quoted, video_id_of
from rag.store.vector_index import DECIMALS, FEW_ROWS, REMEMBERED, Matrix, RowSpans, places_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.store.code_index import ClipTimes
    from rag.store.indexed_rows import IndexedRows, RowSource
    from rag.store.snapshot import Snapshot

PROPOSED = 2000
PROPOSED_TEXTS = 750
"""Rows that are ranked again by their vectors for a question, at least: more where texts ask for images, for
the best are then hardly nearer than others (`benchmarks.large_library recall`)."""
FIRST_ASKED = 96
"""Rows that each of several segments proposes at first; more where the last of them is among the best."""
MOST_PROPOSED = 6 * PROPOSED
"""Where more rows tie with the last hit, such as equal texts, some of them are answered."""
SINGLE_ERROR = 1e-4
"""More than twice the error of a cosine in single precision."""
SEARCH_THREADS = 4
FRAME_COLUMNS = ("frames", "times")
"""Frame matrices and the times of their rows. A search reads no other column: Lance takes about as long for
each column of a hundred rows as for the frames."""
ABOUT_ONE = 1.01
"""More than a component of a unit row may be, rounded to float16."""

T = TypeVar("T")
R = TypeVar("R")


class VectorTable:
    """Search over one table of unit vectors.

    `matrix`: rows that no index holds; `indexed`: the others; `spans`: start and end of each row of the
    matrix, float64 (n,) seconds each, None where rows have no times.
    """

    def __init__(
        self,
        source: RowSource,
        table: VectorColumns,
        matrix: Matrix,
        indexed: Sequence[IndexedRows],
        spans: Callable[[Matrix], RowSpans | None],
    ) -> None:
        self.matrix = matrix
        self.indexed = list(indexed)
        self._source = source
        self.table = table
        self._spans = spans
        self._seen: dict[str, int] = {}
        self._proposals = PROPOSED_TEXTS if table.name in FULL_TEXT_TABLES else PROPOSED

    def owners(self) -> frozenset[str]:
        """Owners that have rows, hidden ones of index files too."""
        names = {name for part in self.indexed for name in part.segment.owners.names}
        return frozenset(names.union(self.matrix.owners.names))

    def _matrix_mask(self, owners: Collection[str] | None, where: SearchFilter) -> NDArray[np.bool_] | None:
        timed = where.start is not None or where.end is not None or where.spans is not None
        spans = self._spans(self.matrix) if timed else None
        return row_mask(self.matrix, owners, where, spans)

    def count(self, owners: Collection[str] | None, where: SearchFilter) -> int:
        """Rows that a filter lets through. `owners`: None is all of them."""
        found = 0
        for mask, rows in (
            (self._matrix_mask(owners, where), len(self.matrix.ids)),
            *((part.mask(owners, where), len(part.segment)) for part in self.indexed),
        ):
            found += rows if mask is None else int(np.count_nonzero(mask))
        return found

    def nearest(
        self, query: NDArray[np.floating[Any]], k: int, owners: Collection[str] | None, where: SearchFilter
    ) -> list[Hit]:
        """The k best hits, best first, ties by key. `query`: unit float (dim,), else ValueError."""
        hits = self.matrix.nearest(query, k, self._matrix_mask(owners, where))
        if self.indexed and k > 0:
            masks = [part.mask(owners, where) for part in self.indexed]
            hits = best_hits([*hits, *self._proposed(query, k, masks)])[:k]
        return hits

    def _proposed(
        self, query: NDArray[np.floating[Any]], k: int, masks: list[NDArray[np.bool_] | None]
    ) -> list[Hit]:
        pairs = list(zip(self.indexed, masks, strict=True))
        sizes = [len(part.segment) if m is None else int(np.count_nonzero(m)) for part, m in pairs]
        if sum(sizes) <= FEW_ROWS:
            rows = [np.arange(len(part.segment)) if m is None else m.nonzero()[0] for part, m in pairs]
            return self._ranked(query, rows, k)[0]
        vector, count = query.astype(np.float32), max(self._proposals, 4 * k)
        while True:
            rows = self._best_codes(vector, count, pairs, sizes)
            hits, worst = self._ranked(query, rows, k)
            tied = len(hits) >= k and worst >= hits[k - 1].score - SINGLE_ERROR
            if not (tied or len(hits) < k) or count >= min(sum(sizes), MOST_PROPOSED):
                return hits
            count *= 4

    def _best_codes(
        self,
        vector: NDArray[np.float32],
        count: int,
        pairs: Sequence[tuple[IndexedRows, NDArray[np.bool_] | None]],
        sizes: Sequence[int],
    ) -> list[NDArray[np.int64]]:
        """Positions of the `count` rows nearest to float32 (dim,) by their codes, int64 (m,) a segment."""
        total = sum(sizes)
        asked = [min(size, count, max(FIRST_ASKED, 2 * count * size // total)) for size in sizes]
        found: list[tuple[NDArray[np.float32], NDArray[np.int64]]] = [_NOTHING] * len(pairs)
        again = list(range(len(pairs)))
        while again:
            tasks = [(pairs[at], asked[at]) for at in again]
            for at, proposals in zip(again, _each(partial(_proposals, vector), tasks), strict=True):
                found[at] = proposals
            scores = np.concatenate([part[0] for part in found])
            ids = np.concatenate([part.row_ids(own[1]) for (part, _), own in zip(pairs, found, strict=True)])
            # By score, then by row id, so that what is proposed never depends on the threads.
            best = np.lexsort((ids, -scores))[:count]
            chosen = np.split(
                np.isin(np.arange(len(ids)), best), np.cumsum([len(part[1]) for part in found])[:-1]
            )
            # Where all that a segment proposed is among the best, it may have more of them.
            again = [at for at, own in enumerate(chosen) if own.all() and asked[at] < min(count, sizes[at])]
            for at in again:
                asked[at] = min(count, sizes[at])
        return [positions[own] for (_, positions), own in zip(found, chosen, strict=True)]

    def _ranked(
        self, query: NDArray[np.floating[Any]], rows: Sequence[NDArray[np.int64]], k: int
    ) -> tuple[list[Hit], float]:
        """The best of these rows, positions int64 (m,) in each segment, and about the least score of all.

        k or more hits where there are so many.
        """
        vectors = self._vectors_at(rows)
        if not len(vectors):
            return [], 0.0
        # In double precision only those that may be among the best: it takes five times as long.
        rough, wanted = vectors.astype(np.float32) @ query.astype(np.float32), 2 * k
        while True:
            wanted = min(len(vectors), wanted)
            near = np.flatnonzero(rough >= np.partition(rough, -wanted)[-wanted] - SINGLE_ERROR)
            exact = vectors[near].astype(np.float64) * query.astype(np.float64)
            scores = exact.sum(axis=1).round(DECIMALS)
            best = np.argsort(-scores, kind="stable")
            best = best[scores[best] >= scores[best[wanted - 1]]]
            # Adding zero turns -0.0 into 0.0.
            pairs = zip(self._keys_among(rows, near[best]), scores[best].tolist(), strict=True)
            hits = best_hits(Hit(key, score + 0.0) for key, score in pairs)
            if len(hits) >= k or wanted == len(vectors):
                return hits, float(rough.min())
            wanted *= 4  # many rows have one key, as passages of copies of a corpus

    def _vectors_at(self, rows: Sequence[NDArray[np.int64]]) -> NDArray[np.float16]:
        """float16 (n, dim) of rows, positions int64 (m,) in each segment, one segment after the other."""
        held = [np.empty((0, self.table.dim), np.float16)]
        for part, positions in zip(self.indexed, rows, strict=True):
            own = part.vectors(positions)
            held.append(self._stored_vectors(part.row_ids(positions)) if own is None else own)
        return np.concatenate(held)

    def _stored_vectors(self, row_ids: NDArray[np.int64]) -> NDArray[np.float16]:
        """float16 (n, dim) of rows by row id, int64 (n,), from the table; zeros for one that is gone."""
        rows = self._source.take(self.table.name, ["vector"], row_ids.tolist(), row_ids=True)
        rows = rows.sort_by("_rowid")
        places = places_of(rows["_rowid"].to_numpy(), None, row_ids)
        found = np.zeros((len(row_ids), self.table.dim), np.float16)
        found[places >= 0] = column_matrix(rows["vector"], self.table.dim)[places[places >= 0]]
        return found

    def _keys_among(self, rows: Sequence[NDArray[np.int64]], chosen: NDArray[np.int64]) -> list[str]:
        """The keys of some of these rows, positions int64 (m,) in each segment; they are remembered.

        `chosen`: int64 (n,), numbers of rows as `_vectors_at` gives them.
        """
        keys, row_ids, first = np.empty(len(chosen), object), np.empty(len(chosen), np.int64), 0
        for part, positions in zip(self.indexed, rows, strict=True):
            own = np.flatnonzero((chosen >= first) & (chosen < first + len(positions)))
            places = positions[chosen[own] - first]
            keys[own] = part.segment.keys.take(places).to_pylist()
            row_ids[own] = part.row_ids(places)
            first += len(positions)
        self.remember(keys.tolist(), row_ids.tolist())
        return list(keys)

    def keys_at(self, row_ids: NDArray[np.int64]) -> Any:
        """The keys of rows by row id, int64 (n,), an Arrow array of n strings; null for an unknown id.

        Those that neither memory nor index files hold are read from the table.
        """
        import pyarrow as pa

        at, held, count = np.full(len(row_ids), -1), [], 0
        for keys, places in self._places(row_ids):
            found = np.flatnonzero(places >= 0)
            if len(found):
                at[found] = np.arange(count, count + len(found))
                held.append(keys.take(places[found]))
                count += len(found)
            if count == len(row_ids):
                break
        if len({keys.type for keys in held}) != 1:
            held = [keys.cast(self.matrix.ids.type) for keys in [*held, self.matrix.ids.slice(0, 0)]]
        joined = pa.concat_arrays(held)
        # Row ids in their order find the keys in it.
        return joined if (at == np.arange(len(at))).all() else joined.take(pa.array(at, mask=at < 0))

    def _places(self, row_ids: NDArray[np.int64]) -> Iterator[tuple[Any, NDArray[np.int64]]]:
        """Keys, and the position in them of each row id, int64 (n,), -1 for none.

        Of memory, of each segment, and at last of what is read from the table.
        """
        places = self.matrix.places(row_ids)
        yield self.matrix.ids, places
        unknown = places < 0
        for part in self.indexed:
            places = part.places(row_ids)
            unknown &= places < 0
            yield part.segment.keys, places
        missing = row_ids[unknown].tolist()
        if missing:
            rows = self._source.take(self.table.name, [self.table.key], missing, row_ids=True).sort_by(
                "_rowid"
            )
            yield rows[self.table.key].combine_chunks(), places_of(rows["_rowid"].to_numpy(), None, row_ids)

    def keys_of(self, row_ids: NDArray[np.int64]) -> dict[int, str]:
        """Keys by row id, of row ids int64 (n,), which are remembered."""
        pairs = zip(row_ids.tolist(), self.keys_at(row_ids).to_pylist(), strict=True)
        found = {row_id: key for row_id, key in pairs if key is not None}
        self.remember(list(found.values()), list(found))
        return found

    def rows_by(self, column: str, values: Collection[str]) -> list[dict[str, Any]] | None:
        """Rows with their texts whose key or owner is among `values`; None where they are not in memory."""
        if self.matrix.texts is None or self.indexed:
            return None
        if column == self.table.owner:
            rows = np.concatenate([np.empty(0, np.int64), *map(self.matrix.owners.rows_of, values)])
        elif self.table.name == "passages":
            rows = self.matrix.rows_among(values)
        else:
            rows = np.array(sorted(self.matrix.positions(values).values()), np.int64)
        found: list[dict[str, Any]] = self.matrix.texts.take(rows).to_pylist()
        return found

    def held_rows(self, row_ids: Sequence[int]) -> tuple[list[dict[str, Any]], list[int]]:
        """Rows with their texts that index files hold, by row id, and the ids of the others."""
        ids, found = np.array(row_ids, np.int64), []
        for part in self.indexed:
            positions = part.places(ids)
            there = positions >= 0
            rows = part.rows(positions[there]) if there.any() else None
            if rows is not None:
                found += [{self.table.key: row.pop("key"), **row} for row in rows]
                ids = ids[~there]
        return found, ids.tolist()

    def remember(self, keys: list[str], row_ids: list[int]) -> None:
        """So that what was found is read by row id."""
        self.matrix.note(keys, np.array(row_ids, np.int64))
        if not self.indexed:
            return
        new = dict(zip(keys[-REMEMBERED:], row_ids[-REMEMBERED:], strict=True))
        if len(self._seen) + len(new) > REMEMBERED:
            # The last half stays: a question asks for what its other searches have just found.
            held, room = list(self._seen.items()), min(REMEMBERED // 2, REMEMBERED - len(new))
            self._seen = dict(held[max(0, len(held) - room) :])
        self._seen.update(new)

    def rows_with(self, keys: Iterable[str]) -> list[int]:
        """Row ids of those of `keys` that are here, sorted; not of passages, whose ids name no source."""
        wanted = set(keys)
        found = {key: int(self.matrix.row_ids[at]) for key, at in self.matrix.positions(wanted).items()}
        missing = wanted - found.keys()
        if self.indexed and missing:
            # Searches of other threads, and what is noted below, may drop what was noted before.
            seen = self._seen
            found.update((key, seen[key]) for key in missing if key in seen)
            if unknown := missing - found.keys():
                owners = sorted({video_id_of(key) for key in unknown})
                owned = f"{self.table.owner} IN {quoted(owners)}"
                where = f"{owned} AND {self.table.key} IN {quoted(sorted(unknown))}"
                rows = self._source.scan(self.table.name, [self.table.key], where, row_ids=True)
                own = rows[self.table.key].to_pylist(), rows["_rowid"].to_pylist()
                self.remember(*own)
                found.update(zip(*own, strict=True))
        return sorted(found.values())

    def rows_of(self, owners: Collection[str]) -> list[int]:
        """Row ids of all rows of `owners`."""
        found = self.matrix.rows_of(owners)
        for part in self.indexed:
            for owner in owners:
                found += part.row_ids(part.rows_of(owner)).tolist()
        return found

    def times_of(self, owners: Iterable[str]) -> dict[str, ClipTimes]:
        """The clips of videos in order of time; without those of which index files hold not all, or none."""
        parts: dict[str, list[int]] = {}
        rows: list[dict[str, NDArray[np.int64]]] = [{} for _ in self.indexed]
        for owner in owners:
            for number, part in enumerate(self.indexed):
                if len(own := part.rows_of(owner)):
                    parts.setdefault(owner, []).append(number)
                    rows[number][owner] = own
        found: dict[str, ClipTimes] = {}
        for number, part in enumerate(self.indexed):
            whole = [
                owner
                for owner in rows[number]
                if len(parts[owner]) == 1 and not len(self.matrix.owners.rows_of(owner))
            ]
            if whole and (clips := part.clips(np.concatenate([rows[number][owner] for owner in whole]))):
                ends = np.cumsum([len(rows[number][owner]) for owner in whole]).tolist()
                for owner, start, end in zip(whole, [0, *ends], ends, strict=False):
                    found[owner] = clips.between(start, end)
        return found

    def clips_with(self, keys: Iterable[str]) -> list[Clip]:
        """Those of some clips that index files hold."""
        ids, found = np.array(self.rows_with(keys), np.int64), []
        for part in self.indexed:
            positions = part.places(ids)
            clips = part.clips(positions[positions >= 0])
            if clips is not None:
                names = [str(key, "utf-8") for key in clips.keys]
                times = zip(names, clips.starts, clips.ends, strict=True)
                found += [Clip(name, video_id_of(name), start, end) for name, start, end in times]
        return found

    def rows_inside(self, owner: str, start: float, end: float) -> list[int]:
        """Row ids of the rows of an owner that overlap [start, end) seconds, of a table with times."""
        found: list[int] = []
        for part in self.indexed:
            spans, positions = part.segment.spans, part.rows_of(owner)
            if spans is not None and len(positions):
                inside = (spans[0][positions] < end) & (spans[1][positions] > start)
                found += part.row_ids(positions[inside]).tolist()
        if self.matrix.spans is not None:
            rows = self.matrix.owners.rows_of(owner)
            inside = (self.matrix.spans[0][rows] < end) & (self.matrix.spans[1][rows] > start)
            found += self.matrix.row_ids[rows[inside]].tolist()
        return found

    def vectors(self, keys: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """Unit float32 (dim,) of those of `keys` that are here; not of passages, whose ids name no source."""
        wanted = set(keys)
        held = self.matrix.positions(wanted)
        found = {key: self.matrix.rows[at].astype(np.float32) for key, at in held.items()}
        if self.indexed and len(found) < len(wanted):
            ids = np.array(self.rows_with(wanted - found.keys()), np.int64)
            places = [part.places(ids) for part in self.indexed]
            held_rows = [own[own >= 0] for own in places]
            rows = self._vectors_at(held_rows).astype(np.float32)
            found |= dict(zip(self._keys_among(held_rows, np.arange(len(rows))), rows, strict=True))
        return found


_NOTHING = np.empty(0, np.float32), np.empty(0, np.int64)


def _proposals(
    query: NDArray[np.float32], task: tuple[tuple[IndexedRows, NDArray[np.bool_] | None], int]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    (part, keep), count = task
    return part.segment.codes.nearest(query, count, keep) if count else _NOTHING


def _each(search: Callable[[T], R], parts: list[T]) -> list[R]:
    """Of several parts at once; FAISS uses one thread for each."""
    return [*_workers().map(search, parts)] if len(parts) > 1 else [search(part) for part in parts]


@cache
def _workers() -> ThreadPoolExecutor:
    """Threads that search segments; each asks FAISS for one thread."""
    after_fork(_workers.cache_clear)
    return ThreadPoolExecutor(min(SEARCH_THREADS, os.cpu_count() or 1), "vectors")


def clips_by_id(s: Snapshot, ids: Iterable[str]) -> dict[str, Clip]:
    """The clips of some ids, by id; those of videos that are not ready are left out."""
    wanted = {clip_id for clip_id in ids if video_id_of(clip_id) in s.ready}
    vectors = _indexed(s)
    found = {clip.clip_id: clip for clip in vectors.clips_with(wanted)} if vectors else {}
    if missing := sorted({video_id_of(clip_id) for clip_id in wanted - found.keys()}):
        held = (clip for clips in s.clips_of_videos(missing).values() for clip in clips)
        found.update((clip.clip_id, clip) for clip in held if clip.clip_id in wanted)
    return found


def clips_holding(s: Snapshot, spans: Sequence[VideoInterval]) -> list[Clip | None]:
    """The clip that each span counts for; None where there is no clip.

    That is the clip that has most of it, the earlier of two; of a span longer than any clip the one that it
    starts in.
    """
    vectors, videos = _indexed(s), dict.fromkeys(video_id for video_id, _, _ in spans)
    held = vectors.times_of(videos) if vectors else {}
    read = s.clips_of_videos(video_id for video_id in videos if video_id not in held)
    times = {v: (own.starts, own.ends) for v, own in held.items()}
    times |= {v: ([c.start for c in clips], [c.end for c in clips]) for v, clips in read.items() if clips}
    found: list[Clip | None] = []
    for video_id, start, end in spans:
        if video_id not in times:
            found.append(None)
            continue
        starts, ends = times[video_id]
        at = holding(starts, ends, start, end)
        if video_id in held:
            found.append(Clip(str(held[video_id].keys[at], "utf-8"), video_id, starts[at], ends[at]))
        else:
            found.append(read[video_id][at])
    return found


def holding(starts: Sequence[float], ends: Sequence[float], start: float, end: float) -> int:
    """The place of that clip among those of a video, in seconds and in order of time; at least one.

    Without NumPy: a search asks for a hundred spans, and each of its calls may wait for other threads.
    """
    longest = max(map(sub, ends, starts))
    # Those before have ended, with a rounding error at most one of them.
    first = max(0, bisect_left(starts, start - longest) - 1)
    if end - start > longest:
        return next((at for at in range(first, len(ends)) if ends[at] > start), len(ends) - 1)
    last = bisect_left(starts, end)
    at = place_with_most(zip(starts[first:last], ends[first:last], strict=True), start, end)
    return 0 if at is None else first + at


def place_with_most(spans: Iterable[tuple[float, float]], start: float, end: float) -> int | None:
    """The place of the one of some spans, in seconds, that has most of [start, end), the first of several;
    None where none has any of it."""
    shared = [min(until, end) - max(since, start) for since, until in spans]
    most = max(shared, default=0.0)
    return shared.index(most) if most > 0 else None


def _indexed(s: Snapshot) -> VectorTable | None:
    """The vectors of clips, where they are loaded and are those of all clips."""
    vectors = s.loaded_vectors(s.vectors_name)
    return vectors if vectors is not None and vectors.indexed and s.every_clip_has_a_vector else None


def fetch(s: Snapshot, clip_ids: Sequence[str]) -> list[ClipFrames]:
    """Clips with their stored frames, in the order of `clip_ids`.

    Raises KeyError for a clip that is unknown or has no vectors, `LibraryCorrupt` for vectors or times that
    cannot have been written.
    """
    if not clip_ids:
        return []
    vectors, name = s.clip_vectors, s.vectors_name
    if vectors is None or name is None:
        raise KeyError(clip_ids[0])
    wanted = vectors.rows_with(clip_ids)
    if len(wanted) < len(set(clip_ids)):
        raise KeyError(next(clip_id for clip_id in clip_ids if not vectors.rows_with([clip_id])))
    table = s.take(name, [*FRAME_COLUMNS], wanted, row_ids=True)
    if table.num_rows == len(wanted):
        names = vectors.keys_of(table["_rowid"].to_numpy().astype(np.int64))
        keys = [names[row_id] for row_id in table["_rowid"].to_pylist()]
    else:
        # Row ids are dropped silently where they are not known; the key always works, only more slowly.
        table = s.scan(name, ["clip_id", *FRAME_COLUMNS], f"clip_id IN {quoted(sorted(set(clip_ids)))}")
        keys = table["clip_id"].to_pylist()
    clips = clips_by_id(s, clip_ids)
    own = vectors.vectors(keys)
    with read_errors(s.layout.folder, name):
        frames = _clip_frames([clips[key] for key in keys], [own[key] for key in keys], table)
        found = {one.clip.clip_id: one for one in frames}
    return [found[clip_id] for clip_id in clip_ids]


def _clip_frames(
    clips: Sequence[Clip], vectors: Sequence[NDArray[np.float32]], table: Any
) -> Iterator[ClipFrames]:
    """Columns are checked as a whole, for a search compares the frames of a hundred clips."""
    frames, times = (table[name].combine_chunks() for name in FRAME_COLUMNS)
    ends = np.asarray(times.offsets, np.int64) - times.offsets[0].as_py()
    at = np.asarray(times.flatten(), np.float64)
    whole = np.stack(vectors)
    rows = np.asarray(frames.flatten().flatten(), np.float16).reshape(-1, whole.shape[1])
    # Late interaction takes standard scores over all frames: one NaN would rank every clip.
    if not ((np.abs(whole) < ABOUT_ONE).all() and _within_one(rows) and np.isfinite(at).all()):
        raise ValueError("a vector or time is not one that was written")
    for number, clip in enumerate(clips):
        held = slice(ends[number], ends[number + 1])
        yield ClipFrames(clip, at[held], rows[held], whole[number])


def _within_one(rows: NDArray[np.float16]) -> bool:
    """Whether all components, float16 (n, dim), are between -1 and 1 as those of unit rows; not for NaN."""
    # Without their signs, the bits of two numbers are in the order of the numbers, and NaN is the last.
    bits = rows.view(np.uint16) & np.uint16(0x7FFF)
    return not rows.size or bool(bits.max() < np.float16(ABOUT_ONE).view(np.uint16))
