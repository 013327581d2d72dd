"""Words that were encoded of late are not encoded again: the same sentences come back all along a road."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Remembering"]

KEPT = 50_000
"""Texts held at most: 75 MB at 384 numbers each."""


class Remembering:
    """A `TextTower` or a question's `TextEncoder` that keeps its rows; all else is the encoder's own.

    Each text is encoded alone, so a kept row has the very bits that another call would give.
    """

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder
        self._rows: dict[str, NDArray[np.float32]] = {}

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim)."""
        if len(self._rows) > KEPT:
            self._rows.clear()
        for text in texts:
            if text not in self._rows:
                self._rows[text] = self._encoder.encode_text([text])[0]
        if not texts:
            return np.empty((0, self._encoder.dim), np.float32)
        return np.stack([self._rows[text] for text in texts])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)
