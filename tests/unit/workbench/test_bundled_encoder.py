"""The bundled encoder: its text space, its tower, and when it may be taken."""

from collections.abc import Callable

import numpy as np
import pytest

from indexers.bundled.encoder import BUNDLED, WEIGHTS
from indexers.protocol import unit_rows
from indexers.registry import open_image_encoder, open_query_encoder, open_text_tower, resolve_image_encoder
from indexers.settings import EncoderSettings
from indexers.tensors import Tensors
from rag.errors import WeightsInvalid

SETTINGS = EncoderSettings()


def test_words_are_sentence_vectors_moved_by_constants() -> None:
    texts = ["the camera wearer plugs a kettle into the wall socket", "a red lamp"]
    tensors = Tensors((WEIGHTS,))
    sentences = open_query_encoder("all-MiniLM-L6-v2", SETTINGS).encode_text(texts)
    expected = unit_rows((sentences - tensors.read("text.mean")) @ tensors.read("text.matrix"))
    np.testing.assert_allclose(open_text_tower(BUNDLED, SETTINGS).encode_text(texts), expected, atol=1e-6)


@pytest.fixture
def _nothing_else(monkeypatch, tmp_path) -> None:
    for name in ("HF_HOME", "HF_HUB_CACHE", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "empty"))


@pytest.mark.usefixtures("_nothing_else")
def test_auto_never_takes_it() -> None:
    assert resolve_image_encoder(SETTINGS).name != BUNDLED
    assert resolve_image_encoder(EncoderSettings(image=BUNDLED)).name == BUNDLED


@pytest.mark.parametrize("opener", [open_image_encoder, open_text_tower])
def test_a_tower_that_is_another_is_refused_on_opening(opener: Callable[..., object], tmp_path) -> None:
    (tmp_path / "tower.safetensors").write_bytes(WEIGHTS.read_bytes()[:-1])
    with pytest.raises(WeightsInvalid, match="not a safetensors file"):
        opener(f"bundled:{tmp_path}", SETTINGS)
