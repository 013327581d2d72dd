"""The bundled tower: its weights, the labels that it was trained on, and the report on it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from eval.workbench.catalogue import COLORS, KINDS, LIGHTS, PROPS, SCENES
from eval.workbench.story import plan_clip
from indexers.bundled.encoder import DIM, HEADS, SIZE, VOCABULARY, label_vectors, open_tower
from indexers.readout import read_out
from indexers.tensors import Tensors
from training.captions import ACTS, IDLE, NONE, decor
from training.drawing import LABELS, labels_at
from training.export import folded, vocabulary
from training.network import Network

# Loads PyTorch.
pytestmark = pytest.mark.slow

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


def test_the_vocabulary_of_the_package_is_that_of_the_world() -> None:
    assert json.loads(VOCABULARY.read_text(encoding="utf-8")) == vocabulary()


STORY = plan_clip(4, "train")


def test_labels_name_what_is_seen_and_done() -> None:
    for event in STORY.events:
        seen = dict(zip(LABELS, labels_at(STORY, event.seen_from), strict=True))
        assert KINDS[seen["object"]].kind_id == event.kind_id
        act = ACTS[seen["act"]]
        assert (act.agent, act.action_id, act.place) == (event.agent, event.action_id, event.place)
        hidden = dict(zip(LABELS, labels_at(STORY, event.seen_until), strict=True))
        assert (hidden["object"], hidden["act"]) == (NONE, seen["act"])
    idle = dict(zip(LABELS, labels_at(STORY, 0.0), strict=True))
    assert (idle["object"], idle["act"]) == (NONE, IDLE)
    assert (SCENES[idle["scene"]].scene_id, LIGHTS[idle["light"]]) == (STORY.scene, STORY.light)
    labelled = [decor()[idle[name]] for name in ("prop", "other_prop")]
    assert labelled == [(prop.prop_id, prop.color) for prop in STORY.props]
    assert {prop for prop, _ in labelled} <= set(PROPS)
