"""The layers of text models as ONNX graphs: BERT (Devlin et al. 2019), CLIP and SigLIP.

Each graph takes the embedded tokens of one text, float32 (1, tokens, width), and gives its vector,
float32 (1, dim), or the state of each token. Rows of the token table are read outside of it, so that a
question reads a dozen rows of a table that may hold 250,000.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from indexers.errors import WeightsInvalid
from indexers.onnx_graph import EXTENSIONS, Graph

TOKENS = "tokens"
ACTIVATIONS = {
    "gelu": "Gelu",
    "gelu_new": "FastGelu",
    "gelu_pytorch_tanh": "FastGelu",
    "quick_gelu": "QuickGelu",
    "relu": "Relu",
}
"""Operations by transformers' names of activations."""


class Weights(Protocol):
    """Named tensors: `indexers.tensors.Tensors`, or another file format read in the same way."""

    def __contains__(self, name: str) -> bool: ...

    def read(self, name: str) -> NDArray[np.float32]:
        """A whole tensor, float32 (n,) or (n, width)."""
        ...

    def rows(self, name: str, indices: NDArray[np.int64]) -> NDArray[np.float32]:
        """float32 (n, width): the rows `indices`, int64 (n,), of a table."""
        ...


class _Layers:
    """A graph with the tensors that its layers are read from."""

    def __init__(self, weights: Weights, width: int, *, eight_bit: bool = False) -> None:
        self.graph = Graph(x=("float32", (1, TOKENS, width)))
        self._weights = weights
        self._eight_bit = eight_bit

    def linear(self, x: str, name: str) -> str:
        bias = f"{name}.bias"
        weight = self._weights.read(f"{name}.weight")
        if self._eight_bit:
            return self.graph.linear_8bit(x, weight, self._weights.read(bias))
        return self.graph.linear(x, weight, self._weights.read(bias) if bias in self._weights else None)

    def norm(self, x: str, name: str, epsilon: float) -> str:
        read = self._weights.read
        return self.graph.layer_norm(x, read(f"{name}.weight"), read(f"{name}.bias"), epsilon)

    def attention(self, x: str, names: Mapping[str, str], heads: int, *, causal: bool = False) -> str:
        """Multi-head self-attention; `names`: of the linear layers query, key, value and out."""
        parts = (self.linear(x, names[part]) for part in ("query", "key", "value"))
        mixed = self.graph.add(
            "MultiHeadAttention", *parts, domain=EXTENSIONS, num_heads=heads, unidirectional=int(causal)
        )
        return self.linear(mixed, names["out"])

    def feed_forward(self, x: str, rise: str, activation: str, fall: str) -> str:
        operation = ACTIVATIONS[activation]
        risen = self.graph.add(
            operation, self.linear(x, rise), domain="" if operation == "Relu" else EXTENSIONS
        )
        return self.linear(risen, fall)

    def add(self, x: str, y: str) -> str:
        return self.graph.add("Add", x, y)

    def token(self, x: str, place: int) -> str:
        """The state at a place, (1, width)."""
        return self.graph.add("Gather", x, self.graph.weight(np.array(place, np.int64)), axis=1)


Vector = Callable[[NDArray[np.float32]], NDArray[np.float32]]
"""Embedded tokens of one text, float32 (1, tokens, width), to its vector, float32 (dim,)."""


def _run(layers: _Layers, result: str) -> Vector:
    session = layers.graph.session(result)
    return lambda x: np.asarray(session.run(None, {"x": x})[0], np.float32).ravel()


def bert(weights: Weights, config: Mapping[str, Any], *, eight_bit: bool) -> Vector:
    """BERT, float32 (1, tokens, width) to (width,): the mean of its last states (Reimers and Gurevych 2019,
    section 3). `eight_bit`: products in 8 bits."""
    layers, x = _bert_layers(weights, config, eight_bit=eight_bit)
    tokens = layers.graph.weight(np.array([1]))
    return _run(layers, layers.graph.add("ReduceMean", x, tokens, keepdims=0))


def bert_states(weights: Weights, config: Mapping[str, Any]) -> Vector:
    """BERT with products in 8 bits, float32 (1, tokens, width) to its last states (tokens, width)."""
    layers, x = _bert_layers(weights, config, eight_bit=True)
    session = layers.graph.session(x)
    return lambda embedded: np.asarray(session.run(None, {"x": embedded})[0][0], np.float32)


def _bert_layers(weights: Weights, config: Mapping[str, Any], *, eight_bit: bool) -> tuple[_Layers, str]:
    """The layers, and the name of their last states."""
    width = len(weights.read("embeddings.LayerNorm.bias"))
    layers = _Layers(weights, width, eight_bit=eight_bit)
    epsilon = float(config.get("layer_norm_eps", 1e-12))
    x = layers.norm("x", "embeddings.LayerNorm", epsilon)
    for number in range(int(config.get("num_hidden_layers", 12))):
        name = f"encoder.layer.{number}"
        names = {part: f"{name}.attention.self.{part}" for part in ("query", "key", "value")}
        names["out"] = f"{name}.attention.output.dense"
        attended = layers.attention(x, names, int(config.get("num_attention_heads", 12)))
        x = layers.norm(layers.add(x, attended), f"{name}.attention.output.LayerNorm", epsilon)
        fed = layers.feed_forward(
            x, f"{name}.intermediate.dense", config.get("hidden_act", "gelu"), f"{name}.output.dense"
        )
        x = layers.norm(layers.add(x, fed), f"{name}.output.LayerNorm", epsilon)
    return layers, x


def image_text(weights: Weights, settings: Mapping[str, Any], *, head: str, causal: bool) -> Vector:
    """The text tower of CLIP (`causal`, Radford et al. 2021, section 2.4) or SigLIP (Zhai et al. 2023),
    float32 (1, tokens, width) to (dim,): the state at the last token, through the linear layer `head`."""
    activation = settings["hidden_act"]
    if activation not in ACTIVATIONS:
        raise WeightsInvalid(f"activation {activation!r} is unknown; known: {', '.join(sorted(ACTIVATIONS))}")
    width = len(weights.read("text_model.final_layer_norm.bias"))
    layers = _Layers(weights, width)
    epsilon, x = float(settings["layer_norm_eps"]), "x"
    for number in range(settings["num_hidden_layers"]):
        name = f"text_model.encoder.layers.{number}"
        names = {
            part: f"{name}.self_attn.{short}_proj"
            for part, short in {"query": "q", "key": "k", "value": "v", "out": "out"}.items()
        }
        normed = layers.norm(x, f"{name}.layer_norm1", epsilon)
        x = layers.add(x, layers.attention(normed, names, settings["num_attention_heads"], causal=causal))
        normed = layers.norm(x, f"{name}.layer_norm2", epsilon)
        fed = layers.feed_forward(normed, f"{name}.mlp.fc1", activation, f"{name}.mlp.fc2")
        x = layers.add(x, fed)
    last = layers.token(layers.norm(x, "text_model.final_layer_norm", epsilon), -1)
    return _run(layers, layers.linear(last, head))
