"""The text of pages, out of the pieces of text on them: of a file, or found by OCR.

Columns of prose are read one after the other, tables by rows:

Kind of footage      Retention         | Kind of footage | Retention |
Routine              31 days     ->    |-|-|
Use of force         7 years           | Routine | 31 days |
                                       | Use of force | 7 years |
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, TypeVar

from corpora.passages.document import tidy
from corpora.passages.tables import escaped, row

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
"""Widths of a letter up to which two pieces side by side are one cell."""
PARAGRAPH = 1.25
"""Distances of lines from which one begins a paragraph."""
LEAST_ROWS = 3
"""A table has at least so many rows: two lines may have a gap at one place by chance."""
MOST_COLUMNS = 200
"""A table has at most so many columns: comparing each cell with more takes too long."""
PROSE_WIDTH = 30
"""Characters in each line of each of several columns, from which they are of prose and not of a table."""
TOLERANCE = 2.0
"""Widths of a letter by which cells of a column may miss each other, as numbers on the right do."""
LEAST_PAGES = 3
RUNNING = 0.3
"""The least share of pages that repeat a running head or foot: chapters and even pages may have their own."""
LONGEST_RUNNING = 200
"""Characters."""

_CELL = re.compile(r"\S+(?: {1,2}\S+)*")
_MARK = re.compile(r"[^\w\s]|\(?(?:\d{1,3}|[a-z])[.)]")
"""Before the items of a list."""
_LEADERS = re.compile(r"(?:\s?\.){5,}")
"""Dots from an entry to the number of its page."""
_NUMBER = re.compile(r"(?<![\w.,])\d{1,4}(?![\w,]|\.\d)")
_COUNTED = re.compile(
    r"(?!(?:page|p|seite|s|página|pagina|side|sida|strana|strona)\b)[^\W\d_]+ \d+", re.IGNORECASE
)
"""What may count more than pages."""


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
    """Counted from 1."""
    lines: tuple[TextLine, ...]
    """Lines with text."""
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


@dataclass(frozen=True, slots=True)
class _Cell:
    """What stands together in a row."""

    left: float
    """Counted in widths of a letter, as `right` is."""
    right: float
    text: str
    order: tuple[int, ...]
    """Which pieces of the file it is made of."""


@dataclass(frozen=True, slots=True)
class _Row:
    cells: list[_Cell]
    apart: bool
    """Whether there is more space above it than between the lines of a paragraph."""

    @property
    def text(self) -> str:
        return " ".join(" ".join(cell.text.split()) for cell in self.cells)


def _across(lines: Sequence[TextLine]) -> str:
    """The text of lines that are read across."""
    if not lines:
        return ""
    letter = median((line.right - line.left) / len(line.text) for line in lines) or 1.0
    places = {id(line): place for place, line in enumerate(lines)}
    found = rows_of(lines)
    steps = [0.0, *(below[0].middle - above[0].middle for above, below in pairwise(found))]
    usual = median(steps[1:]) if len(steps) > 1 else 0.0
    rows: list[_Row] = []
    for pieces, step in zip(found, steps, strict=True):
        made = _Row(list(_cells(pieces, letter, places)), step > PARAGRAPH * usual)
        alone = rows and len(rows[-1].cells) == len(made.cells) == 1
        if alone and _goes_on(rows[-1].text, made.text):
            made = replace(made, apart=False)
        rows.append(made)
    text = _laid_out(rows)
    return "\n".join(line.text for line in lines) if text is None else text


def _cells(pieces: Sequence[TextLine], letter: float, places: dict[int, int]) -> Iterator[_Cell]:
    """The cells of a row: pieces that are near each other are one, and one with wide blanks is several."""
    held: _Cell | None = None
    for piece in pieces:
        text = _LEADERS.sub(lambda dots: " " * max(3, len(dots[0])), piece.text.expandtabs())
        wide = (piece.right - piece.left) / len(text) / letter
        for place, part in enumerate(_CELL.finditer(text)):
            left, right = (piece.left / letter + wide * end for end in part.span())
            cell = _Cell(left, right, part[0], (places[id(piece)],))
            if held is not None and not place and left - held.right <= NEAR:
                cell = _Cell(held.left, right, f"{held.text} {part[0]}", held.order + cell.order)
            elif held is not None:
                yield held
            held = cell
    if held is not None:
        yield held


@dataclass
class _Table:
    """A table as its rows of cells come."""

    columns: list[tuple[float, float]] = field(default_factory=list)
    """[left, right) of each column."""
    groups: list[list[dict[int, _Cell]]] = field(default_factory=lambda: [[]])
    """Rows between wider spaces: cells by the number of their column."""

    def take(self, row: _Row) -> bool:
        """Whether a row of cells goes on with the table."""
        blank = bool(self.columns) and row.apart
        if max(len(row.cells), len(self.columns)) > MOST_COLUMNS:
            return False
        columns, placed = list(self.columns), dict[int, _Cell]()
        for cell in row.cells:
            under = [
                at
                for at, (left, right) in enumerate(columns)
                if cell.left < right + TOLERANCE and left < cell.right + TOLERANCE
            ]
            if len(under) > 1 or (under and under[0] in placed):
                return False
            if under:
                at = under[0]
                columns[at] = min(cell.left, columns[at][0]), max(cell.right, columns[at][1])
            else:
                if self.columns and (blank or 0 not in placed or cell.left < self.columns[-1][1]):
                    return False
                at = len(columns)
                columns.append((cell.left, cell.right))
            placed[at] = cell
        if len(row.cells) < 2 and not (self.columns and not blank and 0 not in placed):
            return False
        self.columns = columns
        if blank:
            self.groups.append([])
        self.groups[-1].append(placed)
        return True

    def rows(self) -> list[list[dict[int, _Cell]]] | None:
        """The lines of each row; none where it is no table, None for columns of prose."""
        lines = [line for group in self.groups for line in group]
        if sum(len(line) > 1 for line in lines) < LEAST_ROWS:
            return []
        texts = [[line[at].text for line in lines if at in line] for at in range(len(self.columns))]
        if all(median(map(len, own)) >= PROSE_WIDTH for own in texts):
            return None
        if len(self.groups) >= LEAST_ROWS:
            return self.groups
        rows: list[list[dict[int, _Cell]]] = []
        for line in lines:
            if 0 in line or not rows:
                rows.append([])
            rows[-1].append(line)
        return rows


def _laid_out(rows: Sequence[_Row]) -> str | None:
    """Paragraphs and tables. None where the lines of columns stand beside each other and belong to different
    sentences: more rows come column by column in the file than across."""
    texts, at, differs = list[str](), 0, 0
    while at < len(rows):
        table, last = _Table(), at
        while last < len(rows) and table.take(rows[last]):
            last += 1
        lines_of = table.rows()
        if lines_of is None:
            return None
        if lines_of:
            width = range(len(table.columns))
            columns = [[[line[n] for line in lines if n in line] for n in width] for lines in lines_of]
            texts += [
                "",
                *_lines([[" ".join(c.text for c in own) for own in cells] for cells in columns]),
                "",
            ]
            differs += sum(
                _differs(cells, [list(line.values()) for line in lines])
                for cells, lines in zip(columns, lines_of, strict=True)
            )
            at = last
        else:
            if len(rows[at].cells) > 1:
                differs += _differs([[cell] for cell in rows[at].cells], [rows[at].cells])
            if rows[at].apart:
                texts.append("")
            texts.append(rows[at].text)
            at += 1
    return "\n".join(texts) if differs <= 0 else None


def _differs(cells: Sequence[Sequence[_Cell]], lines: Sequence[Sequence[_Cell]]) -> int:
    """-1 for a row whose cells come one after the other in the file, or line by line; 1 where they may be of
    columns of prose; 0 for others, as forms come whose cells are no parts of sentences."""
    for parts in (cells, lines):
        order = list(dict.fromkeys(place for part in parts for cell in part for place in cell.order))
        if order == list(range(order[0], order[0] + len(order))):
            return -1
    texts = [" ".join(cell.text for cell in own) for own in cells]
    within = any(text[:1].isalpha() and not text[:1].isupper() for text in texts)
    return int(within and max(map(len, texts)) >= PROSE_WIDTH)


def _goes_on(before: str, after: str) -> bool:
    """Whether a sentence does, from one line or page to the next."""
    return after[:1].islower() and before[-1:] not in ".!?:" and not _MARK.match(after)


def _lines(cells: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows, or the items of a list, whose marks stand in a column of their own."""
    if all(_MARK.fullmatch(own[0]) for own in cells):
        yield from (" ".join(filter(None, own)) for own in cells)
        return
    heads = _has_heads(cells)
    for number, own in enumerate(cells):
        yield row([escaped(cell) for cell in own], heads=heads and not number)


def _has_heads(cells: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: capitals, and no figures where others have them.

    Of two columns it may as well be the first of a list: "Colour  Red".
    """
    first, *others = cells
    named = len(first) > 2 and all(cell[:1].isupper() for cell in first) and not _figured(first)
    return named and any(map(_figured, others))


def _figured(cells: Sequence[str]) -> bool:
    return any(char.isdigit() for cell in cells for char in cell)


def joined(pages: Sequence[str]) -> tuple[str, list[int]]:
    """The tidy text of some pages in order, as `without_running`, and where in it each of them begins.

    Between two pages is a blank line, unless a sentence goes on.
    """
    text, places = "", list[int]()
    for page in map(tidy, without_running(pages)):
        text += "\n" if _goes_on(text, page) else "\n\n" if text and page else ""
        places.append(len(text))
        text += page
    return text, places


def without_running(pages: Sequence[str]) -> list[str]:
    """The texts of some pages in order, without the lines that open or end many of them.

    Such a line is the same but for the number of the page. One without a number stays where it comes first,
    or last at the end of a page.
    """
    lines = [page.strip().split("\n") for page in pages]
    often = Counter(shape for place, own in enumerate(lines) for shape in _ends(own, place))
    running = {shape for shape, count in often.items() if count >= max(LEAST_PAGES, len(pages) * RUNNING)}
    heads = {own[0]: place for place, own in reversed([*enumerate(lines)])}
    feet = {own[-1]: place for place, own in enumerate(lines)}
    texts: list[str] = []
    for place, own in enumerate(lines):
        said = [at for at, line in enumerate(own) if line and running.isdisjoint(_shapes(line, place))]
        first, last = (said[0], said[-1] + 1) if said else (0, len(own))
        first = 0 if own[0] in running and heads[own[0]] == place else first
        last = len(own) if own[-1] in running and feet[own[-1]] == place else last
        texts.append("\n".join(own[first:last]).strip())
    return texts


def _ends(lines: Sequence[str], place: int) -> set[str]:
    return {shape for line in {lines[0], lines[-1]} for shape in _shapes(line, place)}


def _shapes(line: str, place: int) -> set[str]:
    """A line that may open or end many pages: as it is, and with a number less that of its page.

    No row of a table, and no title of a word and a number: "Step 3", but "Page 3".
    """
    if line.startswith("| ") or len(line) > LONGEST_RUNNING:
        return set()
    shapes = {line}
    if not _COUNTED.fullmatch(line):
        for number in _NUMBER.finditer(line):
            shapes.add(f"{line[: number.start()]}\0{int(number[0]) - place}{line[number.end() :]}")
    return shapes
