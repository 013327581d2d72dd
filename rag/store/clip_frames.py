"""The stored frames of clips, by the row ids that a snapshot's clip vectors know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rag.store.clip_rows import clips_by_id
from rag.store.error_mapping import read_errors
from rag.store.records import ClipFrames
from rag.store.schema import quoted
from rag.store.snapshot import Snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.records import Clip

COLUMNS = ["frames", "times"]
"""What is read: Lance takes about as long for each column of a hundred rows as for the frames."""
ABOUT_ONE = 1.01
"""More than a component of a unit row may be, rounded to float16."""


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
    table = s.take(name, COLUMNS, wanted, row_ids=True)
    if table.num_rows == len(wanted):
        names = vectors.keys_of(table["_rowid"].to_numpy().astype(np.int64))
        keys = [names[row_id] for row_id in table["_rowid"].to_pylist()]
    else:
        # Row ids are dropped silently where they are not known; the key always works, only more slowly.
        table = s.scan(name, ["clip_id", *COLUMNS], f"clip_id IN {quoted(sorted(set(clip_ids)))}")
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
    frames, times = (table[name].combine_chunks() for name in COLUMNS)
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
