"""The library's own relevance scale on encoders of several architectures, opened as a library opens them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.relevance_rates import unrelated_queries
from benchmarks.relevance_towers import GeneratedLibrary, refusals
from indexers.registry import open_image_encoder, open_text_tower
from indexers.settings import EncoderSettings
from rag.null_scores import BACKGROUND
from tests.fakes.tiny_models import save_clip, save_siglip

# Saves and loads two models.
pytestmark = pytest.mark.slow

TOWERS: dict[str, Callable[[Path], Path]] = {
    "metaclip": lambda folder: save_clip(folder, seed=3, act="gelu"),
    "siglip": lambda folder: save_siglip(folder, seed=1),
}
"""Random weights; the mean cosines of texts and images differ by 0.2."""


@pytest.fixture(scope="module", params=TOWERS)
def name(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"hf:{TOWERS[request.param](tmp_path_factory.mktemp('tower') / request.param)}"


def test_what_no_clip_shows_is_refused_at_one_rate(name: str) -> None:
    found = refusals(name, unrelated_queries()[:10])
    assert 0.9 <= found.held_out <= 1.0


def test_relevance_rises_with_the_score(name: str) -> None:
    """A text that is a frame's own direction is relevant, and the nearer to it the more."""
    library = GeneratedLibrary(open_image_encoder(name, EncoderSettings(), batch=8))
    background = open_text_tower(name, EncoderSettings()).encode_text(BACKGROUND)
    scores = library.scores(background)
    centre, frame = background.mean(axis=0), library.frames[:4].mean(axis=0)
    steps = np.linspace(0, 4, 6)[:, None]
    reached = library.best(np.asarray(centre + steps * frame, np.float32), scores)
    assert (np.diff(reached) >= 0).all()
    assert reached[0] < 0.1
    assert reached[-1] > 0.9
