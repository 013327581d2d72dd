"""Codes of unit vectors, 2 bits a dimension, all of which a question is compared with.

Each dimension, behind a rotation of fixed seed, is rounded to one of four levels: the best ones for normally
distributed numbers (Max, IRE Trans. Inf. Theory 1960), as coordinates of rotated unit vectors are about. Two
dimensions are one sub-quantizer of 16 centroids, so that FAISS compares 32 rows at once by look-ups in
registers (`IndexIVFPQFastScan`, one list, since the flat one knows no filter). Nothing is trained: a row's
code depends on the row alone.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag.store.vector_index import faiss_module, one_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEVELS = (-1.5104, -0.4528, 0.4528, 1.5104)
"""In standard deviations."""
BITS = 2
BLOCK = 32
"""Rows whose codes are interleaved."""
ROTATED_ROWS = 4096
"""Rows are rotated in blocks of this one shape: BLAS gives other last bits for another."""
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
        pairs = np.stack(np.meshgrid(LEVELS, LEVELS, indexing="ij"), axis=-1) / np.sqrt(rotated)
        faiss.copy_array_to_vector(
            np.tile(pairs.ravel(), rotated // 2).astype(np.float32), index.pq.centroids
        )
        rotation = faiss.RandomRotationMatrix(dim, rotated)
        with one_thread(faiss):
            rotation.init(SEED)
        return cls(faiss.IndexPreTransform(rotation, index))

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def add(self, rows: NDArray[np.float32], part: slice) -> None:
        """Append a part of unit rows, float32 (n, dim), where n is `ROTATED_ROWS`."""
        with one_thread(faiss_module()):
            self._index.add(self._rotation.apply(rows)[part])

    def nearest(
        self, query: NDArray[np.float32], count: int, keep: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Estimated cosine and position of about the `count` rows nearest to `query`, unit float32 (dim,).

        `keep`: bool (n,), the rows that may be proposed; None is all of them.
        """
        faiss = faiss_module()
        params = faiss.SearchParametersIVF(nprobe=1)
        if keep is not None:
            # Held by name: the parameters do not keep it alive.
            selector = faiss.IDSelectorBitmap(np.packbits(keep, bitorder="little"))
            params.sel = selector
        with one_thread(faiss):
            rotated = self._rotation.apply(query.reshape(1, -1))
            scores, found = self._index.search(rotated, min(count, len(self)), params=params)
        return scores[0][found[0] >= 0], found[0][found[0] >= 0]
