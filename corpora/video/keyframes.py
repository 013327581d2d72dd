"""Which sampled frames look new: those are worth reading text off."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["KeyframePicker"]

GRID = (24, 32)
BLOCK_CHANGE = 12.0
"""Gray levels of 255 by which the mean of a block must differ: above coding noise, below a printed letter."""
BLOCKS = 4
"""So many of the 768 blocks make a change: half a line of text on a slide."""
MOVING_SECONDS = 5.0
"""While the picture keeps moving, a keyframe at most this often; a picture that rests is taken at once."""


class KeyframePicker:
    """Looks at sampled frames in order; the first at every multiple of `reset` seconds is always taken.

    What it says of a frame depends only on the frames since the last such multiple.
    """

    def __init__(self, reset: float) -> None:
        self._reset = reset
        self._period = -math.inf
        self._taken: NDArray[np.float32] | None = None
        self._taken_at = -math.inf
        self._before: NDArray[np.float32] | None = None

    def pick(self, time: float, image: NDArray[np.uint8]) -> bool:
        """Whether the frame, uint8 (h, w, 3), differs from the last keyframe and has come to rest."""
        blocks = _blocks(image)
        period = time // self._reset
        new = period > self._period or _differ(blocks, self._taken)
        rests = not _differ(blocks, self._before)
        taken = new and (period > self._period or rests or time - self._taken_at >= MOVING_SECONDS)
        if taken:
            self._period, self._taken, self._taken_at = period, blocks, time
        self._before = blocks
        return taken


def _blocks(image: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Mean of the green channel, which carries most of the brightness, over a grid of blocks."""
    height, width, _ = image.shape
    rows, columns = min(GRID[0], height), min(GRID[1], width)
    # Whole blocks only; the rest at the edge is less than a block.
    high, wide = height // rows, width // columns
    green = image[: rows * high, : columns * wide, 1]
    means: NDArray[np.float32] = green.reshape(rows, high, columns, wide).mean(axis=(1, 3), dtype=np.float32)
    return means


def _differ(blocks: NDArray[np.float32], other: NDArray[np.float32] | None) -> bool:
    if other is None or blocks.shape != other.shape:
        return True
    return int((np.abs(blocks - other) > BLOCK_CHANGE).sum()) >= BLOCKS
