"""Layers on numpy against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from indexers.numpy_text_encoder import activation, attention, erf
from rag.errors import WeightsInvalid


def test_erf_is_within_its_stated_error() -> None:
    x = np.linspace(-6, 6, 20001, dtype=np.float32)
    expected = np.array([math.erf(value) for value in x.tolist()])
    assert np.abs(erf(x) - expected).max() < 4e-7


@pytest.mark.parametrize("name", ["gelu", "gelu_new", "gelu_pytorch_tanh", "quick_gelu", "relu"])
def test_activations_equal_those_of_transformers(name: str) -> None:
    import torch
    from transformers.activations import ACT2FN

    x = np.linspace(-30, 30, 4001, dtype=np.float32)
    expected = ACT2FN[name](torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(activation(name)(x), expected, atol=2e-6)


def test_an_unknown_activation_is_named() -> None:
    with pytest.raises(WeightsInvalid, match="swish"):
        activation("swish")


def test_causal_attention_looks_back_only() -> None:
    rows = np.random.default_rng(0).normal(size=(3, 5, 8)).astype(np.float32)
    full = attention(*rows, 2, causal=True)
    for length in range(1, 5):
        part = attention(*rows[:, :length], 2, causal=True)
        np.testing.assert_allclose(part, full[:length], atol=1e-6)
    assert not np.allclose(attention(*rows, 2, causal=False)[0], full[0], atol=1e-3)
