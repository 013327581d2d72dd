"""The bundled encoder: its image tower in torch, its text through the sentence encoder.

The tower is plain convolutions and a readout, which adds up vectors of what it detects: the object in the
hand, the action, scene, light and decor, each weighted by its probability. Batch normalization is folded
into the convolutions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexers.devices import CPU_BACKENDS
from indexers.digests import folder_digest
from indexers.errors import WeightsInvalid, WeightsMissing
from indexers.families import EncoderSource, FolderLayout, ImageEncoderFamily
from indexers.preprocess import Preprocessing
from indexers.protocol import FileIdentity, TextEncoder, Vocabulary, unit_rows
from indexers.settings import EncoderSettings
from indexers.tensors import Tensors
from indexers.torch_backend import TorchImageEncoder

BUNDLED = "bundled"
SENTENCES = "all-MiniLM-L6-v2"
"""The sentence encoder whose vectors the tower was trained against."""
WEIGHTS = Path(__file__).with_name("tower.safetensors")
VOCABULARY = Path(__file__).with_name("vocabulary.json")
"""The wordings that the tower was trained on (`training.export`)."""
DIM = 384
MEAN, SPREAD = 0.45, 0.25
SIZE = (81, 144)
"""Height and width of what the tower sees."""
BOX = 4
"""Pillow's number of the filter."""
PREPROCESSING = Preprocessing(mean=(MEAN,) * 3, std=(SPREAD,) * 3, exact=SIZE, resample=BOX)
"""The whole image squashed to 144 x 81: the edges count, too."""


@dataclass(frozen=True, slots=True)
class TextSpace:
    """Sentence vectors as the tower knows them: x -> unit((x - mean) @ matrix).

    Raw ones share a large common part, which says nothing.
    """

    mean: NDArray[np.float32]
    """(d,)"""
    matrix: NDArray[np.float32]
    """(d, d), symmetric."""

    def __call__(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Sentence vectors (n, d) into unit rows of the space, float32 (n, d)."""
        return unit_rows(np.asarray((vectors - self.mean) @ self.matrix, np.float32))


class BundledText(FileIdentity):
    """A `TextTower`: sentence vectors, centred and gently whitened by constants that come with the tower."""

    name = BUNDLED
    dim = DIM

    def __init__(self, sentences: TextEncoder, weights: Path) -> None:
        tensors = Tensors((weights,))
        self._sentences = sentences
        self._space = TextSpace(tensors.read("text.mean"), tensors.read("text.matrix"))
        if (self._space.mean.shape, self._space.matrix.shape) != ((DIM,), (DIM, DIM)):
            raise _damaged(weights)
        self._files = (weights,)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What the tower can name; it knows nothing beyond it."""
        return Vocabulary.read(VOCABULARY)

    def _facts(self) -> Mapping[str, Any]:
        return {"sentences": self._sentences.fingerprint}

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, 384), each text alone."""
        rows = [self._space(row[None]) for row in self._sentences.encode_text(texts)]
        return np.concatenate(rows) if rows else np.empty((0, DIM), np.float32)


def open_bundled_text(settings: EncoderSettings, weights: Path = WEIGHTS) -> BundledText:
    """The tower was trained against all-MiniLM-L6-v2, whatever `encoder.text` is. Raises `WeightsMissing` or
    `WeightsInvalid`."""
    from indexers.registry import open_query_encoder

    return BundledText(open_query_encoder(SENTENCES, settings), _require_file(weights))


def open_bundled(
    settings: EncoderSettings, weights: Path = WEIGHTS, *, backend: str, batch: int
) -> TorchImageEncoder:
    """The image half; the text half opens at the first text. Raises `WeightsMissing` or `WeightsInvalid`."""
    return TorchImageEncoder(
        name=BUNDLED,
        dim=DIM,
        weights=folder_digest((_require_file(weights),)),
        preprocessing=PREPROCESSING,
        forward=_checked_forward(open_tower(Tensors((weights,))), weights),
        open_text=partial(open_bundled_text, settings, weights),
        backend=backend,
        batch=batch,
    )


def _checked_forward(forward: Callable[[Any], Any], weights: Path) -> Callable[[Any], Any]:
    """The tower, after one black image: tensors that are missing or of another shape are reported here."""
    import torch

    try:
        with torch.inference_mode():
            seen = forward(torch.zeros(1, 3, *SIZE))
    except (KeyError, RuntimeError, IndexError, ValueError) as error:
        raise _damaged(weights) from error
    if tuple(seen.shape) != (1, DIM) or not bool(seen.isfinite().all()):
        raise _damaged(weights)
    return forward


def _damaged(weights: Path) -> WeightsInvalid:
    return WeightsInvalid(f"{weights}: not the weights of the bundled encoder; install the package again")


def _require_file(weights: Path) -> Path:
    if not weights.is_file():
        raise WeightsMissing(
            f"{weights}: the bundled encoder's weights are not here; install the package again"
        )
    return weights


def _open_image(source: EncoderSource, *, backend: str, batch: int) -> TorchImageEncoder:
    return open_bundled(source.settings, source.path, backend=backend, batch=batch)


FAMILY = ImageEncoderFamily(
    open_image=_open_image,
    open_text=lambda source: open_bundled_text(source.settings, source.path),
    layout=FolderLayout(((("tower.safetensors",),),), "tower.safetensors"),
    file="tower.safetensors",
    backends=CPU_BACKENDS,
)


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
