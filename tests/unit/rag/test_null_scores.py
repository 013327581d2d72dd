"""Relevance by the library's own scale: the same decisions under any scale of an encoder's scores."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpora.records import Clip
from indexers.protocol import unit_rows
from rag.null_scores import LibraryScores, centre_of, measure_null_scores, standard_score
from rag.relevance import chunk_relevance, text_relevance
from rag.store.records import SCORE_MEASURES, ClipFrames, ScoreCalibration

THRESHOLD = 0.3
FRAMES = 12

Rows = NDArray[Any]


@dataclass(frozen=True)
class Tower:
    """Random weights: texts and images share hidden causes, and each half has a common part of its own."""

    dim: int
    common: float
    """Length of the part that all texts, or all images, share: the gap between the halves, orthogonal to
    what they say (Liang et al. 2022)."""
    noise: float
    seed: int

    def texts(self, causes: NDArray[np.float64]) -> Rows:
        return self._vectors(causes, 1)

    def images(self, causes: NDArray[np.float64]) -> Rows:
        return self._vectors(causes, 2)

    def _vectors(self, causes: NDArray[np.float64], half: int) -> Rows:
        shared = np.random.default_rng(self.seed).normal(size=(causes.shape[1], self.dim))
        own = np.random.default_rng([self.seed, half])
        gap = own.normal(size=self.dim)
        gap -= gap @ np.linalg.pinv(shared) @ shared
        gap *= self.common / np.linalg.norm(gap)
        grain = np.random.default_rng([self.seed, half, zlib.crc32(causes.tobytes())])
        noise = grain.normal(size=(len(causes), self.dim)) * self.noise / np.sqrt(self.dim)
        return unit_rows((unit_rows((causes @ shared).astype(np.float32)) + gap + noise).astype(np.float32))


TOWERS = {
    "as CLIP": Tower(dim=64, common=2.0, noise=0.3, seed=1),
    "as SigLIP": Tower(dim=96, common=6.0, noise=0.2, seed=2),
    "as ImageBind": Tower(dim=128, common=0.5, noise=0.3, seed=3),
}
"""Cosines of unrelated pairs around 0.1, 0.0 and 0.3, with spreads of 0.03, 0.004 and 0.1."""


def causes(count: int, seed: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(count, 32))


def clips_of(frames: Sequence[Rows]) -> tuple[list[str], Rows, dict[str, ClipFrames]]:
    found = {}
    for number, rows in enumerate(frames):
        clip = Clip(f"v:{number:05d}", "v", 0.0, 30.0)
        found[clip.clip_id] = ClipFrames(clip, np.arange(len(rows)) / 2, rows, rows.mean(axis=0))
    return list(found), np.stack([clip.clip_vector for clip in found.values()]), found


def video_frames(tower: Tower, count: int, shown: NDArray[np.float64]) -> list[Rows]:
    """Frames of `count` clips of two scenes; the first clips show a row of `shown` each for 5 frames."""
    scenes = causes(2 * count, 7)
    rows = []
    for number in range(count):
        seen = np.repeat(scenes[2 * number : 2 * number + 2], FRAMES // 2, axis=0)
        if number < len(shown):
            seen[4:9] = shown[number]
        rows.append(tower.images(seen))
    return rows


def calibrated(
    texts: Rows, frames: Sequence[Rows]
) -> tuple[LibraryScores, list[str], Rows, dict[str, ClipFrames]]:
    ids, vectors, held = clips_of(frames)
    null = measure_null_scores(texts, ids, vectors, lambda keys: [held[key] for key in keys])
    scores = LibraryScores(ScoreCalibration(SCORE_MEASURES, "", centre_of(texts), null))
    return scores, ids, vectors, held


def best(queries: Rows, texts: Rows, frames: Sequence[Rows]) -> list[float]:
    """Relevance of the best of the five nearest clips, for each query, as a search finds them."""
    scores, ids, vectors, held = calibrated(texts, frames)
    found = []
    for query in queries:
        nearest = np.argsort(-(vectors.astype(np.float64) @ query), kind="stable")[:5]
        rows = [held[ids[at]].vectors for at in nearest]
        found.append(max(scores.relevance(query, len(ids), part) for part in rows))
    return found


@pytest.mark.parametrize("name", TOWERS)
@pytest.mark.parametrize("count", [1, 40])
def test_nothing_matches_what_no_clip_shows_under_any_tower(name: str, count: int) -> None:
    tower = TOWERS[name]
    shown = causes(min(count, 20), 8)
    background, frames = tower.texts(causes(64, 9)), video_frames(tower, count, shown)
    refused = np.array(best(tower.texts(causes(200, 10)), background, frames)) < THRESHOLD
    accepted = np.array(best(tower.texts(shown), background, frames)) >= THRESHOLD
    assert refused.mean() >= 0.9
    assert accepted.mean() >= 0.9


@pytest.mark.parametrize("name", TOWERS)
@settings(max_examples=5, deadline=None)
@given(factor=st.sampled_from([0.01, 0.07, 4.0, 100.0, 112.5]), offset=st.floats(-20, 20))
def test_logits_decide_as_cosines_do(name: str, factor: float, offset: float) -> None:
    """Every similarity s becomes factor s + offset, as a logit scale and a bias make of it."""
    tower = TOWERS[name]
    shown = causes(6, 8)
    background, frames = tower.texts(causes(64, 9)), video_frames(tower, 12, shown)
    queries = np.concatenate([tower.texts(shown), tower.texts(causes(20, 10))])

    def scaled(rows: Rows) -> Rows:
        return np.hstack([rows.astype(np.float64) * factor, np.full((len(rows), 1), offset)])

    with_one = [np.hstack([rows, np.ones((len(rows), 1))]) for rows in frames]
    expected, found = best(queries, background, frames), best(scaled(queries), scaled(background), with_one)
    np.testing.assert_allclose(found, expected, atol=1e-3)
    assert [one >= THRESHOLD for one in found] == [one >= THRESHOLD for one in expected]


def test_the_best_of_more_clips_must_be_better() -> None:
    tower = TOWERS["as CLIP"]
    ids, vectors, held = clips_of(video_frames(tower, 70, causes(0, 8)))
    null = measure_null_scores(tower.texts(causes(64, 9)), ids, vectors, lambda keys: [held[k] for k in keys])
    assert null.sizes == (1, 8, 64, 70)
    assert null.locations[0] < null.locations[1] < null.locations[2]
    alone, among = standard_score(null, null.locations[1], 1), standard_score(null, null.locations[1], 70)
    assert among < standard_score(null, null.locations[1], 8) == 0 < alone
    assert standard_score(null, null.locations[3], 10**6) == 0


def test_curves_rise_and_stay_in_bounds() -> None:
    steps = np.linspace(-1, 1, 41)
    for curve in (
        [text_relevance(float(c), 0.0) for c in steps],
        [chunk_relevance(float(c), 0.5, 3) for c in steps],
        [chunk_relevance(0.2, (float(o) + 1) / 2, 3) for o in steps],
    ):
        assert curve == sorted(curve)
        assert curve[0] >= 0.0
        assert curve[-1] <= 1.0
    assert text_relevance(0.2, 0.0) < 0.05
    assert text_relevance(0.65, 0.3) > 0.9
