"""The vectors of a table as a snapshot shows them, and the clips and stored frames that a search asks for.

Vectors are those of index files, and in memory those that came since. Index files only propose: every answer
is ranked exactly, by the table's vectors, of which they keep a copy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.records import Clip
from rag.errors import LibraryCorrupt
from rag.records import SearchFilter, VideoInterval
from rag.store.error_mapping import read_errors
from rag.store.records import ClipFrames, Hit, best_hits
from rag.store.schema import VectorColumns, video_id_of
from rag.store.vector_index import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.store.snapshot import Snapshot

FRAME_COLUMNS = ("frames", "times")
"""Frame matrices and the times of their rows. A search reads no other column: Lance takes about as long for
each column of a hundred rows as for the frames."""
ABOUT_ONE = 1.01
"""More than a component of a unit row may be, rounded to float16."""


class VectorTable:
    """The rows of one table of unit vectors: `parts` in memory and in index files, each row in one."""

    def __init__(self, table: VectorColumns, parts: Sequence[Rows]) -> None:
        self.table = table
        self.parts = parts

    def count(self, owners: Collection[str] | None, where: SearchFilter) -> int:
        """Rows that a filter lets through. `owners`: None is all of them."""
        masks = ((part.mask(owners, where), len(part)) for part in self.parts)
        return sum(rows if mask is None else int(np.count_nonzero(mask)) for mask, rows in masks)

    def nearest(
        self, query: NDArray[np.floating[Any]], k: int, owners: Collection[str] | None, where: SearchFilter
    ) -> list[Hit]:
        """The k best hits, best first, ties by key. `query`: unit float (dim,), else ValueError."""
        if query.shape != (self.table.dim,):
            raise ValueError(f"the query must be ({self.table.dim},), not {query.shape}")
        hits = (part.nearest(query, k, part.mask(owners, where)) for part in self.parts)
        return best_hits(chain.from_iterable(hits))[: max(k, 0)]

    def everything(self) -> tuple[list[str], NDArray[np.float16]]:
        """The keys of all rows, and their vectors, float16 (n, dim)."""
        rows = [(part, part.shown(np.arange(len(part)))) for part in self.parts]
        keys = [key for part, own in rows for key in part.keys.take(own).to_pylist()]
        return keys, np.concatenate([part.vectors(own) for part, own in rows])

    def keys_at(self, row_ids: NDArray[np.int64]) -> Any:
        """The keys of rows by row id, int64 (n,), an Arrow array of n strings; null for an unknown id."""
        import pyarrow as pa
        import pyarrow.compute as pc

        places = ((part.keys, part.places(row_ids)) for part in self.parts)
        held = [keys.take(pa.array(at, mask=at < 0)).cast(pa.large_string()) for keys, at in places]
        return pc.coalesce(*held)

    def row_ids_of(self, keys: Collection[str]) -> dict[int, str]:
        """Keys by row id, of those rows of videos that have one of `keys`."""
        rows = ((part, part.positions(keys)) for part in self.parts)
        return {
            row_id: key
            for part, own in rows
            for row_id, key in zip(part.ids_at(own).tolist(), part.keys.take(own).to_pylist(), strict=True)
        }

    def keys_inside(self, windows: Iterable[VideoInterval]) -> list[str]:
        """Keys of the rows that overlap one of the windows, [start, end) seconds of a video; sorted."""
        found = (part.keys.take(part.rows_inside(*window)) for window in windows for part in self.parts)
        return sorted({key for keys in found for key in keys.to_pylist()})

    def rows(self, keys: Collection[str]) -> Iterator[dict[str, Any]]:
        """The rows of videos with one of `keys`, by columns, in no particular order."""
        return chain.from_iterable(part.rows_at(part.positions(keys)) for part in self.parts)

    def vectors(self, keys: Collection[str]) -> dict[str, NDArray[np.float32]]:
        """Unit float32 (dim,) of those of `keys` that are here; not of passages, whose ids name no source."""
        found: dict[str, NDArray[np.float32]] = {}
        for part in self.parts:
            rows = part.positions(keys)
            own = part.vectors(rows).astype(np.float32)
            found.update(zip(part.keys.take(rows).to_pylist(), own, strict=True))
        return found


def _gone(s: Snapshot, name: str) -> LibraryCorrupt:
    return LibraryCorrupt(f"{s.layout.folder}: rows of table {name} are not found by their ids; report this")


def clips_by_id(s: Snapshot, ids: Iterable[str]) -> dict[str, Clip]:
    """The clips of some ids, by id; those of videos that are not ready are left out."""
    wanted = set(ids)
    held = s.clips_of({video_id_of(clip_id) for clip_id in wanted})
    return {clip.clip_id: clip for clips in held.values() for clip in clips if clip.clip_id in wanted}


def clips_holding(s: Snapshot, spans: Sequence[VideoInterval]) -> list[Clip | None]:
    """The clip that each span counts for, as of `holding`; None where there is no clip."""
    held = s.clips_of({video_id for video_id, _, _ in spans})
    return [holding(held[video], start, end) if held[video] else None for video, start, end in spans]


def holding(clips: Sequence[Clip], start: float, end: float) -> Clip:
    """The clip that has most of [start, end) seconds, the earlier of two; of a span longer than any clip the
    one that it starts in. `clips`: those of a video in order of time, at least one."""
    if end - start > max(clip.end - clip.start for clip in clips):
        return next((clip for clip in clips if clip.end > start), clips[-1])
    return clips[place_with_most(((clip.start, clip.end) for clip in clips), start, end) or 0]


def place_with_most(spans: Iterable[tuple[float, float]], start: float, end: float) -> int | None:
    """The place of the one of some spans, in seconds, that has most of [start, end), the first of several;
    None where none has any of it."""
    shared = [min(until, end) - max(since, start) for since, until in spans]
    most = max(shared, default=0.0)
    return shared.index(most) if most > 0 else None


def fetch(s: Snapshot, clip_ids: Sequence[str]) -> list[ClipFrames]:
    """Frame times, float64 (m,) seconds, and vectors, unit float32 (m, dim), of clips as in `clip_ids`.

    Those that are unknown or have no vectors are left out. Raises `LibraryCorrupt`
    for vectors or times that cannot have been written.
    """
    vectors = s.vectors("clips") if clip_ids else None
    names = vectors.row_ids_of(set(clip_ids)) if vectors is not None else {}
    if vectors is None or not names:
        return []
    name = vectors.table.name
    table = s.take(name, [*FRAME_COLUMNS], sorted(names))
    if table.num_rows < len(names):
        raise _gone(s, name)
    keys = [names[row_id] for row_id in table["_rowid"].to_pylist()]
    clips, own = clips_by_id(s, keys), vectors.vectors(keys)
    with read_errors(s.layout.folder, name):
        frames = _clip_frames([clips[key] for key in keys], [own[key] for key in keys], table)
        found = {one.clip.clip_id: one for one in frames}
    return [found[clip_id] for clip_id in clip_ids if clip_id in found]


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
