"""The library's own relevance scale on encoders of several architectures, opened as a library opens them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from corpora.records import Clip
from indexers.registry import open_image_encoder, open_text_tower
from indexers.settings import EncoderSettings
from indexers.testing import probe_images
from rag.null_scores import BACKGROUND, LibraryScores, centre_of, measure_null_scores
from rag.settings import SearchSettings
from rag.store.records import SCORE_MEASURES, ClipFrames, ScoreCalibration
from tests.fakes.tiny_models import save_clip, save_siglip

# Saves and loads two models.
pytestmark = pytest.mark.slow

TOWERS: dict[str, Callable[[Path], Path]] = {
    "metaclip": lambda folder: save_clip(folder, seed=3, act="gelu"),
    "siglip": lambda folder: save_siglip(folder, seed=1),
}
"""Random weights; the mean cosines of texts and images differ by 0.2."""
CLIPS, FRAMES = 40, 6
SPLITS = 10


class GeneratedLibrary:
    """Clips of generated images, which show nothing that a text names."""

    def __init__(self, name: str) -> None:
        encoder = open_image_encoder(name, EncoderSettings(), backend="torch-fp32", batch=8)
        self.frames = encoder.encode_images(probe_images(CLIPS * FRAMES, 64, 64))
        self.clips = {}
        for number, rows in enumerate(np.split(self.frames, CLIPS)):
            mean = rows.mean(axis=0)
            clip = Clip(f"v:{number:05d}", "v", 30.0 * number, 30.0 * (number + 1))
            frames = ClipFrames(clip, np.arange(FRAMES) / 2, rows, mean / np.linalg.norm(mean))
            self.clips[clip.clip_id] = frames

    def relevance(
        self, texts: NDArray[np.float32], background: NDArray[np.float32], nearest: int = 5
    ) -> NDArray[np.float64]:
        """Of the best of the five nearest clips to each text, on the scale measured with a background."""
        ids, rows = list(self.clips), np.stack([clip.clip_vector for clip in self.clips.values()])
        null = measure_null_scores(background, ids, rows, lambda wanted: [self.clips[one] for one in wanted])
        scores = LibraryScores(ScoreCalibration(SCORE_MEASURES, "", centre_of(background), null, None))
        near = np.argsort(-(texts @ rows.T), axis=1, kind="stable")[:, :nearest]
        return np.array(
            [
                max(scores.relevance(text, len(ids), self.clips[ids[at]].vectors, None) for at in places)
                for text, places in zip(texts, near, strict=True)
            ]
        )


@pytest.fixture(scope="module", params=TOWERS)
def name(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"hf:{TOWERS[request.param](tmp_path_factory.mktemp('tower') / request.param)}"


@pytest.fixture(scope="module")
def library(name: str) -> GeneratedLibrary:
    return GeneratedLibrary(name)


@pytest.fixture(scope="module")
def background(name: str) -> NDArray[np.float32]:
    return open_text_tower(name, EncoderSettings()).encode_text(BACKGROUND)


def test_what_no_clip_shows_is_refused_at_one_rate(
    library: GeneratedLibrary, background: NDArray[np.float32]
) -> None:
    """A quarter of the background is asked each time, with which the scale was not measured."""
    random, reached = np.random.default_rng(0), []
    for _ in range(SPLITS):
        kept, left = np.split(random.permutation(len(background)), [len(background) * 3 // 4])
        reached.append(library.relevance(background[left], background[kept]))
    assert 0.9 <= (np.concatenate(reached) < SearchSettings().threshold).mean() <= 1.0


def test_relevance_rises_with_the_score(library: GeneratedLibrary, background: NDArray[np.float32]) -> None:
    """A text that is a frame's own direction is relevant, and the nearer to it the more."""
    centre, frame = background.mean(axis=0), library.frames[:4].mean(axis=0)
    steps = np.linspace(0, 4, 6)[:, None]
    reached = library.relevance(np.asarray(centre + steps * frame, np.float32), background)
    assert (np.diff(reached) >= 0).all()
    assert reached[0] < 0.1
    assert reached[-1] > 0.9
