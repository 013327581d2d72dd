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

EDGE = 28
"""Gray levels between the pixels left and right of one: an outlined 24-pixel letter of a 720p image
has that at a short side of 224."""
CELL = (8, 16)
"""Rows and columns of a cell, in sampled pixels: about two letters of a caption."""
STROKES = 14
"""So many pixels of each sign, of 128, make a cell that may hold text: an object's outline has one sign.
Two such cells must stand side by side: a word. Of 28 captions of 2 s, 24 and 32 pixels high (of 720), laid
over seven real videos, EDGE and STROKES (28, 14) take all with 20 frames a minute; (28, 6) all with 26;
(40, 14) miss 5 with 18."""
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
    """What is kept of a frame: its green channel, which carries most of the brightness, and its edges."""

    green: NDArray[np.int16]
    rising: NDArray[np.bool_]
    falling: NDArray[np.bool_]


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
        self._before: _Look | None = None

    def pick(self, time: float, image: NDArray[np.uint8]) -> bool:
        """Whether the frame, uint8 (h, w, 3), may show other text than the last keyframe, or none."""
        look = _look(image)
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
        new = _cells(rising & ~_near(taken.rising), falling & ~_near(taken.falling))
        gone = self._text & _cells(
            taken.rising & ~_near(look.rising | before.rising),
            taken.falling & ~_near(look.falling | before.falling),
        )
        moved = _differing(look, taken) >= _least_change(moving, waited)
        if not new.any() and not gone.any() and not moved:
            return False
        self._take(time, look, _cells(rising, falling))
        return True

    def _take(self, time: float, look: _Look, text: NDArray[np.bool_] | None) -> None:
        self._taken, self._taken_at, self._text = look, time, text


def _least_change(moving: float, waited: float) -> float:
    """Share of pixels that must differ from the keyframe taken `waited` seconds ago, while `moving` move."""
    if moving < STILL_SHARE:
        return CHANGED_SHARE
    return math.inf if waited < MOVING_SECONDS else MOVED_SHARE


def _look(image: NDArray[np.uint8]) -> _Look:
    green = image[:, :, 1].astype(np.int16)
    slope = np.zeros_like(green)
    slope[:, 1:-1] = green[:, 2:] - green[:, :-2]
    return _Look(green, slope >= EDGE, slope <= -EDGE)


def _near(marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The marks and the pixels left and right of them: an edge may tremble by a pixel."""
    wide = marks.copy()
    wide[:, 1:] |= marks[:, :-1]
    wide[:, :-1] |= marks[:, 1:]
    return wide


def _cells(rising: NDArray[np.bool_], falling: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Cells with strokes in them, enough edges of both signs, that have such a cell beside them."""
    cells = (_counts(rising) >= STROKES) & (_counts(falling) >= STROKES)
    pairs = cells[:, 1:] & cells[:, :-1]
    words = np.zeros_like(cells)
    words[:, 1:] |= pairs
    words[:, :-1] |= pairs
    return words


def _counts(marks: NDArray[np.bool_]) -> NDArray[np.int64]:
    rows, columns = CELL
    high, wide = marks.shape
    padded = np.pad(marks, ((0, -high % rows), (0, -wide % columns)))
    whole = padded.reshape(padded.shape[0] // rows, rows, padded.shape[1] // columns, columns)
    counts: NDArray[np.int64] = whole.sum(axis=(1, 3))
    return counts


def _differing(look: _Look, other: _Look) -> float:
    """Share of the pixels that differ clearly."""
    return float((np.abs(look.green - other.green) > STILL_LEVELS).mean())
