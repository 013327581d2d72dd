"""The stored frames of clips, by the row ids that a snapshot's clip vectors know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rag.store.database import quoted
from rag.store.records import ClipFrames
from rag.store.snapshot import Snapshot

COLUMNS = ["clip_id", "modality", "vector", "frames", "times"]


def fetch(s: Snapshot, clip_ids: Sequence[str]) -> list[ClipFrames]:
    """In the order of `clip_ids`. Raises KeyError for a clip that is unknown or has no vectors."""
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
    dim = vectors.table.dim
    s.clips_of_videos(sorted({clip_id.rpartition(":")[0] for clip_id in clip_ids}))
    found = {table["clip_id"][i].as_py(): _clip_frames(s, table, i, dim) for i in range(table.num_rows)}
    return [found[clip_id] for clip_id in clip_ids]


def _clip_frames(s: Snapshot, table: Any, i: int, dim: int) -> ClipFrames:
    frames = table["frames"][i].values.flatten().to_numpy(zero_copy_only=False)
    return ClipFrames(
        clip=s.clip(table["clip_id"][i].as_py()),
        times=np.asarray(table["times"][i].values.to_numpy(zero_copy_only=False), np.float64),
        vectors=frames.reshape(-1, dim).astype(np.float32),
        clip_vector=table["vector"][i].values.to_numpy(zero_copy_only=False).astype(np.float32),
        modality=table["modality"][i].as_py(),
    )
