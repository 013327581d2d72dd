"""Clips for a search: by their ids, and those that spans of text count for.

Of a large library only the times of these videos are read, from the index files of the clips' vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import Clip
from rag.store.snapshot import Snapshot
from rag.store.vectors import VectorTable

if TYPE_CHECKING:
    from numpy.typing import NDArray


def clips_by_id(s: Snapshot, ids: Iterable[str]) -> dict[str, Clip]:
    """Those of some clips that are ready, by id."""
    wanted = {clip_id for clip_id in ids if clip_id.rpartition(":")[0] in s.ready}
    vectors = _indexed(s)
    found = {clip.clip_id: clip for clip in vectors.clips_with(wanted)} if vectors else {}
    if missing := sorted({clip_id.rpartition(":")[0] for clip_id in wanted - found.keys()}):
        held = (clip for clips in s.clips_of_videos(missing).values() for clip in clips)
        found.update((clip.clip_id, clip) for clip in held if clip.clip_id in wanted)
    return found


def clips_holding(s: Snapshot, spans: Sequence[tuple[str, float, float]]) -> list[Clip | None]:
    """The clip that each span, video id, start and end in seconds, counts for; None where there is no clip.

    That is the clip that has most of it, the earlier of two; of a span longer than any clip the one that it
    starts in.
    """
    vectors, videos = _indexed(s), dict.fromkeys(video_id for video_id, _, _ in spans)
    held = vectors.times_of(videos) if vectors else {}
    read = s.clips_of_videos(video_id for video_id in videos if video_id not in held)
    times = {v: np.array([(clip.start, clip.end) for clip in clips]).T for v, clips in read.items() if clips}
    found: list[Clip | None] = []
    for video_id, start, end in spans:
        if (own := held.get(video_id)) is not None:
            at = holding(own.starts, own.ends, start, end)
            found.append(
                Clip(str(own.keys[at], "utf-8"), video_id, float(own.starts[at]), float(own.ends[at]))
            )
        elif video_id in times:
            starts, ends = times[video_id]
            found.append(read[video_id][holding(starts, ends, start, end)])
        else:
            found.append(None)
    return found


def holding(starts: NDArray[np.float64], ends: NDArray[np.float64], start: float, end: float) -> int:
    """The place of that clip among those of a video, float64 (n,) seconds each, in order of time."""
    if end - start > (ends - starts).max():
        later = np.flatnonzero(ends > start)
        return int(later[0]) if len(later) else len(ends) - 1
    return int((np.minimum(ends, end) - np.maximum(starts, start)).clip(0).argmax())


def _indexed(s: Snapshot) -> VectorTable | None:
    """The vectors of clips, where they are loaded and are those of all clips."""
    vectors = s.loaded_vectors(s.vectors_name)
    return vectors if vectors is not None and vectors.indexed and s.every_clip_has_a_vector else None
