"""Sentence vectors, each made once: a batch of questions meets the same sentences again and again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexers.protocol import TextEncoder

KEPT = 8192
"""Texts; beyond it all are forgotten. A vector does not depend on what is encoded beside it."""


class SentenceVectors:
    """Over one text encoder."""

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder = encoder
        self._rows: dict[str, NDArray[np.float64]] = {}

    def of(self, texts: Iterable[str]) -> dict[str, NDArray[np.float64]]:
        """Text to its unit vector, float64 (dim,)."""
        wanted = list(dict.fromkeys(texts))
        missing = [text for text in wanted if text not in self._rows]
        if len(self._rows) + len(missing) > KEPT:
            self._rows.clear()
            missing = wanted
        if missing:
            for text, row in zip(missing, self._encoder.encode_text(missing), strict=True):
                self._rows[text] = np.asarray(row, np.float64)
        return {text: self._rows[text] for text in wanted}
