"""Codes of unit vectors, 2 bits a dimension, all of which a question is compared with.

Each pair of dimensions, behind a rotation of fixed seed, is rounded to one of 16 centroids: those of least
square error for two normally distributed numbers, as coordinates of rotated unit vectors are about. FAISS
compares 32 rows at once by look-ups in registers (`IndexIVFPQFastScan`, one list, since the flat one knows no
filter). Nothing is trained: a row's code depends on the row alone.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag.store.vector_index import faiss_module, one_thread, proposals

if TYPE_CHECKING:
    from numpy.typing import NDArray

RINGS = ((0.8916, 0.0), (0.9546, 60.0), (1.8662, 20.726), (1.8662, -20.726), (2.0009, 60.0))
"""Distance in standard deviations, and degrees, of the centroids of one third of a turn; one more is at 0.

A fixed point of Lloyd's algorithm (IEEE Trans. Inf. Theory 1982) on the density itself: a mean square error
of 0.1076 a dimension. With four levels for each alone (Max, 1960: 0.1175), half as many rows again, or more,
had to be ranked by their vectors for the same recall.
"""
BITS = 2
BLOCK = 32
"""Rows whose codes are interleaved."""
SEED = 1234


class VectorCodes:
    """The codes of the rows of one segment, by position."""

    def __init__(self, index: Any) -> None:
        """`index`: FAISS's, a rotation before the codes."""
        faiss = faiss_module()
        self._owner = index
        self._rotation = faiss.downcast_VectorTransform(index.chain.at(0))
        self._index = faiss.downcast_index(index.index)
        self.dim: int = self._rotation.d_in

    @classmethod
    def read(cls, path: Path) -> VectorCodes:
        """As `write` left them. Raises RuntimeError or AttributeError for another file."""
        return cls(faiss_module().read_index(os.fspath(path)))

    def write(self, path: Path) -> None:
        """Write a file. Raises OSError."""
        self._owner.ntotal = len(self)
        try:
            faiss_module().write_index(self._owner, os.fspath(path))
        except RuntimeError as error:
            raise OSError(f"{path}: cannot be written: {error}") from error

    @classmethod
    def empty(cls, dim: int) -> VectorCodes:
        """Of no rows yet."""
        faiss = faiss_module()
        # An even number.
        rotated = dim + dim % 2
        centre = faiss.IndexFlatIP(rotated)
        centre.add(np.zeros((1, rotated), np.float32))
        index = faiss.IndexIVFPQFastScan(
            centre, rotated, 1, rotated // 2, 2 * BITS, faiss.METRIC_INNER_PRODUCT, BLOCK
        )
        index.own_fields = True
        centre.this.disown()
        index.by_residual, index.is_trained = False, True
        pairs = (_centroids() / np.sqrt(rotated)).astype(np.float32)
        faiss.copy_array_to_vector(np.tile(pairs.ravel(), rotated // 2), index.pq.centroids)
        rotation = faiss.RandomRotationMatrix(dim, rotated)
        with one_thread(faiss):
            rotation.init(SEED)
        return cls(faiss.IndexPreTransform(rotation, index))

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def add(self, rows: NDArray[np.float32]) -> None:
        """Append unit rows, float32 (n, dim)."""
        with one_thread(faiss_module()):
            self._index.add(self._rotation.apply(rows))

    def nearest(
        self, query: NDArray[np.float32], count: int, keep: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        """Positions, int64 (m,), of about the `count` rows nearest to `query`, unit float32 (dim,).

        `keep`: bool (n,), the rows that may be proposed; None is all of them.
        """
        params = faiss_module().SearchParametersIVF(nprobe=1)
        return proposals(self._index, params, self._rotation.apply(query.reshape(1, -1)), count, keep)


def _centroids() -> NDArray[np.float64]:
    """(16, 2) in standard deviations, of as few decimals as `RINGS`: a sine may differ in its last bit."""
    distance, degrees = np.array(RINGS).T
    angles = np.radians(degrees + np.array([[0.0], [120.0], [240.0]]))
    turned = np.stack([distance * np.cos(angles), distance * np.sin(angles)], axis=-1)
    return np.concatenate([np.zeros((1, 2)), turned.reshape(-1, 2)]).round(4)
