"""Sentence vectors, each text encoded once in a build."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexers.protocol import TextEncoder


class CachedEncoder:
    """A `TextEncoder` that remembers; safe, as the vector of a text never depends on its neighbours."""

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder = encoder
        self.name, self.dim = encoder.name, encoder.dim
        self.backend, self.batch = encoder.backend, encoder.batch
        self._rows: dict[str, NDArray[np.float32]] = {}

    @property
    def weights(self) -> str:
        """Digest of the model's files."""
        return self._encoder.weights

    @property
    def fingerprint(self) -> str:
        """Identity: equal fingerprints give equal results."""
        return self._encoder.fingerprint

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim)."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if missing:
            self._rows.update(zip(missing, self._encoder.encode_text(missing), strict=True))
        if not texts:
            return np.empty((0, self.dim), np.float32)
        return np.stack([self._rows[text] for text in texts])

    def similarity(self, one: Sequence[str], other: Sequence[str]) -> NDArray[np.float64]:
        """Cosines to 6 decimals, float64 (n, m): n texts `one` in rows, m texts `other` in columns."""
        rows = self.encode_text(one).astype(np.float64), self.encode_text(other).astype(np.float64)
        cosines: NDArray[np.float64] = np.round(rows[0] @ rows[1].T, 6)
        return cosines
