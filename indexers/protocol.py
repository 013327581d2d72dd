"""What an encoder is: a protocol for text, a base class for images.

The contract suites are in `indexers.testing`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from indexers.digests import fingerprint, folder_digest

if TYPE_CHECKING:
    from corpora.records import Frames


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Wordings that an image encoder can distinguish, to name what a frame shows."""

    scenes: tuple[str, ...]
    actions: tuple[str, ...]
    objects: tuple[str, ...]

    @classmethod
    def read(cls, file: Path) -> Self:
        """From a JSON object of three lists of strings. Raises `OSError`, `ValueError` or `KeyError`."""
        lists = json.loads(file.read_text(encoding="utf-8"))
        return cls(tuple(lists["scenes"]), tuple(lists["actions"]), tuple(lists["objects"]))


class TextTower(Protocol):
    """The half of an image encoder that a question needs: text into the space of the images.

    An encoder trained on a closed world may have an attribute `vocabulary: Vocabulary`, all that it can
    name; without it, whoever names what a frame shows tries everyday words.
    """

    name: str
    dim: int

    @property
    def weights(self) -> str:
        """Hash over the weight files; the image encoder made of the same files has the same."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash over weights, tokens and arithmetic."""
        ...

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim). Each text is encoded alone, so neighbours never change it."""
        ...


class TextEncoder(Protocol):
    """Sentences and passages into one space."""

    name: str
    dim: int
    backend: str
    batch: int
    """Texts in a batch."""

    @property
    def weights(self) -> str:
        """Hash over the weight files."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash over weights, tokens, backend and batch shape."""
        ...

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim)."""
        ...


class FileIdentity(ABC):
    """Gives an encoder its `weights` and `fingerprint`, hashed from its files at first use."""

    _files: tuple[Path, ...]

    @abstractmethod
    def _facts(self) -> Mapping[str, Any]:
        """What vectors depend on beside the weights, as plain values."""

    @cached_property
    def weights(self) -> str:
        """Hash over the weight files."""
        return folder_digest(self._files)

    @cached_property
    def fingerprint(self) -> str:
        """Identity of weights and arithmetic: equal fingerprints give equal vectors."""
        return fingerprint({"weights": self.weights, **self._facts()})


class SingleTextEncoder(FileIdentity):
    """Base of text towers that encode one text at a time: one of them writes `_encode_one` and `_facts`."""

    name: str
    dim: int

    @abstractmethod
    def _encode_one(self, text: str) -> NDArray[np.float32]:
        """Float32 (dim,), any length."""

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim), in the order of `texts`."""
        rows = np.empty((len(texts), self.dim), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = self._encode_one(text)
        return unit_rows(rows)


@dataclass(frozen=True, slots=True)
class Disabled:
    """In place of an OCR reader or a speech model that does not run."""

    reason: str
    """One line: what is off, why, and where it can be, how to switch it on."""


class ImageEncoder(ABC):
    """Base of all image encoders: one of them writes `_encode_batch` and `encode_text`.

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
    takes_audio: bool = False
    """Whether `encode_audio` is implemented; then clips are indexed by their audio too."""

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

    def encode_audio(
        self,
        waveform: NDArray[np.float32],  # noqa: ARG002 (for encoders of sound)
    ) -> NDArray[np.float32]:
        """Unit float32 (dim,) of mono float32 (n,) at 16 kHz, n at least 1600.

        Raises `TypeError` for an encoder of images alone.
        """
        raise TypeError(f"{self.name} takes no audio")

    @abstractmethod
    def _encode_batch(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Float32 (batch, dim), any length, of exactly `batch` images."""

    @abstractmethod
    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim), each text encoded alone."""


def unit_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of a float32 (n, d), or one row (d,), scaled to length 1; a zero row stays zero."""
    rows = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit


KEPT = 50_000
"""Texts held at most: 75 MB at 384 numbers each."""


class CachedTextEncoder:
    """A `TextTower` or a question's `TextEncoder` that keeps its rows; all else is the encoder's own.

    Of more than `kept` texts the one that was asked for longest ago is let go.
    """

    def __init__(self, encoder: Any, kept: int = KEPT) -> None:
        self._encoder = encoder
        self._kept = kept
        self._rows: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim)."""
        if not texts:
            return np.empty((0, self._encoder.dim), np.float32)
        # Read first: another thread may let rows go while others are encoded.
        held = ((text, self._rows.get(text)) for text in texts)
        found = {text: row for text, row in held if row is not None}
        if missing := [text for text in dict.fromkeys(texts) if text not in found]:
            rows = np.asarray(self._encoder.encode_text(missing), np.float32)
            found.update(zip(missing, rows, strict=True))
        for text in texts:
            self._rows.pop(text, None)
            self._rows[text] = found[text]
        while len(self._rows) > self._kept:
            self._rows.popitem(last=False)
        return np.stack([found[text] for text in texts])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)
