"""Which sampled frames may show other text than the last one taken: those are worth a look by OCR.

Text holds still while the image behind it moves, and its strokes have a bright-to-dark edge right beside
a dark-to-bright one. So a frame is taken when such strokes are where none were at the last keyframe, or
have gone from where they were; what merely moves has none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

EDGE = 48
"""Gray levels between the pixels left and right of one, in the enlarged image: an outlined letter of 12
pixels has that, and of what moves behind it little."""
ROW_STEP = 2
"""Of so many rows one is looked at: half the cost, and the strokes of a letter go through several."""
CELL = (4, 4)
"""Rows, of those looked at, and bytes (of eight pixels) of a cell: two to four letters of a small caption."""
STROKES = 6
"""So many pixels of each sign, of 128, make a cell that may hold text: an object's outline has one sign.
Two such cells must stand side by side: a word."""
GAP_SECONDS = 2.0
"""Keyframes of an image that moves are so far apart at least; a caption shown for 2 s has one in it."""
MOVING_SECONDS = 10.0
"""Text that moves with the image is looked for so often."""
STILL_LEVELS = 16
STILL_SHARE = 0.0002
"""The image rests when less than this share of its pixels differ by `STILL_LEVELS` from the sample before:
slides do, camera footage does not."""
MOVED_SHARE = 0.005
"""Share of pixels that makes an image other than the one of `MOVING_SECONDS` ago."""
CHANGED_SHARE = 0.001
"""An image that rests is taken when so many of its pixels are others than in the keyframe: three words of a
slide, too small for strokes to be distinguished."""


@dataclass(frozen=True, slots=True)
class _Look:
    """What is kept of a frame: its green channel, small, which carries most of the brightness, and its edges
    at full size, one bit a pixel."""

    green: NDArray[np.uint8]
    rising: NDArray[np.uint8]
    falling: NDArray[np.uint8]


class KeyframePicker:
    """Looks at sampled frames in order; the first at every multiple of `reset` seconds is always taken.

    What it says of a frame depends only on the frames since the last such multiple.
    """

    def __init__(self, reset: float) -> None:
        self._reset = reset
        self._period = -math.inf
        self._taken: _Look | None = None
        self._text: NDArray[np.bool_] | None = None
        self._taken_at = -math.inf
        self._near: tuple[NDArray[np.uint8], NDArray[np.uint8]]
        self._before: _Look | None = None

    def pick(self, time: float, image: NDArray[np.uint8], large: NDArray[np.uint8]) -> bool:
        """Whether the frame, uint8 (h, w, 3) RGB, may show other text than the last keyframe, or none.

        `large`: its brightness at the size at which text is read, uint8 (height, width).
        """
        look = _look(image, large)
        period = time // self._reset
        before, taken = self._before, self._taken
        self._before = look
        if period > self._period or before is None or taken is None or taken.green.shape != look.green.shape:
            self._period = period
            self._take(time, look, None)
            return True
        rising, falling = look.rising & before.rising, look.falling & before.falling
        if self._text is None:
            # The first keyframe's own text is what of it is there at the second sample.
            self._text = _cells(rising, falling)
        waited = time - self._taken_at + 1e-6
        moving = _differing(look, before)
        rests = moving < STILL_SHARE
        if waited < GAP_SECONDS and not rests:
            return False
        moved = _differing(look, taken) >= _least_change(moving, waited)
        if not moved and not self._has_new(rising, falling) and not self._has_lost(taken, look, before):
            return False
        self._take(time, look, _cells(rising, falling))
        return True

    def _has_new(self, rising: NDArray[np.uint8], falling: NDArray[np.uint8]) -> bool:
        """Whether there are strokes where the keyframe has none."""
        return bool(_cells(rising & ~self._near[0], falling & ~self._near[1]).any())

    def _has_lost(self, taken: _Look, look: _Look, before: _Look) -> bool:
        """Whether strokes of the keyframe are in none of the last two frames."""
        if self._text is None or not self._text.any():
            return False
        gone = _cells(
            taken.rising & ~_near(look.rising | before.rising),
            taken.falling & ~_near(look.falling | before.falling),
        )
        return bool((self._text & gone).any())

    def _take(self, time: float, look: _Look, text: NDArray[np.bool_] | None) -> None:
        self._taken, self._taken_at, self._text = look, time, text
        self._near = _near(look.rising), _near(look.falling)


def _least_change(moving: float, waited: float) -> float:
    """Share of pixels that must differ from the keyframe taken `waited` seconds ago, while `moving` move."""
    if moving < STILL_SHARE:
        return CHANGED_SHARE
    return math.inf if waited < MOVING_SECONDS else MOVED_SHARE


def _look(image: NDArray[np.uint8], large: NDArray[np.uint8]) -> _Look:
    rows = large[::ROW_STEP]
    raised = np.minimum(rows, np.uint8(255 - EDGE)) + np.uint8(EDGE)
    left, right = (slice(None), slice(None, -2)), (slice(None), slice(2, None))
    rising, falling = (
        np.packbits(rows[one] > raised[other], axis=1) for one, other in ((right, left), (left, right))
    )
    return _Look(np.ascontiguousarray(image[:, :, 1]), rising, falling)


def _near(marks: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The marks and the pixels left and right of them: an edge may tremble by a pixel."""
    one, seven = np.uint8(1), np.uint8(7)
    wide: NDArray[np.uint8] = marks | (marks >> one) | (marks << one)
    wide[:, 1:] |= marks[:, :-1] << seven
    wide[:, :-1] |= marks[:, 1:] >> seven
    return wide


def _cells(rising: NDArray[np.uint8], falling: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Cells with strokes in them, enough edges of both signs, that have such a cell beside them."""
    cells = (_counts(rising) >= STROKES) & (_counts(falling) >= STROKES)
    pairs = cells[:, 1:] & cells[:, :-1]
    words = np.zeros_like(cells)
    words[:, 1:] |= pairs
    words[:, :-1] |= pairs
    return words


def _counts(marks: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Marked pixels of each cell."""
    rows, columns = CELL
    high, wide = marks.shape
    counts = np.zeros((high + -high % rows, wide + -wide % columns), np.uint8)
    np.bitwise_count(marks, out=counts[:high, :wide])
    lines: NDArray[np.uint8] = counts.reshape(-1, rows, counts.shape[1]).sum(1, dtype=np.uint8)
    return np.asarray(sum(lines[:, column::columns] for column in range(columns)), np.uint8)


def _differing(look: _Look, other: _Look) -> float:
    """Share of the pixels that differ clearly."""
    apart = np.maximum(look.green, other.green) - np.minimum(look.green, other.green)
    return int(np.count_nonzero(apart > STILL_LEVELS)) / apart.size
