"""Columns of spans that are mapped from a file: read at a few rows only, and compared with the rows' sums."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEXT_SUM = "sum"
"""Column of `row_sums`, of a table whose texts are kept."""


def row_sums(
    keys: list[str], starts: list[float], ends: list[float], kinds: list[str], texts: list[str]
) -> Any:
    """uint32 (n,): CRC-32 of each span."""
    rows = zip(keys, starts, ends, kinds, texts, strict=True)
    return np.fromiter((zlib.crc32("\0".join(map(str, row)).encode()) for row in rows), np.uint32, len(keys))


def mapped_column(column: Any) -> Any:
    """The one array of a column as it is in the file; `combine_chunks` may copy it."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def strings_at(column: Any, positions: NDArray[np.int64]) -> list[str]:
    """Strings of a mapped Arrow array at int64 (m,) positions; ValueError where its bytes cannot be strings.

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
    return [str(data[a:b], "utf-8") for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
