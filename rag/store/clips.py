"""Clips for a search: by their ids, those that spans of text count for, and their stored frames.

In a large library only the times of the videos that are asked for are read, from the index files of the
clips' vectors.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from operator import sub
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.records import Clip
from rag.records import VideoInterval
from rag.store.error_mapping import read_errors
from rag.store.records import ClipFrames
from rag.store.schema import quoted, video_id_of
from rag.store.snapshot import Snapshot
from rag.store.vectors import VectorTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

FRAME_COLUMNS = ("frames", "times")
"""Frame matrices and the times of their rows. A search reads no other column: Lance takes about as long for
each column of a hundred rows as for the frames."""
ABOUT_ONE = 1.01
"""More than a component of a unit row may be, rounded to float16."""


def clips_by_id(s: Snapshot, ids: Iterable[str]) -> dict[str, Clip]:
    """Those of some clips that are ready, by id."""
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
