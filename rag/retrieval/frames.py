"""Frame matrices of clips, each read from the library once a question, and their similarity to a text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from indexers.protocol import TextTower
from rag.store.records import ClipFrames

KEPT_CLIPS = 512
"""Clips kept, about: 47 MB of 30 s at 2 frames a second and 768 dimensions."""

SHARPNESS = 1.4
"""Sharpness of the softmax over clips: of 1, 1.2, 1.4, 1.7 and 2 the right clip has here the greatest mean
log share, on 150 questions of the dev split of egofact-workbench-hard (docs/design/workbench.md)."""
LEAST_MATCH = 1e-6
"""Clips whose frames were not compared, where those of others were, have it too."""


class FrameCache:
    """The stored frames of clips; a clip without any (sound alone, no image encoder) counts as read too.

    `fetch`: as `rag.store.reading.Reader.frames`.
    """

    def __init__(self, fetch: Callable[[Sequence[str]], list[ClipFrames]]) -> None:
        self._fetch = fetch
        self._held: dict[str, ClipFrames | None] = {}

    def get(self, clip_ids: Sequence[str]) -> dict[str, ClipFrames]:
        """Get frames by clip id, in the order of distinct `clip_ids`; clips without frames are left out."""
        if len(self._held) > KEPT_CLIPS:
            self._held.clear()
        if missing := [clip_id for clip_id in clip_ids if clip_id not in self._held]:
            self._held.update(dict.fromkeys(missing))
            self._held.update((frames.clip.clip_id, frames) for frames in self._fetch(missing))
        held = ((clip_id, self._held[clip_id]) for clip_id in clip_ids)
        return {clip_id: frames for clip_id, frames in held if frames is not None and len(frames.times)}


def joined_frames(clips: Sequence[ClipFrames]) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Times float64 (n,), rising strictly, and unit vectors float32 (n, d) of one or more clips of a video.

    A time that two clips share is taken once. `clips`: at least one.
    """
    times, rows = np.unique(np.concatenate([clip.times for clip in clips]), return_index=True)
    return times, np.concatenate([clip.vectors for clip in clips])[rows]


def mean_within(clips: Sequence[ClipFrames], start: float, end: float) -> NDArray[np.float32]:
    """Unit float32 (d,): mean of the frames of [start, end) seconds, or the one nearest to `start`.

    `clips`: at least one, of one video.
    """
    times, vectors = joined_frames(clips)
    keep = (times >= start) & (times < end)
    inside = vectors[keep if keep.any() else [np.abs(times - start).argmin()]]
    mean: NDArray[np.float32] = inside.mean(axis=0)
    return mean / np.linalg.norm(mean)


def seen_within(tower: TextTower | None, clips: Sequence[ClipFrames], start: float, end: float) -> list[str]:
    """What the frames of [start, end) seconds of clips of one video look like, by a tower that names it."""
    if tower is None or not clips:
        return []
    times, vectors = joined_frames(clips)
    shown = vectors[(times >= start) & (times < end)]
    return tower.looks_like(shown) if len(shown) else []


def similarity_to(vectors: NDArray[np.float32], text_vector: NDArray[np.float32]) -> NDArray[np.float64]:
    """float64 (n,) cosines of unit rows `vectors` (n, d) and a unit `text_vector` (d,), to 6 decimals."""
    product = vectors.astype(np.float64) * text_vector.astype(np.float64)
    return np.asarray(product.sum(axis=1).round(6), np.float64)


def unit_sum(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unit float32 (d,): direction of the sum of unit rows (n, d); of one row, that row."""
    total = rows.astype(np.float64).sum(axis=0)
    return rows[0] if len(rows) == 1 else np.asarray(total / np.linalg.norm(total), np.float32)


def matches_of(scores: Mapping[str, float]) -> dict[str, float]:
    """Clip id to `RetrievedClip.match`, best first: the softmax of `SHARPNESS` times the scores, which are
    sums of standard scores. Empty for no scores."""
    ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    powers = {key: math.exp(SHARPNESS * (score - ranked[0][1])) for key, score in ranked}
    whole = sum(powers.values())
    return {key: max(LEAST_MATCH, round(power / whole, 6)) for key, power in powers.items()}
