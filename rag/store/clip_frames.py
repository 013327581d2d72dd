"""The stored frames of clips, by the row ids that a snapshot's clip vectors know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rag.store.clip_rows import clips_by_id
from rag.store.database import quoted
from rag.store.error_mapping import read_errors
from rag.store.records import ClipFrames
from rag.store.snapshot import Snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.records import Clip

COLUMNS = ["clip_id", "modality", "vector", "frames", "times"]


def fetch(s: Snapshot, clip_ids: Sequence[str]) -> list[ClipFrames]:
    """In the order of `clip_ids`.

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
    table = s.take(name, COLUMNS, wanted)
    if table.num_rows != len(wanted):
        # Row ids are dropped silently where they are not known; the key always works, only more slowly.
        table = s.scan(name, COLUMNS, f"clip_id IN {quoted(sorted(set(clip_ids)))}")
    clips = clips_by_id(s, clip_ids)
    with read_errors(s.layout.folder, name):
        found = {frames.clip.clip_id: frames for frames in _clip_frames(clips, table, vectors.table.dim)}
    return [found[clip_id] for clip_id in clip_ids]


def _clip_frames(clips: Mapping[str, Clip], table: Any, dim: int) -> Iterator[ClipFrames]:
    """Columns are converted as a whole, for a search compares the frames of a hundred clips."""
    names, kinds = table["clip_id"].to_pylist(), table["modality"].to_pylist()
    vector, frames, times = (table[name].combine_chunks() for name in ("vector", "frames", "times"))
    ends = np.asarray(times.offsets, np.int64) - times.offsets[0].as_py()
    at = np.asarray(times.flatten(), np.float64)
    vectors = _rows(vector, dim)
    rows = _rows(frames.flatten(), dim)
    # Late interaction takes standard scores over all frames: one NaN would rank every clip.
    if not (_within_one(vectors) and _within_one(rows) and np.isfinite(at).all()):
        raise ValueError("a vector or time is not one that was written")
    for number, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        held = slice(ends[number], ends[number + 1])
        yield ClipFrames(clips[name], at[held], rows[held], vectors[number], modality=kind)


def _rows(lists: Any, dim: int) -> NDArray[np.float32]:
    return np.asarray(lists.flatten(), np.float32).reshape(-1, dim)


def _within_one(rows: NDArray[np.float32]) -> bool:
    """Whether all components, float32 (n, dim), are between -1 and 1 as those of unit rows; not for NaN."""
    return not rows.size or bool(rows.max() < 1.01 and rows.min() > -1.01)
