"""Which sampled frames may show other text than the last one taken: those are worth a look by OCR.

Text holds still while the image behind it moves, and its strokes have a bright-to-dark edge right beside
a dark-to-bright one. So a frame is taken when such strokes are where none have been since the last keyframe;
what merely moves has none.
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
"""Only every second row is looked at: that halves the cost, and strokes of a letter cross several rows."""
CELL = (4, 4)
"""Rows, of those looked at, and bytes (of eight pixels) of a cell: two to four letters of a small caption."""
STROKES = 6
"""So many pixels of each sign, of 128, make a cell that may hold text: an object's outline has one sign."""
WORD, LINE = 2, 4
"""Cells side by side that make a word, and a line of a caption."""
GAP_SECONDS, LINE_GAP_SECONDS = 2.0, 1.0
"""Keyframes of an image that moves are so far apart at least, and one with a new line of text from the one
before: a caption that two sampled frames show has one."""
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
            self._take(time, look)
            return True
        rising, falling = look.rising & before.rising, look.falling & before.falling
        waited = time - self._taken_at + 1e-6
        moving = _differing(look, before)
        rests = moving < STILL_SHARE
        if rests or waited >= LINE_GAP_SECONDS:
            cells = WORD if rests or waited >= GAP_SECONDS else LINE
            moved = _differing(look, taken) >= _least_change(moving, waited)
            if moved or _has_word(rising & ~self._near[0], falling & ~self._near[1], cells):
                self._take(time, look)
                return True
        # What has gone is new when it comes back.
        self._near = (
            self._near[0] & _near(look.rising | before.rising),
            self._near[1] & _near(look.falling | before.falling),
        )
        return False

    def _take(self, time: float, look: _Look) -> None:
        self._taken, self._taken_at = look, time
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


def _has_word(rising: NDArray[np.uint8], falling: NDArray[np.uint8], cells: int) -> bool:
    """Whether so many cells with strokes, enough edges of both signs, stand side by side."""
    held = (_counts(rising) >= STROKES) & (_counts(falling) >= STROKES)
    if held.shape[1] < cells or not held.any():
        return False
    return bool(np.lib.stride_tricks.sliding_window_view(held, cells, axis=1).all(axis=-1).any())


def _counts(marks: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Marked pixels of each cell."""
    rows, columns = CELL
    high, wide = marks.shape
    counts = np.zeros((high + -high % rows, wide + -wide % columns), np.uint8)
    np.bitwise_count(marks, out=counts[:high, :wide])
    # By its number of rows: an image of two columns has no marks at all.
    lines: NDArray[np.uint8] = counts.reshape(len(counts) // rows, rows, counts.shape[1]).sum(
        1, dtype=np.uint8
    )
    return np.asarray(sum(lines[:, column::columns] for column in range(columns)), np.uint8)


def _differing(look: _Look, other: _Look) -> float:
    """Share of the pixels that differ clearly."""
    apart = np.maximum(look.green, other.green) - np.minimum(look.green, other.green)
    return int(np.count_nonzero(apart > STILL_LEVELS)) / apart.size
