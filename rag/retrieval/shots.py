"""A `ShotFilter` made into the stretches of time that a search may find, before anything is ranked.

Tone and style choose shots, height chooses videos, a class of sound chooses stretches of seconds. What
comes before and after is looked for in the same video, in the stored frame vectors: a moment may be
found where that was seen within `CONTEXT_SECONDS` earlier, or is seen so soon after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rag.errors import LibraryError
from rag.records import AudioClass, Shot, ShotFilter
from rag.relevance import PictureScale, logistic
from rag.relevance.pictures import MIDDLE, SLOPE
from rag.store.reading import Reader
from rag.store.records import ClipFrames, Where

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CONTEXT_SECONDS", "allowed_spans", "resolved", "seen_spans", "sounding_spans"]

CONTEXT_SECONDS = 60.0
"""How far before or after a moment what surrounds it may lie."""
SEEN_SECONDS = 2.5
"""What surrounds a moment is looked for in means over so long."""
SEEN_FROM = 0.5
"""Relevance from which on it is seen; see `rag.relevance.PictureScale`."""
JOINED_SECONDS = 2
"""Stretches of one sound that lie no further apart are one."""

Span = tuple[float, float]
FramesOf = Callable[[str], Sequence[ClipFrames]]
"""The frame vectors stored of a video."""


def resolved(where: Where, reader: Reader, scale: PictureScale | None, frames_of: FramesOf) -> Where:
    """`where` with its `shots` turned into `spans`; as it is where it asks for none.

    Raises `LibraryError` where nothing in the library was measured yet, or what is seen cannot be asked.
    """
    wanted = where.shots
    if wanted is None or wanted == ShotFilter():
        return where
    videos = {v.video_id: v for v in reader.videos() if where.videos is None or v.video_id in where.videos}
    if wanted.min_height is not None:
        videos = {key: video for key, video in videos.items() if video.height >= wanted.min_height}
    if (wanted.after or wanted.before) and scale is None:
        raise LibraryError(
            f"{reader.folder}: what comes before or after is looked for in pictures, and this library has "
            "none; bring them in with: rag index --reembed"
        )
    measured = reader.shots_by_video()
    if (wanted.tone or wanted.style) and videos and not measured:
        raise _unmeasured(reader)
    spans: dict[str, tuple[Span, ...]] = {}
    for video_id in videos:
        found = allowed_spans(reader, video_id, wanted, scale, frames_of)
        if found:
            spans[video_id] = tuple(found)
    heard = [video for video in videos.values() if video.audio]
    if wanted.audio and heard and not spans and not any(reader.sound_track(v.video_id) for v in heard):
        raise _unmeasured(reader)
    return replace(where, shots=None, spans=spans)


def allowed_spans(
    reader: Reader, video_id: str, wanted: ShotFilter, scale: PictureScale | None, frames_of: FramesOf
) -> list[Span]:
    """Where in one video the conditions hold, in order of time; a cut always ends a stretch."""
    shots = reader.shots(video_id)
    spans: list[Span] = [(shot.start, shot.end) for shot in shots if _fits(shot, wanted)]
    if not shots and not (wanted.tone or wanted.style):
        spans = [(0.0, reader.video(video_id).duration)]
    if wanted.audio and spans:
        track = reader.sound_track(video_id)
        spans = _both(spans, sounding_spans(track.classes, wanted.audio) if track is not None else [])
    if scale is None or not spans or not (wanted.after or wanted.before):
        return spans
    frames = frames_of(video_id)
    if wanted.after:
        seen = seen_spans(frames, wanted.after, scale)
        spans = _both(spans, _merged([(until, until + CONTEXT_SECONDS) for _, until in seen]))
    if wanted.before:
        seen = seen_spans(frames, wanted.before, scale)
        spans = _both(spans, _merged([(max(0.0, since - CONTEXT_SECONDS), since) for since, _ in seen]))
    return spans


def sounding_spans(classes: Sequence[AudioClass], wanted: AudioClass) -> list[Span]:
    """Where the sound is of that class, in whole seconds."""
    spans: list[Span] = []
    for second, name in enumerate(classes):
        if name != wanted:
            continue
        if spans and second - spans[-1][1] <= JOINED_SECONDS:
            spans[-1] = spans[-1][0], float(second + 1)
        else:
            spans.append((float(second), float(second + 1)))
    return spans


def seen_spans(frames: Sequence[ClipFrames], text: str, scale: PictureScale) -> list[Span]:
    """Where the words are seen: means of `SEEN_SECONDS` that are relevant, and the best one if none is.

    The best alone counts only at half of `SEEN_FROM`; empty where not even that is there.
    """
    held = [clip for clip in frames if len(clip.times)]
    if not held:
        return []
    times = np.concatenate([clip.times for clip in held])
    order = np.unique(times, return_index=True)[1]
    times, rows = times[order], np.concatenate([clip.vectors for clip in held])[order]
    z = scale.level_z(scale.encode([text]), rows)[0]
    half = SEEN_SECONDS / 2
    means = _means_around(times, z, half)
    relevance = np.array([round(logistic(SLOPE * (mean - MIDDLE)), 6) for mean in means.tolist()])
    places = np.flatnonzero(relevance >= SEEN_FROM)
    if not len(places):
        best = int(relevance.argmax())
        places = np.array([best] if relevance[best] >= SEEN_FROM / 2 else [], int)
    return _merged([(max(0.0, float(times[k]) - half), float(times[k]) + half) for k in places])


def _means_around(
    times: NDArray[np.float64], values: NDArray[np.float64], half: float
) -> NDArray[np.float64]:
    """(n,) mean of the `values` within `half` seconds of each of the `times`, which rise."""
    sums = np.concatenate([np.zeros(1), np.cumsum(values)])
    first = np.searchsorted(times, times - half, side="left")
    last = np.searchsorted(times, times + half, side="right")
    return np.asarray((sums[last] - sums[first]) / (last - first), np.float64)


def _fits(shot: Shot, wanted: ShotFilter) -> bool:
    return wanted.tone in (None, shot.tone) and wanted.style in (None, shot.style)


def _merged(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _both(one: Sequence[Span], other: Sequence[Span]) -> list[Span]:
    """What lies in a span of each; spans of `one` stay apart."""
    return [(max(a, c), min(b, d)) for a, b in one for c, d in other if min(b, d) > max(a, c)]


def _unmeasured(reader: Reader) -> LibraryError:
    return LibraryError(
        f"{reader.folder}: this library has no measurements of shots and sound yet; "
        "run rag index on its folders again, which makes them without encoding anything anew"
    )
