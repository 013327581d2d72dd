"""Which videos of a library show the same: their fingerprints and their loudness, held together in time."""

from __future__ import annotations

import numpy as np

from localization.near_duplicates import Alignment, Track, align
from rag.records import NearDuplicate
from rag.store.reading import Reader

LEAST_STILL = 0.6
LEAST_LIKENESS = 0.7
"""On films of 16 s of the Workbench's development split, copies had 0.83 and more, others 0.55 and less."""
ENOUGH = 8
"""Pictures along a line, 16 s, from which on the least likeness is that one."""
SCARCE = 0.3
"""What one picture in n asks for beyond it, of fewer: among three pictures chance goes far."""


def near_duplicates(reader: Reader, video_id: str) -> tuple[NearDuplicate, ...]:
    """The other videos of the library that show what `video_id` shows, most alike first.

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
        if line is None or not is_copy(line):
            continue
        found.append(NearDuplicate(video.video_id, video.path, likeness(line), line.speed, line.offset))
    return tuple(sorted(found, key=lambda one: (-one.score, one.video_id)))


def videos_without_fingerprint(reader: Reader) -> frozenset[str]:
    """The videos with pictures that have no fingerprint, and so are never found among copies."""
    return frozenset(v.video_id for v in reader.videos() if v.height > 0) - reader.fingerprinted()


def likeness(line: Alignment) -> float:
    """In [0, 1]: the pictures count once, what moves in them and the sound together once."""
    moving = max(line.moving, 0.0)
    heard = max(line.sound, 0.0) if line.sound is not None else moving
    return round((line.still + (moving + heard) / 2) / 2, 4)


def is_copy(line: Alignment) -> bool:
    """Whether an alignment is that of a copy; over few pictures they must agree the better."""
    least = LEAST_LIKENESS + SCARCE * max(0.0, 1 / line.pictures - 1 / ENOUGH)
    return line.still >= LEAST_STILL and likeness(line) >= least


def _track(reader: Reader, video_id: str) -> Track | None:
    mark = reader.fingerprint(video_id)
    if mark is None:
        return None
    sound = reader.sound_track(video_id)
    loudness = sound.loudness.astype(np.float64) if sound is not None else np.empty(0)
    return Track(mark.times, mark.pictures, loudness, reader.video(video_id).duration)
