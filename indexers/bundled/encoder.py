"""The bundled encoder: a small classifier of the synthetic world; its text goes through the sentence encoder.

The network is plain convolutions, into which batch normalization is folded. It detects the object in the
hand, the action, scene, light and decor, and their vectors are added up (`indexers.readout`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexers.families import EncoderSource, ImageEncoderFamily
from indexers.onnx_graph import Graph
from indexers.preprocess import Preprocessing
from indexers.protocol import TextEncoder, TextTower, Vocabulary, unit_rows
from indexers.readout import BACKEND, Classifier, ClassifierEncoder, read_out
from indexers.tensors import Tensors

BUNDLED = "bundled"
SENTENCES = "all-MiniLM-L6-v2"
"""The sentence encoder whose vectors the tower was trained against."""
WEIGHTS = Path(__file__).with_name("tower.safetensors")
VOCABULARY = Path(__file__).with_name("vocabulary.json")
"""The wordings that the tower was trained on (docs/design/encoder.md)."""
DIM = 384
MEAN, SPREAD = 0.45, 0.25
SIZE = (81, 144)
"""Height and width of what the tower sees."""
BOX = 4
"""Pillow's number of the filter."""
PREPROCESSING = Preprocessing(mean=(MEAN,) * 3, std=(SPREAD,) * 3, exact=SIZE, resample=BOX)
"""The whole image squashed to 144 x 81: the edges count, too."""


class BundledText(TextTower):
    """Sentence vectors, centred and gently whitened by constants that come with the tower: raw ones share a
    large common part, which says nothing."""

    name = BUNDLED
    dim = DIM

    def __init__(self, sentences: TextEncoder, weights: Path) -> None:
        tensors = Tensors((weights,))
        self._sentences = sentences
        self._mean, self._matrix = tensors.read("text.mean"), tensors.read("text.matrix")
        self._files = (weights,)
        self.vocabulary = Vocabulary.read(VOCABULARY)

    def _facts(self) -> Mapping[str, Any]:
        return {"sentences": self._sentences.fingerprint}

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        # One by one: a product of several rows has other last bits.
        rows = self._sentences.encode_text(texts)
        return np.concatenate([unit_rows((row[None] - self._mean) @ self._matrix) for row in rows])


def open_bundled_text(source: EncoderSource) -> BundledText:
    """The tower was trained against all-MiniLM-L6-v2, whatever `encoder.text` is. Raises `WeightsMissing` or
    `WeightsInvalid`."""
    from indexers.registry import open_query_encoder

    return BundledText(open_query_encoder(SENTENCES, source.settings), source.path)


def open_bundled(source: EncoderSource, *, backend: str, batch: int) -> ClassifierEncoder:  # noqa: ARG001 (the only one)
    """Raises `WeightsMissing` or `WeightsInvalid`."""
    text, tensors = open_bundled_text(source), Tensors((source.path,))
    vectors_of = partial(read_out, vectors=label_vectors(tensors))
    return ClassifierEncoder(text, open_tower(tensors), vectors_of, PREPROCESSING, batch)


FAMILY = ImageEncoderFamily(
    open_image=open_bundled,
    open_text=open_bundled_text,
    layout=("tower.safetensors",),
    file="tower.safetensors",
    backend=BACKEND,
)


STRIDES = {"stem": 4, "to_middle": 2, "to_high": 2}
BLOCKS = ("low.0", "to_middle", "middle.0", "middle.1", "to_high", "high.0", "high.1")
HEADS = ("objects", "acts", "scenes", "lights")
"""A frame has exactly one class of each of these; each prop is judged for itself."""


def label_vectors(tensors: Tensors) -> NDArray[np.float32]:
    """The vector of each output of `open_tower`, float32 (k, 384)."""
    vectors = np.concatenate([tensors.read("sums.weight").T, tensors.read("rest.weight").T])
    # Shares of objects sum to 1, so that what is added to each of their vectors is added to every image.
    vectors[: tensors.shape("objects.bias")[0]] += tensors.read("rest.bias")
    return vectors


def open_tower(tensors: Tensors) -> Classifier:
    """Pixels, float32 (n, 3, 81, 144), to shares of objects, acts, scenes, lights and props, and the hidden
    state (384), which says what has no name."""
    graph = Graph(x=("float32", ("images", 3, *SIZE)))
    add = graph.add

    def conv(name: str, x: str) -> str:
        weight = tensors.read(f"{name}.weight")
        pads = [side // 2 for side in weight.shape[2:]] * 2
        return graph.conv(x, weight, tensors.read(f"{name}.bias"), stride=STRIDES.get(name, 1), pads=pads)

    def linear(name: str, x: str) -> str:
        return graph.linear(x, tensors.read(f"{name}.weight"), tensors.read(f"{name}.bias"))

    def shaped(x: str, *shape: int) -> str:
        """0: as it is; -1: what is left."""
        return add("Reshape", x, graph.weight(np.array(shape, np.int64)))

    x = add("Relu", conv("stem", "x"))
    for name in BLOCKS:
        if name in STRIDES:
            x = add("Relu", conv(name, x))
        else:
            inner = add("Relu", conv(f"{name}.first", x))
            x = add("Relu", add("Add", x, conv(f"{name}.second", inner)))
    look, hold, things, props = (
        shaped(conv(name, x), 0, 0, -1) for name in ("look", "hold", "things", "props")
    )
    heads = tensors.shape("look.bias")[0]
    values = shaped(conv("value", x), 0, heads, tensors.shape("value.bias")[0] // heads, -1)
    pooled = add("MatMul", values, shaped(add("Softmax", look, axis=2), 0, heads, -1, 1))
    mean = add("GlobalAveragePool", x)
    both = add("Concat", *(add("Flatten", part) for part in (pooled, mean)), axis=1)
    hidden = add("Relu", linear("hidden", both))
    # What is in the hand: the map of what is where, read at the place of the hand.
    held = add("Flatten", add("MatMul", things, shaped(add("Softmax", hold, axis=2), 0, -1, 1)))
    seen = {name: linear(name, hidden) for name in HEADS}
    held = add("Pad", held, graph.weight(np.array([0, 0, 0, 1])))
    seen["objects"] = add("Add", seen["objects"], held)
    shares = [add("Softmax", seen[name], axis=1) for name in HEADS]
    shares.append(add("Sigmoid", add("ReduceLogSumExp", props, graph.weight(np.array([2])), keepdims=0)))
    session = graph.session(add("Concat", *shares, hidden, axis=1))
    return lambda pixels: np.asarray(session.run(None, {"x": pixels})[0], np.float32)
