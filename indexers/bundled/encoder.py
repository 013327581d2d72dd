"""The bundled encoder as any other: its image tower in torch, its words through the light sentence reader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indexers.bundled.space import TextSpace
from indexers.bundled.tower import open_tower
from indexers.digests import fingerprint, folder_digest
from indexers.errors import WeightsInvalid, WeightsMissing
from indexers.families import EncoderSource, ImageEncoderFamily
from indexers.models.layout import FolderLayout
from indexers.models.lookup import find_weights
from indexers.numpy_text_encoder import NumpyTextEncoder, open_sentences
from indexers.preprocess import Preprocessing
from indexers.protocol import Vocabulary
from indexers.tensors import Tensors
from indexers.torch_backend import TorchImageEncoder

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
"""The whole image squashed to 144 x 81: what stands at the edges counts, too."""


class BundledText:
    """A `TextTower`: sentence vectors, centred and gently whitened by constants that come with the tower."""

    name = BUNDLED
    dim = DIM

    def __init__(self, sentences: NumpyTextEncoder, weights: Path) -> None:
        tensors = Tensors((weights,))
        self._sentences = sentences
        self._space = TextSpace(tensors.read("text.mean"), tensors.read("text.matrix"))
        if (self._space.mean.shape, self._space.matrix.shape) != ((DIM,), (DIM, DIM)):
            raise _damaged(weights)
        self._file = weights

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What the tower can name; it knows nothing beyond it."""
        return Vocabulary.read(VOCABULARY)

    @cached_property
    def weights(self) -> str:
        """Digest of the weight file."""
        return folder_digest((self._file,))

    @cached_property
    def fingerprint(self) -> str:
        """Identity of weights and arithmetic: equal fingerprints give equal vectors."""
        return fingerprint({"weights": self.weights, "sentences": self._sentences.fingerprint})

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, 384), each text alone."""
        rows = [self._space(row[None]) for row in self._sentences.encode_text(texts)]
        return np.concatenate(rows) if rows else np.empty((0, DIM), np.float32)


def open_bundled_text(sentences: Path, weights: Path = WEIGHTS) -> BundledText:
    """`sentences`: the folder of all-MiniLM-L6-v2. Raises `WeightsMissing` or `WeightsInvalid`."""
    return BundledText(open_sentences(SENTENCES, sentences), _require_file(weights))


def open_bundled(sentences: Path, weights: Path = WEIGHTS, *, backend: str, batch: int) -> TorchImageEncoder:
    """The image half; the text half opens at the first text. Raises `WeightsMissing` or `WeightsInvalid`."""
    return TorchImageEncoder(
        name=BUNDLED,
        dim=DIM,
        weights=folder_digest((_require_file(weights),)),
        preprocessing=PREPROCESSING,
        forward=_checked_forward(open_tower(Tensors((weights,))), weights),
        open_text=partial(open_bundled_text, sentences, weights),
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
    return WeightsInvalid(f"{weights}: not the weights of the bundled encoder; install the package anew")


def _require_file(weights: Path) -> Path:
    if not weights.is_file():
        raise WeightsMissing(
            f"{weights}: the bundled encoder's weights are not here; install the package anew"
        )
    return weights


def _sentences(source: EncoderSource) -> Path:
    """The sentence encoder that the tower was trained against, whatever `encoder.text` is."""
    return find_weights(SENTENCES, source.settings)


def _open_image(source: EncoderSource, *, backend: str, batch: int) -> TorchImageEncoder:
    return open_bundled(_sentences(source), source.path, backend=backend, batch=batch)


FAMILY = ImageEncoderFamily(
    open_image=_open_image,
    open_text=lambda source: open_bundled_text(_sentences(source), source.path),
    layout=FolderLayout(((("tower.safetensors",),),), "tower.safetensors"),
    file="tower.safetensors",
)
