"""What an encoder is: base classes for text, for the words of images, and for images.

The contract suites are in `indexers.testing`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from indexers.digests import fingerprint, folder_digest
from indexers.errors import DeviceFull, ModelError
from indexers.settings import Switch

if TYPE_CHECKING:
    from corpora.records import Frames


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Wordings that an image encoder can distinguish, to name what a frame shows."""

    scenes: tuple[str, ...]
    actions: tuple[str, ...]
    objects: tuple[str, ...]

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read a JSON object of three lists of strings. Raises `OSError`, `ValueError` or `KeyError`."""
        lists = json.loads(file.read_text(encoding="utf-8"))
        return cls(tuple(lists["scenes"]), tuple(lists["actions"]), tuple(lists["objects"]))


KEPT = 50_000
"""Texts held, about: 75 MB at 384 numbers each."""


class TextEncoder(ABC):
    """Base of all encoders of text; one of them sets `name` and `dim` and writes `_encode`.

    Its identity is hashed from `_files` and `_facts` at first use, or it sets `weights` and `fingerprint`.
    """

    name: str
    dim: int
    backend: str = ""
    """Arithmetic, as `onnx-fp32`."""
    batch: int = 1
    """Texts in a batch."""
    _files: tuple[Path, ...] = ()
    _kept: dict[str, NDArray[np.float32]] | None = None

    @cached_property
    def weights(self) -> str:
        """Hash over the weight files; of a text tower, that of its image encoder."""
        return folder_digest(self._files)

    @cached_property
    def fingerprint(self) -> str:
        """Identity of weights and arithmetic: equal fingerprints give equal vectors."""
        return fingerprint({"weights": self.weights, **self._facts()})

    def _facts(self) -> Mapping[str, Any]:
        """What vectors depend on beside the weights, as plain values."""
        return {}

    @abstractmethod
    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Float32 (n, dim), any length, of at least one text, all different. Neighbours change no text."""

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim), in the order of `texts`. A lone surrogate is read as "?"."""
        texts = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        kept = {} if self._kept is None else self._kept
        found = {text: row for text in texts if (row := kept.get(text)) is not None}
        if missing := [text for text in dict.fromkeys(texts) if text not in found]:
            found.update(zip(missing, unit_rows(self._encode(missing)), strict=True))
        if len(kept) > KEPT:
            kept.clear()
        kept.update(found)
        return np.stack([found[text] for text in texts]) if texts else np.empty((0, self.dim), np.float32)

    def keep_rows(self) -> Self:
        """This encoder, which keeps its rows from now on; beyond `KEPT` it begins anew."""
        self._kept = {}
        return self

    def is_word(self, text: str) -> bool:  # noqa: ARG002 (for encoders that know)
        """Whether the vocabulary has it as one piece; always true where the vocabulary is not known."""
        return True


class TextTower(TextEncoder):
    """The half of an image encoder that a question needs: text into the space of the images."""

    vocabulary: Vocabulary | None = None
    """All that an encoder of a closed world can name; None: everyday words are tried."""
    half_relevant: float = 2.5
    """Standard score of an image (`rag.null_scores`) at which its relevance is one half."""
    steady_seconds: float = 0.0
    """Similarities are averaged over at least so many seconds to find an event."""
    names_images: bool = False
    """Whether `looks_like` names what images show. Then images without a name show nothing that it knows."""

    def encode_named(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim), that separate what images show from what they do not best, where
        those of `encode_text` rank better."""
        return self.encode_text(texts)

    def looks_like(self, vectors: NDArray[np.float32]) -> list[str]:  # noqa: ARG002 (for towers that name)
        """What images, at least one unit row, float32 (n, dim), show, best first; empty where it has no
        names."""
        return []


@dataclass(frozen=True, slots=True)
class Disabled:
    """Stands for an OCR reader or a speech model that does not run."""

    reason: str
    """One line: what is off, why, and where it can be, how to switch it on."""


def open_sense(name: str, mode: Switch, make: Callable[[], T]) -> T | Disabled:
    """What `make` gives; where the sense is off, or `auto` and its model cannot be used, why. Raises
    `ModelError` where it is `on`, and `DeviceFull` either way: with more memory the sense is there."""
    if mode == "off":
        return Disabled(f"{name}: off by the settings")
    try:
        return make()
    except ModelError as error:
        if mode == "on" or isinstance(error, DeviceFull):
            raise
        return Disabled(f"{name}: off, {error}")


class ImageEncoder(ABC):
    """Base of all image encoders: one of them writes `_encode_batch`; its words are a `TextTower`.

    Every batch that reaches `_encode_batch` has exactly `batch` rows (the last
    one is padded by repeating its last row and cut again), because the same
    image in another batch shape gives other bits.
    """

    name: str
    dim: int
    weights: str
    """Hash over the weight files."""
    fingerprint: str
    """Hash over weights, preprocessing, backend, dtype and batch shape."""
    batch: int
    """Images in a batch."""
    backend: str
    """Arithmetic, as `torch-fp32`."""
    short_side: int = 0
    """Short side of an image, in pixels, below which it is enlarged; 0 where it never is."""

    def encode_images(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim), of uint8 (n, height, width, 3) RGB, upright."""
        if images.ndim != 4 or images.shape[3] != 3 or images.dtype != np.uint8:
            raise ValueError(f"images must be uint8 (n, h, w, 3), not {images.dtype} {images.shape}")
        rows = []
        for start in range(0, len(images), self.batch):
            part = images[start : start + self.batch]
            missing = self.batch - len(part)
            padded = np.concatenate([part, np.repeat(part[-1:], missing, axis=0)]) if missing else part
            rows.append(self._encode_batch(padded)[: len(part)])
        if not rows:
            return np.empty((0, self.dim), np.float32)
        return unit_rows(np.concatenate(rows))

    def encode_clip(
        self,
        frames: Frames,  # noqa: ARG002 (for encoders of whole clips)
        rows: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        """Unit float32 (dim,) of a clip; here the mean of `rows`, its frames as unit float32 (n, dim)."""
        return unit_rows(rows.mean(axis=0))

    @abstractmethod
    def _encode_batch(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Float32 (batch, dim), any length, of exactly `batch` images."""


def unit_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of a float32 (n, d), or one row (d,), scaled to length 1; a zero row stays zero."""
    rows = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit


DEDUP_THRESHOLD = 3.0
"""Levels of 255 by which a block's mean may differ."""
BLOCK = 8


def encode_frames(encoder: ImageEncoder, frames: Frames) -> NDArray[np.float32]:
    """Unit rows, float32 (n, dim), of one clip's n frames, in order; each still image is encoded once."""
    kept, places = np.unique(representative_frames(frames.images), return_inverse=True)
    return encoder.encode_images(frames.images[kept])[places]


def representative_frames(images: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Find for each of (n, h, w, 3) frames of a clip the index of the frame whose vector it takes.

    int64 (n,), never falling; a frame's own index where it is encoded itself. Slides and fixed cameras show
    one image for seconds: a frame is taken for the last encoded one, never for the one just before it, so
    slow drift cannot creep, where no block of 8 x 8 pixels has another mean colour. Of fourteen images held
    for 6 s, as H.264 at CRF 18 to 42, 81 to 90 % were reused, with a cosine of 0.9999 to their own vectors.
    """
    chosen = np.arange(len(images))
    if len(images) == 0:
        return chosen
    blocks = _block_means(images)
    last = 0
    for place in range(1, len(images)):
        if np.abs(blocks[place] - blocks[last]).max() <= DEDUP_THRESHOLD:
            chosen[place] = last
        else:
            last = place
    return chosen


def _block_means(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(n, blocks down, blocks across, 3); blocks at the right and lower edge may be smaller."""
    down, across = (np.arange(0, side, BLOCK) for side in images.shape[1:3])
    # 64 bytes of 255 fit into 16 bits.
    bands = np.add.reduceat(images, down, axis=1, dtype=np.uint16)
    sums = np.add.reduceat(bands, across, axis=2)
    rows, columns = (np.diff([*range(0, side, BLOCK), side]) for side in images.shape[1:3])
    means: NDArray[np.float32] = np.divide(sums, (rows[:, None] * columns)[:, :, None], dtype=np.float32)
    return means
