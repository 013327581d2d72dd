"""Columns of rows that are mapped from a file: read at a few rows only, and compared with the rows' sums."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEXT_SUM = "sum"
"""Column of `row_sums`, of a table whose texts are kept, or of `clip_sums`."""


def row_sums(
    keys: list[str], starts: list[float], ends: list[float], kinds: list[str], texts: list[str]
) -> Any:
    """uint32 (n,): CRC-32 of each span."""
    rows = zip(keys, starts, ends, kinds, texts, strict=True)
    return np.fromiter((zlib.crc32("\0".join(map(str, row)).encode()) for row in rows), np.uint32, len(keys))


def clip_sums(
    keys: Iterable[bytes | memoryview], starts: NDArray[np.float64], ends: NDArray[np.float64]
) -> NDArray[np.uint32]:
    """uint32 (n,): CRC-32 of the key of each clip, and the words of its times, float64 (n,) seconds each."""
    sums = np.fromiter(map(zlib.crc32, keys), np.uint32, len(starts))
    for factor, each in ((1, starts), (5, ends)):
        words = np.ascontiguousarray(each).view(np.uint32).reshape(-1, 2)
        sums += np.uint32(factor) * (words[:, 0] + np.uint32(3) * words[:, 1])
    return sums


def mapped_column(column: Any) -> Any:
    """The one array of a column as it is in the file; `combine_chunks` may copy it."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def strings_at(column: Any, positions: NDArray[np.int64]) -> list[str]:
    """Strings of a mapped Arrow array at positions, int64 (m,). ValueError where they cannot be strings."""
    return [str(held, "utf-8") for held in bytes_at(column, positions)]


def bytes_at(column: Any, positions: NDArray[np.int64]) -> list[memoryview]:
    """As `strings_at`, of positions int64 (m,), without making strings of them.

    Arrow itself believes the offsets that it finds.
    """
    import pyarrow as pa

    _, offsets, held = column.buffers()
    found: Any = np.frombuffer(offsets, np.int64 if pa.types.is_large_string(column.type) else np.int32)
    found = found[column.offset :]
    data = memoryview(held) if held is not None else memoryview(b"")
    starts, ends = found[positions], found[positions + 1]
    if ((starts < 0) | (starts > ends) | (ends > len(data))).any():
        raise ValueError("an offset is outside its column")
    return [data[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
