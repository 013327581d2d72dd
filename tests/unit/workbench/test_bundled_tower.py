"""The tower of the package computes what the network computed while it learned."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn

from eval.workbench.catalogue import COLORS, KINDS, LIGHTS, PROPS, SCENES
from indexers.bundled.encoder import DIM, HEADS, SIZE, VOCABULARY, WEIGHTS, label_vectors, open_tower
from indexers.readout import read_out
from indexers.tensors import Tensors
from training.captions import ACTS
from training.export import folded, vocabulary
from training.network import Network

COUNTS = {
    "objects": len(KINDS),
    "acts": len(ACTS) + 1,
    "scenes": len(SCENES),
    "lights": len(LIGHTS),
    "props": len(PROPS) * len(COLORS),
}


def some_network() -> Network:
    """With weights of chance, and normalisations that do something."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    rows = {name: rng.standard_normal((count, DIM)).astype(np.float32) for name, count in COUNTS.items()}
    network = Network(rows).eval()
    for part in network.modules():
        if isinstance(part, nn.BatchNorm2d):
            for values, low, high in (
                (part.running_mean, -0.5, 0.5),
                (part.running_var, 0.5, 2.0),
                (part.weight.data, 0.5, 1.5),
                (part.bias.data, -0.5, 0.5),
            ):
                values.uniform_(low, high)
    return network


def test_folding_changes_nothing_that_is_said(tmp_path: Path) -> None:
    network = some_network()
    pixels = torch.randn(2, 3, *SIZE)
    with torch.inference_mode():
        expected, weights = network(pixels), folded(network.state_dict())
    save_file({name: tensor.contiguous() for name, tensor in weights.items()}, tmp_path / "tower")
    tensors = Tensors((tmp_path / "tower",))
    shares = open_tower(tensors)(pixels.numpy())
    heads = [getattr(expected, name).softmax(dim=1) for name in HEADS]
    named = torch.cat([*heads, expected.props.sigmoid()], dim=1).numpy()
    np.testing.assert_allclose(shares[:, : named.shape[1]], named, atol=1e-5)
    rows = read_out(shares, label_vectors(tensors))
    np.testing.assert_allclose(rows, expected.vector.numpy(), atol=1e-5)
    assert float((heads[1][0] - heads[1][1]).abs().max()) > 1e-6, "two images have one embedding"


def test_the_weights_of_the_package_are_those_of_this_network() -> None:
    tensors = Tensors((WEIGHTS,))
    shapes = {name: tuple(tensor.shape) for name, tensor in folded(some_network().state_dict()).items()}
    assert {name: tensors.shape(name) for name in tensors.names() if not name.startswith("text.")} == shapes


def test_the_vocabulary_of_the_package_is_that_of_the_world() -> None:
    assert json.loads(VOCABULARY.read_text(encoding="utf-8")) == vocabulary()
