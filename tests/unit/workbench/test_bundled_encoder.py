"""The bundled encoder: its text space, its tower, and when it may be taken."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from eval.workbench.corpus import write_marker
from indexers.bundled.encoder import BUNDLED, PREPROCESSING, WEIGHTS, TextSpace
from indexers.models.lookup import specialised_encoder_warning
from indexers.registry import open_image_encoder, open_query_encoder, open_text_tower, resolve_image_encoder
from indexers.settings import EncoderSettings
from indexers.tensors import Tensors
from rag.errors import WeightsInvalid
from training.captions import whitening

SETTINGS = EncoderSettings()


def test_the_space_centres_and_evens_out() -> None:
    rng = np.random.default_rng(0)
    vectors = (rng.normal(size=(400, 6)) * (5, 3, 1, 1, 1, 1) + 2).astype(np.float32)
    space = whitening(vectors, 1.0)
    moved = (vectors - space.mean) @ space.matrix
    assert np.abs(moved.mean(axis=0)).max() < 1e-3
    before, after = np.linalg.eigvalsh(np.cov(vectors.T)), np.linalg.eigvalsh(np.cov(moved.T))
    assert after[-1] / after[0] < before[-1] / before[0] / 3
    np.testing.assert_allclose(np.linalg.norm(space(vectors), axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(space.matrix, space.matrix.T, atol=1e-6)


def test_the_weights_are_small_and_whole() -> None:
    assert WEIGHTS.stat().st_size < 12_000_000
    tensors = Tensors((WEIGHTS,))
    assert tensors.shape("sums.weight")[0] == 384
    assert tensors.shape("text.matrix") == (384, 384)


def test_words_are_sentence_vectors_moved_by_constants() -> None:
    texts = ["the camera wearer plugs a kettle into the wall socket", "a red lamp"]
    tensors = Tensors((WEIGHTS,))
    sentences = open_query_encoder("all-MiniLM-L6-v2", SETTINGS).encode_text(texts)
    expected = TextSpace(tensors.read("text.mean"), tensors.read("text.matrix"))(sentences)
    np.testing.assert_allclose(open_text_tower(BUNDLED, SETTINGS).encode_text(texts), expected, atol=1e-6)


def test_the_whole_image_is_used() -> None:
    assert PREPROCESSING(np.zeros((2, 224, 398, 3), np.uint8)).shape == (2, 3, 81, 144)


@pytest.fixture
def _nothing_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HF_HOME", "HF_HUB_CACHE", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "empty"))


@pytest.mark.usefixtures("_nothing_else")
def test_auto_takes_it_for_workbench_corpora_alone() -> None:
    assert resolve_image_encoder(SETTINGS).name != BUNDLED
    assert resolve_image_encoder(SETTINGS, recommended=BUNDLED).name == BUNDLED
    assert resolve_image_encoder(EncoderSettings(image="none"), recommended=BUNDLED).name is None
    assert resolve_image_encoder(EncoderSettings(image=BUNDLED)).name == BUNDLED


def test_the_hint_names_the_command() -> None:
    hint = specialised_encoder_warning(BUNDLED)
    assert BUNDLED in hint
    assert "rag models pull " in hint
    assert "\n" not in hint


def test_a_mark_counts_for_what_is_below_it(tmp_path: Path) -> None:
    from corpora.manifest import recommended_encoder

    (tmp_path / "made" / "videos").mkdir(parents=True)
    write_marker(tmp_path / "made", {"seed": 0})
    assert recommended_encoder([os.fspath(tmp_path / "made" / "videos")]) == BUNDLED
    assert recommended_encoder([tmp_path]) is None


@pytest.mark.parametrize("opener", [open_image_encoder, open_text_tower])
def test_a_tower_that_is_another_is_refused_on_opening(opener: Callable[..., object], tmp_path: Path) -> None:
    (tmp_path / "tower.safetensors").write_bytes(WEIGHTS.read_bytes()[:-1])
    with pytest.raises(WeightsInvalid, match="its sha256 is"):
        opener(f"bundled:{tmp_path}", SETTINGS)
