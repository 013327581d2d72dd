"""The moments least like the rest: which clip, which of its seconds, and near duplicates last."""

import numpy as np

from corpora.records import Clip
from rag.retrieval import highlights
from rag.store.records import ClipFrames

DIM = 64
COMMON = np.eye(DIM, dtype=np.float32)[0]


def unit(*parts: int) -> np.ndarray:
    """What is common, with a little of each of some directions."""
    vector = COMMON + 0.05 * np.eye(DIM, dtype=np.float32)[list(parts)].sum(axis=0)
    return vector / np.linalg.norm(vector)


def clip_of(name: str, vectors: np.ndarray) -> ClipFrames:
    times = np.arange(len(vectors)) / 2
    mean = vectors.mean(axis=0)
    return ClipFrames(Clip(name, name, 0.0, len(vectors) / 2), times, vectors, mean / np.linalg.norm(mean))


def found(odd: list[tuple[str, int]], top_k: int) -> list[highlights.UnusualWindow]:
    """Of twenty common clips and some whose seconds 10 to 15 are of another direction."""
    held = [clip_of(f"common{at}", np.stack([unit(at + 1)] * 60)) for at in range(20)]
    for name, direction in odd:
        vectors = np.stack([unit(30)] * 60)
        vectors[20:30] = np.eye(DIM, dtype=np.float32)[direction]
        held.append(clip_of(name, vectors))
    ids = [each.clip.clip_id for each in held]
    vectors = np.stack([each.clip_vector for each in held]).astype(np.float16)
    rows, sample = highlights.sampled(ids, vectors)
    order = np.argsort(-highlights.unusual_clips(vectors, rows, sample))
    return highlights.unusual_windows([held[at] for at in order], ids, rows, sample, top_k)


def test_the_seconds_that_are_like_nothing_else_come_first() -> None:
    first, second = found([("odd", 40)], 2)
    assert (first.clip_id, first.start, first.end) == ("odd", 10.0, 15.0)
    assert first.score > 0.5 > second.score


def test_of_near_duplicates_one_is_shown_before_the_others() -> None:
    names = [window.clip_id for window in found([("a", 40), ("b", 40), ("c", 41)], 3)]
    assert {"c"} < set(names[:2]) < {"a", "b", "c"}


def test_a_library_of_one_clip_has_one_moment() -> None:
    vectors = np.stack([unit(1)] * 4)
    rows, sample = highlights.sampled(["one"], vectors[:1].astype(np.float16))
    (window,) = highlights.unusual_windows([clip_of("one", vectors)], ["one"], rows, sample, 5)
    assert (window.start, window.end, window.score) == (0.0, 2.0, 0.0)
