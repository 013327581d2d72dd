"""The moments of a library that are least like the rest of it, by its stored embeddings alone.

A clip is as unusual as it is far from its nearest neighbours: one minus the mean cosine to the `NEIGHBOURS`
nearest of the other clips. Of the most unusual clips the stored frames are compared with the same neighbours,
and the window of a few seconds that is farthest from them is the highlight. Highlights are taken one after
the other, each by its distance to those taken before too, so that near duplicates of one come last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from localization.windows import Window
from rag.records import PassageHit, VideoHit
from rag.retrieval.retriever import Retriever, video_hit
from rag.retrieval.shots import no_image_embeddings
from rag.store.records import ClipFrames

NEIGHBOURS = 5
SAMPLE = 2048
"""Clips that stand for all as neighbours, drawn at random."""
ROWS_AT_ONCE = 4096
"""Rows of the matrix of similarities that are in memory at a time, in three copies of 32 MiB."""
LOOKED_AT = 6
"""How many clips are read with their frames, for each highlight that is wanted."""
SECONDS = 5.0
"""Length of a window."""
TOPIC = 500
"""Hits of a search that are a topic, at most."""


class UnusualWindow(NamedTuple):
    """A window and the clip that it is in."""

    clip_id: str
    start: float
    end: float
    score: float
    """In [0, 1]: one minus the mean cosine to its nearest neighbours, and to the highlights before it."""


def highlights(
    retriever: Retriever, top_k: int | None = None, topic: Sequence[VideoHit | PassageHit] | None = None
) -> list[VideoHit]:
    """The windows least like the rest of the library, the most unusual first; near duplicates come last.

    `top_k`: default that of the settings. `topic`: hits of a search; of those above the threshold the clips
    alone are looked at, and compared with one another. Score and relevance of a hit, in [0, 1], say how
    unusual it is. Nothing is decoded. Raises `LibraryError` where the library has no image embeddings.
    """
    reader, settings = retriever.reader, retriever.settings.search
    if retriever.tower is None:
        raise no_image_embeddings(reader, "highlights")
    top_k = top_k or settings.top_k
    ids, vectors = reader.clip_vectors()
    if topic is not None:
        matching = (hit for hit in topic if hit.relevance >= settings.threshold)
        place = {clip_id: row for row, clip_id in enumerate(ids)}
        among = dict.fromkeys(hit.clip.clip_id for hit in matching if hit.kind == "video")
        chosen = [place[clip_id] for clip_id in among if clip_id in place]
        ids, vectors = [ids[row] for row in chosen], vectors[chosen]
    if not len(ids):
        return []
    rows, sample = sampled(ids, vectors)
    order = np.argsort(-unusual_clips(vectors, rows, sample), kind="stable")[: top_k * LOOKED_AT]
    held = retriever.frames([ids[row] for row in order])
    hits = []
    unusual = unusual_windows(list(held.values()), ids, rows, sample, top_k)
    windows = [(held[found.clip_id].clip.video_id, found.start, found.end) for found in unusual]
    for found, texts in zip(unusual, reader.evidence_of(windows), strict=True):
        clip = held[found.clip_id].clip
        video = reader.video(clip.video_id)
        evidence = (*texts, *retriever.seen(clip.video_id, found.start, found.end))
        window = Window(clip.video_id, found.start, found.end, found.score)
        hits.append(video_hit(video, window, clip, found.score, found.score, evidence))
    return hits


def sampled(ids: Sequence[str], vectors: NDArray[np.float16]) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Rows, intp (m,), of at most `SAMPLE` of the float16 (n, dim) vectors, and these, float32 (m, dim)."""
    rows = np.arange(len(ids))
    if len(rows) > SAMPLE:
        rows = np.sort(np.random.default_rng(0).choice(rows, SAMPLE, replace=False))
    return rows, vectors[rows].astype(np.float32)


def unusual_clips(
    vectors: NDArray[np.float16], rows: NDArray[np.intp], sample: NDArray[np.float32]
) -> NDArray[np.float32]:
    """How unusual each clip is, float32 (n,), in [0, 1].

    `vectors`: unit float16 (n, dim); `rows` and `sample` as of `sampled`.
    """
    found = np.empty(len(vectors), np.float32)
    for first in range(0, len(vectors), ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        similarity = vectors[part].astype(np.float32) @ sample.T
        itself = np.arange(len(vectors))[part, None] == rows[None]
        found[part] = unusual(np.where(itself, -1.0, similarity), len(rows) - 1)
    return found


def unusual(similarity: NDArray[np.float32], others: int) -> NDArray[np.float32]:
    """One minus the mean of the greatest `NEIGHBOURS` of each row, float32 (n,) in [0, 1]; 0 without others.

    `similarity`: float32 (n, m), cosines; `others`: how many of the m are not the row's own.
    """
    count = min(NEIGHBOURS, others)
    if count < 1:
        return np.zeros(len(similarity), np.float32)
    nearest = np.partition(similarity, -count, axis=1)[:, -count:]
    return np.asarray(np.clip(1.0 - nearest.mean(axis=1), 0.0, 1.0), np.float32)


def unusual_windows(
    held: Sequence[ClipFrames],
    ids: Sequence[str],
    rows: NDArray[np.intp],
    sample: NDArray[np.float32],
    top_k: int,
) -> list[UnusualWindow]:
    """The window of each clip that is least like the sample, the most unusual first.

    `rows`, intp (m,), and `sample`, float32 (m, dim), as of `sampled`.
    """
    windows, means = [], []
    column = {ids[row]: number for number, row in enumerate(rows)}
    for clip in held:
        images, times, end_of_clip = clip.vectors, clip.times, clip.clip.end
        itself = column.get(clip.clip.clip_id)
        others = sample if itself is None else np.delete(sample, itself, axis=0)
        whole = times[times + SECONDS <= end_of_clip]
        starts = whole if len(whole) else times[:1]
        inside = [(times >= start) & (times < start + SECONDS) for start in starts]
        vectors = np.stack([images[each].mean(axis=0) for each in inside])
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        score = unusual(vectors @ others.T, len(others))
        best = int(score.argmax())
        start = float(starts[best])
        end = min(start + SECONDS, end_of_clip)
        windows.append(UnusualWindow(clip.clip.clip_id, start, end, float(score[best])))
        means.append(vectors[best])
    return _apart(windows, means, top_k)


def _apart(
    windows: Sequence[UnusualWindow], means: Sequence[NDArray[np.float32]], top_k: int
) -> list[UnusualWindow]:
    """The most unusual first, each counted with its distance to the nearest of those before it."""
    if not windows:
        return []
    vectors = np.stack(means)
    score = np.array([window.score for window in windows], np.float32)
    taken: list[UnusualWindow] = []
    while len(taken) < min(top_k, len(windows)):
        best = int(score.argmax())
        taken.append(windows[best]._replace(score=round(float(max(score[best], 0.0)), 6)))
        score = np.minimum(score, 1.0 - vectors @ vectors[best])
        score[best] = -1.0
    return taken
