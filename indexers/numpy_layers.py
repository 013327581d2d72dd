"""The few layers that a text tower is made of, on numpy, for one text at a time.

They exist because importing torch and transformers takes longer than a whole
question may. Each is the published layer in float32: `x` is (tokens, width).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from indexers.errors import WeightsInvalid
from indexers.tensors import Tensors

if TYPE_CHECKING:
    from numpy.typing import NDArray

# erf on [-4, 4] as a ratio of polynomials, as Eigen's `generic_fast_erf_float`; beyond, it is 1 in float32.
ERF_OVER = (
    -2.72614225801306e-10,
    2.77068142495902e-08,
    -2.10102402082508e-06,
    -5.69250639462346e-05,
    -7.34990630326855e-04,
    -2.95459980854025e-03,
    -1.60960333262415e-02,
)
ERF_UNDER = (
    -1.45660718464996e-05,
    -2.13374055278905e-04,
    -1.68282697438203e-03,
    -7.37332916720468e-03,
    -1.42647390514189e-02,
)


def _floats(x: Any) -> NDArray[np.float32]:
    """The same array, asserted to be float32: a stray float64 would double the cost of what follows."""
    assert x.dtype == np.float32
    return cast("NDArray[np.float32]", x)


def erf(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Error function of each element of a float32 array of any shape, within 4e-7 of the true value."""
    clipped = np.clip(x, -4, 4)
    square = clipped * clipped
    over = np.full_like(square, ERF_OVER[0])
    for coefficient in ERF_OVER[1:]:
        over *= square
        over += np.float32(coefficient)
    under = np.full_like(square, ERF_UNDER[0])
    for coefficient in ERF_UNDER[1:]:
        under *= square
        under += np.float32(coefficient)
    return _floats(clipped * over / under)


def _gelu(x: NDArray[np.float32]) -> NDArray[np.float32]:
    return _floats(np.float32(0.5) * x * (1 + erf(x * np.float32(0.5**0.5))))


def _gelu_tanh(x: NDArray[np.float32]) -> NDArray[np.float32]:
    inner = np.float32((2 / np.pi) ** 0.5) * (x + np.float32(0.044715) * x * x * x)
    return _floats(np.float32(0.5) * x * (1 + np.tanh(inner)))


def _sigmoid(x: NDArray[np.float32]) -> NDArray[np.float32]:
    # By tanh, which cannot overflow.
    return _floats(np.float32(0.5) * (1 + np.tanh(np.float32(0.5) * x)))


def _quick_gelu(x: NDArray[np.float32]) -> NDArray[np.float32]:
    return _floats(x * _sigmoid(np.float32(1.702) * x))


def _relu(x: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.maximum(x, 0)


ACTIVATIONS: dict[str, Callable[[NDArray[np.float32]], NDArray[np.float32]]] = {
    "gelu": _gelu,
    "gelu_new": _gelu_tanh,
    "gelu_pytorch_tanh": _gelu_tanh,
    "quick_gelu": _quick_gelu,
    "relu": _relu,
}


def activation(name: str) -> Callable[[NDArray[np.float32]], NDArray[np.float32]]:
    """By its transformers name: float32 of any shape to the same shape. Raises `WeightsInvalid`."""
    if name not in ACTIVATIONS:
        raise WeightsInvalid(f"activation {name!r} is unknown; known: {', '.join(sorted(ACTIVATIONS))}")
    return ACTIVATIONS[name]


@dataclass(frozen=True, slots=True)
class Linear:
    """An affine layer, x W^T + b, float32."""

    weight: NDArray[np.float32]
    """(out, in), as torch stores it."""
    bias: NDArray[np.float32] | None

    @classmethod
    def read(cls, tensors: Tensors, name: str) -> Linear:
        """Read weight and, where stored, bias under a name."""
        bias = f"{name}.bias"
        return cls(tensors.read(f"{name}.weight"), tensors.read(bias) if bias in tensors else None)

    def __call__(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        y = x @ self.weight.T
        return _floats(y if self.bias is None else y + self.bias)


@dataclass(frozen=True, slots=True)
class LayerNorm:
    """Layer normalization over the last axis, float32."""

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    epsilon: np.float32

    @classmethod
    def read(cls, tensors: Tensors, name: str, epsilon: float) -> LayerNorm:
        """Read weight and bias under a name."""
        return cls(tensors.read(f"{name}.weight"), tensors.read(f"{name}.bias"), np.float32(epsilon))

    def __call__(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        return _floats(centred / np.sqrt(variance + self.epsilon) * self.weight + self.bias)


def attention(
    query: NDArray[np.float32],
    key: NDArray[np.float32],
    value: NDArray[np.float32],
    heads: int,
    *,
    causal: bool,
) -> NDArray[np.float32]:
    """Softmax attention of float32 (tokens, width) arrays, split into heads; float32 (tokens, width)."""
    tokens, width = query.shape
    depth = width // heads
    q, k, v = (part.reshape(tokens, heads, depth).transpose(1, 0, 2) for part in (query, key, value))
    scores = q @ k.transpose(0, 2, 1) * np.float32(depth**-0.5)
    if causal:
        scores = np.where(np.tri(tokens, dtype=bool), scores, np.float32(-np.inf))
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ v
    return _floats(mixed.transpose(1, 0, 2).reshape(tokens, width))


@dataclass(frozen=True, slots=True)
class Attention:
    """Multi-head self-attention."""

    heads: int
    causal: bool
    query: Linear
    key: Linear
    value: Linear
    out: Linear

    def __call__(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        mixed = attention(self.query(x), self.key(x), self.value(x), self.heads, causal=self.causal)
        return self.out(mixed)
