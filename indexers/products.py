"""Products of weights with the tokens of a few texts, as fast as OpenBLAS can, with the bits of many tokens.

OpenBLAS copies both factors to where it reads them in order before it multiplies, which for a sentence takes
half as long as to multiply. Its kernels for AVX-512 leave that out for small products. So large weights are
cut: their rows into blocks that are small enough, and sums where OpenBLAS would cut them itself. Those for
AVX2 give the first and the last tokens of a product other bits than the others, so zeros take these places.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from threadpoolctl import ThreadpoolController

LANES = 16
"""Tokens that are multiplied side by side: a product of 16 takes less time than one of 9 to 15."""
LEAST = 8
"""Tokens in a product: fewer are multiplied in another way, with other bits."""
WITHOUT_COPIES = frozenset({"SkylakeX", "Cooperlake", "SapphireRapids"})
"""OpenBLAS's names of its kernels that multiply small matrices as they are."""
WITH_EDGES = frozenset({"Haswell", "Zen"})
"""Its names of its kernels for AVX2."""
EDGE = 8
"""Columns at each end of their products that have other bits. Those between have the bits of every product
whose number of columns is a multiple of this."""
SMALL = 1_000_000
"""Multiplications of a product that is small to them."""
ROWS = (512, 256, 128, 64, 32, 16)
"""Rows of weights in a block, the most that fit."""
SUMMED = 448
"""Terms of a sum that these kernels add up at a time."""


@cache
def blas() -> ThreadpoolController:
    """The loaded BLAS libraries; looking for them takes milliseconds, so it is done once."""
    from threadpoolctl import ThreadpoolController  # sets an environment variable when it is imported

    return ThreadpoolController()


@cache
def _kernels() -> frozenset[str]:
    """OpenBLAS's names of the kernels in use; empty for another BLAS."""
    return frozenset(library.get("architecture", "") for library in blas().info())


def _without_copies() -> bool:
    return not WITHOUT_COPIES.isdisjoint(_kernels())


def edge() -> int:
    """How many columns of zeros `columns` has before the tokens; 0 with kernels that need none."""
    return 0 if WITH_EDGES.isdisjoint(_kernels()) else EDGE


def filled(tokens: int) -> int:
    """Columns of a product of so many tokens: more, of zeros, where tokens keep their bits so, or where it
    takes less time."""
    if edge():
        return EDGE + -(-tokens // EDGE) * EDGE + EDGE
    lanes = -(-tokens // LANES) * LANES
    return max(LEAST, lanes if _without_copies() or lanes - tokens < LANES // 2 else tokens)


def columns(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """float32 (tokens, width) to (width, n), n as `filled`: from column `edge` on, with zeros around them."""
    found = np.zeros((rows.shape[1], filled(len(rows))), np.float32)
    found[:, edge() : edge() + len(rows)] = rows.T
    return found


def product(weight: NDArray[np.float32], x: NDArray[np.float32]) -> NDArray[np.float32]:
    """`weight @ x`, float32 (out, in) and (in, tokens) to (out, tokens): quickest for whole lanes."""
    out, tokens = len(weight), x.shape[1]
    parts = _parts(len(x))
    most = SMALL // max(1, tokens * (parts[0].stop - parts[0].start))
    rows = next((rows for rows in ROWS if rows <= most and out % rows == 0), 0)
    if tokens % LANES or not rows or not _without_copies():
        return np.asarray(weight @ x, np.float32)
    blocks = weight.reshape(-1, rows, len(x))
    sums = blocks[:, :, parts[0]] @ x[parts[0]]
    for part in parts[1:]:
        sums += blocks[:, :, part] @ x[part]
    return np.asarray(sums.reshape(out, tokens), np.float32)


@cache
def _parts(terms: int) -> list[slice]:
    """Of a sum: `SUMMED` at a time, the last of them in two halves of which the first is the longer."""
    ends = [0]
    while (rest := terms - ends[-1]) > 0:
        half = -(-rest // (2 * LANES)) * LANES
        ends.append(ends[-1] + (SUMMED if rest >= 2 * SUMMED else half if rest > SUMMED else rest))
    return list(map(slice, ends, ends[1:]))
