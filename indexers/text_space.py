"""What is done to sentence vectors before they are compared with images of the bundled encoder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexers.protocol import unit_rows


@dataclass(frozen=True, slots=True)
class TextSpace:
    """x -> unit((x - mean) @ matrix): raw sentence vectors share a large common part, which says nothing."""

    mean: NDArray[np.float32]
    """(d,)"""
    matrix: NDArray[np.float32]
    """(d, d), symmetric."""

    @classmethod
    def fitted(cls, vectors: NDArray[np.float32], shrinkage: float) -> TextSpace:
        """The space that whitens `vectors`, float32 (n, d): one raw sentence vector a row.

        `shrinkage`: how many times the mean eigenvalue is added to every eigenvalue.
        """
        mean = vectors.astype(np.float64).mean(axis=0)
        rest = vectors - mean
        values, axes = np.linalg.eigh(rest.T @ rest / len(rest))
        scale = 1 / np.sqrt(values + shrinkage * values.mean())
        matrix = (axes * (scale / scale.mean())) @ axes.T
        return cls(mean.astype(np.float32), matrix.astype(np.float32))

    def __call__(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Sentence vectors (n, d) into unit rows of the space, float32 (n, d)."""
        return unit_rows(np.asarray((vectors - self.mean) @ self.matrix, np.float32))
