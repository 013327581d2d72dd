"""Words that were encoded of late are not encoded again: the same sentences come back all along a road."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEPT = 50_000
"""Texts held at most: 75 MB at 384 numbers each."""


class CachedTextEncoder:
    """A `TextTower` or a question's `TextEncoder` that keeps its rows; all else is the encoder's own.

    Each text is encoded alone, so a kept row has the very bits that another call would give. Of more
    than `kept` texts the one that was asked for longest ago is let go.
    """

    def __init__(self, encoder: Any, kept: int = KEPT) -> None:
        self._encoder = encoder
        self._kept = kept
        self._rows: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim)."""
        if not texts:
            return np.empty((0, self._encoder.dim), np.float32)
        return np.stack([self._row(text) for text in texts])

    def _row(self, text: str) -> NDArray[np.float32]:
        row = self._rows.pop(text, None)
        if row is None:
            row = np.asarray(self._encoder.encode_text([text])[0], np.float32)
        self._rows[text] = row
        if len(self._rows) > self._kept:
            self._rows.popitem(last=False)
        return row

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)
