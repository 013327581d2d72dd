"""A file of vectors with a sum of each, of which few are read, by position."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def record_type(dim: int) -> np.dtype[Any]:
    """A row of the file: the vector, and one more than the sum of its 16-bit words."""
    return np.dtype([("vector", "<f2", (dim,)), ("sum", "<u4")])


def vector_records(vectors: NDArray[np.float16]) -> NDArray[Any]:
    """The rows, `record_type` (n,), of float16 (n, dim)."""
    records = np.empty(len(vectors), record_type(vectors.shape[1]))
    records["vector"], records["sum"] = vectors, _sums(vectors)
    return records


def _sums(vectors: NDArray[np.float16]) -> NDArray[np.uint32]:
    """uint32 (n,) of float16 (n, dim)."""
    words = np.ascontiguousarray(vectors).view(np.uint16)
    return np.asarray(words.sum(axis=1, dtype=np.uint32) + np.uint32(1), np.uint32)


def read_vectors(file: int, dim: int, positions: NDArray[np.int64]) -> NDArray[np.float16]:
    """float16 (m, dim) at positions, int64 (m,), of an open file.

    Those in the page cache first: the others are asked for at once, for from a disk each would be waited for.
    Raises OSError where it cannot be read, and ValueError where a vector is not as it was written.
    """
    found = np.empty(len(positions), record_type(dim))
    size, held = found.itemsize, found.view(np.uint8).data
    parts = [
        (held[at * size : at * size + size], start) for at, start in enumerate((positions * size).tolist())
    ]
    if hasattr(os, "RWF_NOWAIT"):
        parts = [(part, start) for part, start in parts if not _read_cached(file, part, start)]
        for _, start in parts:
            os.posix_fadvise(file, start, size, os.POSIX_FADV_WILLNEED)
    if not all(os.preadv(file, [part], start) == size for part, start in parts):
        raise ValueError("the file ends before a vector")
    if (_sums(found["vector"]) != found["sum"]).any():
        raise ValueError("a vector does not have its sum")
    vectors: NDArray[np.float16] = found["vector"]
    return vectors


def _read_cached(file: int, part: memoryview, start: int) -> bool:
    """Whether `part` could be filled without waiting for the disk."""
    try:
        return os.preadv(file, [part], start, os.RWF_NOWAIT) == len(part)
    except OSError:
        return False
