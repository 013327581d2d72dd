"""The image tower of the bundled encoder as a function of its weights: plain convolutions and a readout.

The readout adds up vectors of what the tower sees: what is in the hand, what happens, scene, light and
decor, each weighted by how sure it is. Batch normalisation is folded into the convolutions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from indexers.tensors import Tensors

STRIDES = {"stem": 4, "to_middle": 2, "to_high": 2}
BLOCKS = ("low.0", "to_middle", "middle.0", "middle.1", "to_high", "high.0", "high.1")


def open_tower(tensors: Tensors) -> Callable[[Any], Any]:
    """A torch function from float32 (n, 3, 81, 144), normalised, to float32 (n, 384), of any length."""
    import torch

    weights = {
        name: torch.from_numpy(tensors.read(name).copy())
        for name in tensors.names()
        if not name.startswith("text.")
    }
    for name, tensor in weights.items():
        if tensor.ndim == 4:
            weights[name] = tensor.contiguous(memory_format=torch.channels_last)
    return lambda pixels: vectors(weights, pixels)


def vectors(weights: Mapping[str, Any], pixels: Any) -> Any:
    """The sum of all that is seen, (n, 384)."""
    import torch
    from torch.nn import functional

    hidden, seen = readings(weights, pixels)
    shares = torch.cat(
        [
            *(seen[name].softmax(dim=1) for name in ("objects", "acts", "scenes", "lights")),
            seen["props"].sigmoid(),
        ],
        dim=1,
    )
    return functional.linear(shares, weights["sums.weight"]) + _linear(weights, "rest", hidden)


def readings(weights: Mapping[str, Any], pixels: Any) -> tuple[Any, dict[str, Any]]:
    """The hidden state (n, 384), and logits of objects, acts, scenes, lights and props."""
    import torch
    from torch.nn import functional

    x = pixels.contiguous(memory_format=torch.channels_last)
    x = functional.relu(_conv(weights, "stem", x))
    for name in BLOCKS:
        if name in STRIDES:
            x = functional.relu(_conv(weights, name, x))
        else:
            inner = functional.relu(_conv(weights, f"{name}.first", x))
            x = functional.relu(x + _conv(weights, f"{name}.second", inner))
    props = torch.logsumexp(_conv(weights, "props", x).flatten(2), dim=2)
    places = _conv(weights, "look", x).flatten(2).softmax(dim=2)
    values = _conv(weights, "value", x).flatten(2).unflatten(1, (places.shape[1], -1))
    pooled = (values * places.unsqueeze(2)).sum(dim=3).flatten(1)
    hidden = functional.relu(_linear(weights, "hidden", torch.cat([pooled, x.mean(dim=(2, 3))], dim=1)))
    things = _conv(weights, "things", x).flatten(2)
    held = (things * _conv(weights, "hold", x).flatten(2).softmax(dim=2)).sum(dim=2)
    seen = {name: _linear(weights, name, hidden) for name in ("objects", "acts", "scenes", "lights")}
    seen["objects"] = seen["objects"] + functional.pad(held, (0, 1))
    return hidden, {**seen, "props": props}


def _conv(weights: Mapping[str, Any], name: str, x: Any) -> Any:
    from torch.nn import functional

    weight = weights[f"{name}.weight"]
    stride = STRIDES.get(name, 1)
    return functional.conv2d(x, weight, weights[f"{name}.bias"], stride=stride, padding=weight.shape[-1] // 2)


def _linear(weights: Mapping[str, Any], name: str, x: Any) -> Any:
    from torch.nn import functional

    return functional.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])
