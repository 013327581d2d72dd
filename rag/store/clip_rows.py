"""Clips for a search: by their ids, and those that spans of text count for.

Of a large library only the times of these videos are read, from the index files of the clips' vectors.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import sub

from corpora.records import Clip
from rag.records import VideoInterval
from rag.store.schema import video_id_of
from rag.store.snapshot import Snapshot
from rag.store.vectors import VectorTable


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
