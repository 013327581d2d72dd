"""Near-duplicate videos of a library, by their fingerprints and their loudness along time."""

from __future__ import annotations

from typing import Any

import numpy as np

from corpora.records import Video
from localization.near_duplicates import Alignment, Track, align
from rag.records import NearDuplicate
from rag.retrieval.shots import sound_runs
from rag.store.reading import Reader

LEAST_STILL = 0.6
LEAST_SCORE = 0.7
"""On 16 s videos of the synthetic development split, copies have 0.83 and more, others 0.55 and less."""
ENOUGH = 8
"""Frames along a line, 16 s, from which on `LEAST_SCORE` holds."""
SCARCE = 0.3
"""Added for fewer frames, times 1 / n: few frames agree by chance."""


def near_duplicates(reader: Reader, video_id: str) -> tuple[NearDuplicate, ...]:
    """The other videos of the library with the content of `video_id`, most similar first.

    Empty where it has no fingerprint. Raises KeyError for a video that is unknown or not ready.
    """
    reader.video(video_id)
    asked = _track(reader, video_id)
    if asked is None:
        return ()
    found = []
    for video in reader.videos():
        other = _track(reader, video.video_id) if video.video_id != video_id else None
        line = align(asked, other) if other is not None else None
        if line is None or not is_near_duplicate(line):
            continue
        found.append(NearDuplicate(video.video_id, video.path, similarity(line), line.speed, line.offset))
    return tuple(sorted(found, key=lambda one: (-one.score, one.video_id)))


def videos_without_fingerprint(reader: Reader) -> frozenset[str]:
    """The videos with frames that have no fingerprint, and so are never found as near-duplicates."""
    return frozenset(v.video_id for v in reader.videos() if v.height > 0) - reader.fingerprinted()


def similarity(line: Alignment) -> float:
    """In [0, 1]: one half for the frames, one half for their motion and the sound together."""
    moving = max(line.moving, 0.0)
    audible = max(line.sound, 0.0) if line.sound is not None else moving
    return round((line.still + (moving + audible) / 2) / 2, 4)


def is_near_duplicate(line: Alignment) -> bool:
    """Whether an alignment is that of a near-duplicate; the fewer frames, the better they must agree."""
    least = LEAST_SCORE + SCARCE * max(0.0, 1 / line.images - 1 / ENOUGH)
    return line.still >= LEAST_STILL and similarity(line) >= least


def _track(reader: Reader, video_id: str) -> Track | None:
    mark = reader.fingerprint(video_id)
    if mark is None:
        return None
    sound = reader.sound_track(video_id)
    loudness = sound.loudness.astype(np.float64) if sound is not None else np.empty(0)
    return Track(mark.times, mark.images, loudness, reader.video(video_id).duration)


def measurements(reader: Reader, video_id: str, path: str, *, copies: bool) -> tuple[Video, dict[str, Any]]:
    """A video, and the fields of `rag.shots/1`; `copies` is None where nothing is compared."""
    video = reader.video(video_id)
    uncompared = videos_without_fingerprint(reader) if copies else frozenset[str]()
    known = copies and video.height > 0 and video_id not in uncompared
    return video, {
        "path": path,
        "video_id": video_id,
        "width": video.width,
        "height": video.height,
        "shots": reader.shots(video_id),
        "sound": sound_runs(reader.sound_track(video_id), video.duration),
        "copies": near_duplicates(reader, video_id) if known else None,
        "uncompared": len(uncompared - {video_id}) if known else None,
    }
