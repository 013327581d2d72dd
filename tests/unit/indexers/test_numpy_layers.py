"""Layers on numpy against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from indexers.numpy_text_encoder import activation, attention
from rag.errors import WeightsInvalid


@pytest.mark.parametrize("name", ["gelu", "gelu_new", "gelu_pytorch_tanh", "quick_gelu", "relu"])
def test_activations_equal_those_of_transformers(name: str) -> None:
    import torch
    from transformers.activations import ACT2FN

    x = np.linspace(-30, 30, 40_000, dtype=np.float32).reshape(400, 100)
    expected = ACT2FN[name](torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(activation(name)(x), expected, atol=2e-6)


def test_an_unknown_activation_is_named() -> None:
    with pytest.raises(WeightsInvalid, match="swish"):
        activation("swish")


def test_causal_attention_looks_back_only() -> None:
    columns = np.random.default_rng(0).normal(size=(3, 8, 5)).astype(np.float32)
    full = attention(*columns, 2, causal=True)
    for length in range(1, 5):
        part = attention(*columns[:, :, :length], 2, causal=True)
        np.testing.assert_allclose(part, full[:, :length], atol=1e-6)
    assert not np.allclose(attention(*columns, 2, causal=False)[:, 0], full[:, 0], atol=1e-3)
