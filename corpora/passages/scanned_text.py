"""The text of pages, out of the pieces of text on them: of a file, or found by OCR."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, TypeVar

from corpora.passages.page_layout import PROSE_WIDTH, ColumnsOfProse, laid_out, without_running

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAST_LINES = 4
"""Fewest lines of a column, unless a sentence goes on from one of two or three to the next."""
MOST_CROSSING = 0.25
"""Share of the lines that may go across both columns, as headings do."""
MIDDLE = 0.25
"""Share of the width of a text on both sides of what may be between two columns."""
NEAR = 2.0
"""Widths of a letter up to which two lines side by side are one."""
APART = 3
"""Blanks between the cells of a row, for `laid_out`."""
PARAGRAPH = 1.25
"""Distances of lines from which one begins a paragraph."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """A piece of text on a page, a line or a part of one.

    Its edges are in pixels of an image, from the upper left corner, or in points of a page, y down.
    """

    left: float
    top: float
    right: float
    bottom: float
    text: str

    @property
    def middle(self) -> float:
        """The middle of its height."""
        return (self.top + self.bottom) / 2


LineT = TypeVar("LineT", bound=TextLine)


@dataclass(frozen=True, slots=True)
class ScannedPage:
    """A page without text, as it is shown."""

    number: int
    """From 1, as viewers count."""
    pages: int
    """How many pages the file has."""
    image: NDArray[np.uint8]
    """Gray, (h, w), upright; the long side has 2,000 pixels."""


@dataclass(frozen=True, slots=True)
class RecognizedPage:
    """What OCR gave of a scanned page."""

    number: int
    """From 1."""
    lines: tuple[TextLine, ...]
    """Those with text."""
    unread: str = ""
    """What it holds that cannot be read, as "an image that cannot be decoded"; empty where it was read."""


def page_texts(pages: Sequence[RecognizedPage]) -> list[tuple[int, str]]:
    """Number and text of each page that has any, without the lines that open or end many pages."""
    texts = without_running([page_text(page.lines) for page in pages])
    return [(page.number, text) for page, text in zip(pages, texts, strict=True) if text]


def page_text(lines: Sequence[TextLine]) -> str:
    """Columns of prose one after the other, tables by rows. `lines`: in the order of their file, if any."""
    return "\n".join(_across(part) for part in _parts(lines))


def _parts(lines: Sequence[TextLine]) -> Iterator[Sequence[TextLine]]:
    """The lines of each column in the order of reading, and those above, between and below columns."""
    columns = _columns(lines)
    if columns is None:
        yield lines
        return
    left, right, crossing = columns
    above = float("-inf")
    for line in [*sorted(crossing, key=lambda line: line.middle), None]:
        below = line.middle if line is not None else float("inf")
        for side in (left, right):
            if part := [each for each in side if above < each.middle <= below]:
                yield from _parts(part)
        if line is not None:
            yield [line]
        above = below


def _columns(lines: Sequence[TextLine]) -> tuple[list[TextLine], list[TextLine], list[TextLine]] | None:
    """Lines of the left column, of the right one, and across both; None without two columns of prose."""
    if len(lines) < LEAST_LINES:
        return None
    first, last = min(line.left for line in lines), max(line.right for line in lines)
    margin = (last - first) * MIDDLE
    edges = [line.right for line in lines if first + margin < line.right < last - margin]
    if not edges:
        return None
    ends, starts = sorted(line.right for line in lines), sorted(line.left for line in lines)
    edge = min(edges, key=lambda at: (bisect_left(starts, at) - bisect_right(ends, at), at))
    left = [line for line in lines if line.right <= edge]
    right = [line for line in lines if line.left >= edge]
    crossing = [line for line in lines if line.left < edge < line.right]
    prose = _is_prose(left) and _is_prose(right) and len(crossing) <= MOST_CROSSING * len(lines)
    return (left, right, crossing) if prose else None


def _is_prose(side: Sequence[TextLine]) -> bool:
    """Whether the lines of a column are of prose, and not the cells of a table."""
    texts = [line.text for line in sorted(side, key=lambda line: line.middle)]
    several = len(texts) >= LEAST_LINES or any(text[:1].islower() for text in texts[1:])
    return several and median(map(len, texts)) >= PROSE_WIDTH


def _across(lines: Sequence[TextLine]) -> str:
    """The text of lines that are read across."""
    if not lines:
        return ""
    letter = median((line.right - line.left) / len(line.text) for line in lines) or 1.0
    edge = min(line.left for line in lines)
    rows = rows_of(lines)
    steps = [below[0].middle - above[0].middle for above, below in pairwise(rows)]
    usual = median(steps) if steps else 0.0
    page: list[str] = []
    for row, step in zip(rows, [0.0, *steps], strict=True):
        page += [""] * (step > PARAGRAPH * usual) + [_spaced(row, edge, letter)]
    try:
        return laid_out("\n".join(page), " ".join(line.text for line in lines))
    except ColumnsOfProse:
        return "\n".join(line.text for line in lines)


def rows_of(lines: Iterable[LineT]) -> list[list[LineT]]:
    """Lines side by side together, from left to right; rows from top to bottom.

    A line belongs to a row when its middle is between top and bottom of the row's first, so that a word a
    little higher than its neighbour stays beside it.
    """
    rows: list[list[LineT]] = []
    for line in sorted(lines, key=lambda line: (line.middle, line.left)):
        if rows and rows[-1][0].top <= line.middle <= rows[-1][0].bottom:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.left) for row in rows]


def _spaced(row: Sequence[TextLine], edge: float, letter: float) -> str:
    """A row with blanks in proportion to its gaps."""
    text, end = "", edge
    for line in row:
        if text and line.left - end <= NEAR * letter:
            text += " "
        else:
            least = len(text) + APART if text else 0
            text = text.ljust(max(least, round((line.left - edge) / letter)))
        text += line.text
        end = line.right
    return text
