"""What is on the screen through a clip: texts that stay or scroll, and parts that may hold others.

Text is known by its strokes, slopes of brightness up and down side by side. A part is searched again where
strokes have come; what only moves behind a text leaves its strokes as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.passages.page_layout import TextLine

SAME_STROKES = 0.85
"""Least correlation of the slopes in every piece of a text, a third as wide as it is high, that makes it
the same: half a letter, so that an 8 is no 3."""

FAINT = 24.0
"""Slopes below this, in gray levels, are paper and noise of coding, no strokes."""

CELL_ROWS, CELL_COLUMNS = 8, 16
"""Pixels of a cell at `DETECTION_SIDE`, in which strokes are counted."""
STROKES = 8
"""So many slopes up and so many down, of 128 pixels, make a cell that may hold text: half of a letter."""
DENSE_STROKES = 24
"""So many of both make a cell of letters that a first look at half of that size may miss."""
CHANGED_SLOPES = 6.0
"""Mean difference of the slopes in a cell, in gray levels, from which on it is searched again."""
MARGIN = 12
"""Pixels around a part that is searched."""
MOVED = 4
"""Pixels by which the box of a text that scrolled may differ."""

Corners = tuple[float, float, float, float]
"""Left, top, right, bottom."""
Part = tuple[int, int, int, int]
"""Columns from the first to the third number and rows from the second to the fourth, half-open."""


@dataclass(frozen=True, slots=True)
class TextBox(TextLine):
    """A piece of text in an image; the text may be empty."""

    score: float
    """Confidence in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Line:
    """A text that was recognized, and its slopes then."""

    box: TextBox
    slopes: NDArray[np.float32]

    def still_there(self, slopes: NDArray[np.float32]) -> bool:
        """Whether an image with these slopes, float32 (h, w), has this text at this place."""
        left, top, right, bottom = _pixels(_corners(self.box), slopes.shape)
        return _same(self.slopes, slopes[top:bottom, left:right])

    def moved_to(self, slopes: NDArray[np.float32], corners: Corners) -> bool:
        """Whether the text in these corners is this one: its size, its strokes; slopes float32 (h, w)."""
        import cv2

        left, top, right, bottom = _pixels(corners, slopes.shape)
        height, width = self.slopes.shape
        if abs(right - left - width) > MOVED or abs(bottom - top - height) > MOVED:
            return False
        left, top, right, bottom = clipped(
            (left - MOVED, top - MOVED, right + MOVED, bottom + MOVED), slopes.shape
        )
        # Its own edge is left out: other things may be beside it there.
        inner = self.slopes[2:-2, 2:-2]
        around = np.ascontiguousarray(slopes[top:bottom, left:right])
        if min(inner.shape) < 4 or inner.shape[0] > around.shape[0] or inner.shape[1] > around.shape[1]:
            return False
        scores = cv2.matchTemplate(around, np.ascontiguousarray(inner), cv2.TM_CCORR_NORMED)
        row, column = np.unravel_index(int(scores.argmax()), scores.shape)
        return _same(inner, around[row : row + inner.shape[0], column : column + inner.shape[1]])


class Screen:
    """What is known of a clip's image: the texts on it, and the slopes that were searched for more, zero in
    cells without strokes."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._searched: NDArray[np.float32] | None = None
        self._changed: NDArray[np.bool_] | None = None

    def add(self, box: TextBox, slopes: NDArray[np.float32]) -> None:
        """A text, in an image with these slopes, float32 (h, w)."""
        left, top, right, bottom = _pixels(_corners(box), slopes.shape)
        self.lines.append(Line(box, slopes[top:bottom, left:right].copy()))

    def update(self, slopes: NDArray[np.float32]) -> list[Part]:
        """Keep the texts that are in an image with these slopes, float32 (h, w); returns the parts that may
        hold others."""
        strokes = _stroke_cells(slopes)
        before = self._searched
        if before is None or before.shape != slopes.shape:
            self.lines, changed, before = [], strokes, np.zeros_like(slopes)
            still = np.zeros_like(strokes)
        else:
            there = [line.still_there(slopes) for line in self.lines]
            gone = [line for line, stays in zip(self.lines, there, strict=True) if not stays]
            self.lines = [line for line, stays in zip(self.lines, there, strict=True) if stays]
            changed = strokes & (_by_cells(np.abs(slopes - before)) > CHANGED_SLOPES)
            # Text that fades in changes by little at a time: such cells are compared with the image in which
            # they were searched.
            still = strokes & ~changed
            _mark(changed, [line.box for line in self.lines], False)
            _mark(changed, [line.box for line in gone], True)
            changed &= strokes
            still &= ~changed
            _mark(still, [line.box for line in self.lines], False)
        kept, empty = (_by_pixels(cells, slopes.shape) for cells in (still, ~strokes))
        self._searched = np.where(kept, before, np.where(empty, np.float32(0), slopes))
        self._changed = changed
        return merged(_components(changed), slopes.shape)

    def dense(self, slopes: NDArray[np.float32]) -> list[Part]:
        """Find parts that may hold small letters, in what `update` gave for these slopes, float32 (h, w)."""
        if self._changed is None:
            return []
        return merged(_components(self._changed & _stroke_cells(slopes, DENSE_STROKES)), slopes.shape)

    def with_neighbours(self, parts: Sequence[Part]) -> list[Part]:
        """The parts, larger by the texts that they touch, which are given up: one line may be longer now."""
        if self._searched is None or not parts:
            return []
        shape = self._searched.shape
        touched = [line for line in self.lines if meets(_corners(line.box), parts)]
        self.lines = [line for line in self.lines if not meets(_corners(line.box), parts)]
        return merged([*parts, *(around(_corners(line.box), MARGIN) for line in touched)], shape)


def bounds(points: Any, scale: float = 1.0) -> Corners:
    """The upright box around the engine's four points, float (4, 2)."""
    left, top = (float(edge) * scale for edge in points.min(axis=0))
    right, bottom = (float(edge) * scale for edge in points.max(axis=0))
    return left, top, right, bottom


def _corners(box: TextBox) -> Corners:
    return box.left, box.top, box.right, box.bottom


def _pixels(corners: Corners, shape: tuple[int, ...]) -> Part:
    return clipped(tuple(round(edge) for edge in corners), shape)


def clipped(part: tuple[int, ...], shape: tuple[int, ...]) -> Part:
    """The part inside an image of this shape, at least a pixel wide and high."""
    left, top, right, bottom = part
    left, top = min(max(0, left), shape[1] - 1), min(max(0, top), shape[0] - 1)
    return left, top, max(left + 1, min(right, shape[1])), max(top + 1, min(bottom, shape[0]))


def around(corners: Corners, margin: int) -> Part:
    """The part with so many pixels more on each side; it may reach over the image's edge."""
    left, top, right, bottom = corners
    return round(left) - margin, round(top) - margin, round(right) + margin, round(bottom) + margin


def area(part: Part) -> int:
    """Pixels of a part."""
    return (part[2] - part[0]) * (part[3] - part[1])


def meets(box: Corners, parts: Sequence[Part]) -> bool:
    """Whether a box shares a pixel with any of `parts`."""
    return any(box[0] < p[2] and p[0] < box[2] and box[1] < p[3] and p[1] < box[3] for p in parts)


def merged(parts: Sequence[Part], shape: tuple[int, ...]) -> list[Part]:
    """Parts that overlap become one; each is in the image, its sides multiples of 32 where it has room."""
    done: list[Part] = []
    waiting = sorted(_even(part, shape) for part in parts)
    while waiting:
        part = waiting.pop()
        other = next((each for each in done if meets(part, [each])), None)
        if other is None:
            done.append(part)
            continue
        done.remove(other)
        whole = (*map(min, part[:2], other[:2]), *map(max, part[2:], other[2:]))
        waiting.append(_even(whole, shape))
    return sorted(done)


def _even(part: tuple[int, ...], shape: tuple[int, ...]) -> Part:
    left, top, right, bottom = clipped(part, shape)
    wide, high = (-(-side // 32) * 32 for side in (right - left, bottom - top))
    left, top = max(0, min(left, shape[1] - wide)), max(0, min(top, shape[0] - high))
    return clipped((left, top, left + wide, top + high), shape)


def _by_cells(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean of each cell, float32 (rows, columns); a rest at the right and lower edge has its own."""
    import cv2

    high, wide = (
        -(-side // cell) * cell for side, cell in zip(values.shape, (CELL_ROWS, CELL_COLUMNS), strict=True)
    )
    whole = cv2.copyMakeBorder(
        values, 0, high - values.shape[0], 0, wide - values.shape[1], cv2.BORDER_CONSTANT, value=0
    )
    size = (wide // CELL_COLUMNS, high // CELL_ROWS)
    return np.asarray(cv2.resize(whole, size, interpolation=cv2.INTER_AREA), np.float32)


def _by_pixels(cells: NDArray[np.bool_], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """For each pixel of an image of this shape, the value of its cell."""
    whole = cells.repeat(CELL_ROWS, axis=0).repeat(CELL_COLUMNS, axis=1)
    return whole[: shape[0], : shape[1]]


def _stroke_cells(slopes: NDArray[np.float32], strokes: int = STROKES) -> NDArray[np.bool_]:
    """Cells with enough slopes of both signs: an object's outline has one sign."""
    least = strokes / (CELL_ROWS * CELL_COLUMNS) - 1e-6
    rising, falling = (_by_cells(signs.astype(np.float32)) for signs in (slopes >= FAINT, slopes <= -FAINT))
    return np.asarray((rising >= least) & (falling >= least))


def _mark(cells: NDArray[np.bool_], boxes: Sequence[TextBox], value: bool) -> None:
    for box in boxes:
        rows = slice(max(0, int(box.top) // CELL_ROWS), -(-int(box.bottom) // CELL_ROWS))
        columns = slice(max(0, int(box.left) // CELL_COLUMNS), -(-int(box.right) // CELL_COLUMNS))
        cells[rows, columns] = value


def _components(cells: NDArray[np.bool_]) -> list[Part]:
    """Parts around cells that are at most a cell apart, of two cells at least: a word."""
    import cv2

    near = cv2.dilate(cells.astype(np.uint8), np.ones((3, 5), np.uint8))
    count, labels, boxes, _ = cv2.connectedComponentsWithStats(near, connectivity=8)
    sizes = np.bincount(labels[cells], minlength=count)
    return [
        (left * CELL_COLUMNS, top * CELL_ROWS, (left + width) * CELL_COLUMNS, (top + height) * CELL_ROWS)
        for place, (left, top, width, height, _) in enumerate(boxes.tolist())
        if place and sizes[place] >= 2
    ]


def slopes_of(scaled: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Change of the green channel from left to right, float32 (h, w)."""
    green = scaled[:, :, 1].astype(np.float32)
    slopes = np.zeros_like(green)
    slopes[:, 1:-1] = green[:, 2:] - green[:, :-2]
    return slopes


def _same(old: NDArray[np.float32], new: NDArray[np.float32]) -> bool:
    """Whether the strokes are the same, piece by piece: one other letter in a long line counts."""
    if old.shape != new.shape:
        return False
    width = max(6, old.shape[0] // 3)
    for start in range(0, old.shape[1], width // 2):
        a, b = (slopes[:, start : start + width].ravel() for slopes in (old, new))
        size = float(np.sqrt((a @ a) * (b @ b)))
        faint = max(float(np.abs(a).max(initial=0.0)), float(np.abs(b).max(initial=0.0))) < FAINT
        if not faint and (size == 0.0 or float(a @ b) < SAME_STROKES * size):
            return False
    return True
