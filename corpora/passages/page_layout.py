"""A page as it is laid out, blanks between columns, into paragraphs and rows of tables.

Kind of footage      Retention         | Kind of footage | Retention |
Routine              31 days     ->    |-|-|
Use of force         7 years           | Routine | 31 days |
                                       | Use of force | 7 years |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from corpora.passages.tables import escaped, row

LEAST_ROWS = 3
"""Of two lines with a gap at one place it may be chance."""
MOST_BLANK = 2
"""Lines between two rows."""
LEAST_PAGES = 3
RUNNING = 0.3
"""Of the pages, that a running head has, or a foot: chapters and even pages may have their own."""
PROSE_WIDTH = 30
"""Characters in each line of each of several columns, from which they are of prose and not of a table."""
TOLERANCE = 2
"""Characters by which cells of a column may miss each other, as numbers on the right do; less than a gap."""

_CELL = re.compile(r"\S+(?: {1,2}\S+)*")
_MARK = re.compile(r"[^\w\s]|\(?(?:\d{1,3}|[a-z])[.)]")
"""Before the items of a list."""
_LEADERS = re.compile(r"(?:\s?\.){5,}")
"""Dots from an entry to the number of its page."""


class ColumnsOfProse(Exception):
    """The page is set in columns, whose lines stand beside each other and belong to different sentences."""


@dataclass
class _Table:
    """A table as its lines come."""

    columns: list[tuple[int, int]] = field(default_factory=list)
    """[start, end) of each column, in characters."""
    groups: list[list[dict[int, str]]] = field(default_factory=lambda: [[]])
    """Lines between blank ones: text by the number of its column."""

    def take(self, line: str, blank: int) -> bool:
        """Whether a line goes on with the table; `blank`: lines before it."""
        found = [(match.start(), match.end(), match[0]) for match in _CELL.finditer(line)]
        columns: list[tuple[int, int]] = list(self.columns)
        placed: dict[int, str] = {}
        for start, end, text in found:
            under = [
                at
                for at, column in enumerate(columns)
                if start < column[1] + TOLERANCE and column[0] < end + TOLERANCE
            ]
            if len(under) > 1 or (under and under[0] in placed):
                return False
            if under:
                at = under[0]
                columns[at] = min(start, columns[at][0]), max(end, columns[at][1])
            else:
                if self.columns and (blank or 0 not in placed or start < self.columns[-1][1]):
                    return False
                at = len(columns)
                columns.append((start, end))
            placed[at] = text
        goes_on = bool(self.columns) and not blank and 0 not in placed
        if blank > MOST_BLANK or (len(found) < 2 and not goes_on):
            return False
        self.columns = columns
        if blank:
            self.groups.append([])
        self.groups[-1].append(placed)
        return True

    def rows(self) -> list[list[str]]:
        """Cells of each row; empty where it is no table. Raises `ColumnsOfProse`."""
        lines = [line for group in self.groups for line in group]
        if sum(len(line) > 1 for line in lines) < LEAST_ROWS:
            return []
        texts = [[line[at] for line in lines if at in line] for at in range(len(self.columns))]
        if all(median(map(len, own)) >= PROSE_WIDTH for own in texts):
            raise ColumnsOfProse
        whole = len(self.groups) >= LEAST_ROWS
        parts: list[list[dict[int, str]]] = [*self.groups] if whole else []
        for line in [] if whole else lines:
            if 0 in line or not parts:
                parts.append([])
            parts[-1].append(line)
        return [
            [" ".join(line[at] for line in part if at in line) for at in range(len(self.columns))]
            for part in parts
        ]


def laid_out(page: str) -> str:
    """The text of a page. Raises `ColumnsOfProse` for one whose lines cannot be read across."""
    lines = [_LEADERS.sub("   ", line.expandtabs()).rstrip() for line in page.split("\n")]
    return "\n".join(_texts(lines))


def joined(pages: Sequence[str]) -> str:
    """The text of some pages in order, without the lines that open or end many of them.

    Between two pages is a blank line, unless a sentence goes on.
    """
    lines = [page.strip().split("\n") for page in pages]
    ends = [{_shape(line) for line in own[:1] + own[-1:]} for own in lines]
    often = Counter(shape for own in ends for shape in own)
    running = {shape for shape, count in often.items() if count >= max(LEAST_PAGES, len(pages) * RUNNING)}
    text = ""
    for own in lines:
        said = [at for at, line in enumerate(own) if line and _shape(line) not in running]
        page = "\n".join(own[said[0] : said[-1] + 1] if said else own)
        goes_on = page[:1].islower() and text[-1:] not in ".!?:"
        text += ("\n" if goes_on else "\n\n" if text and page else "") + page
    return text


def _shape(line: str) -> str:
    """A line whatever its numbers are, as those of pages and chapters."""
    return re.sub(r"\d+", "0", line.strip())


def _texts(lines: Sequence[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        table, last = _table(lines, at)
        if cells := table.rows():
            yield from ("", *_lines_of(cells), "")
            at = last
        else:
            yield " ".join(lines[at].split())
            at += 1


def _lines_of(cells: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows, or the items of a list, whose marks stand in a column of their own."""
    if all(_MARK.fullmatch(own[0]) for own in cells):
        yield from (" ".join(filter(None, own)) for own in cells)
        return
    heads = _has_heads(cells)
    for number, own in enumerate(cells):
        yield row([escaped(cell) for cell in own], heads=heads and not number)


def _table(lines: Sequence[str], first: int) -> tuple[_Table, int]:
    """What may be a table from a line on, and the line behind it."""
    table, last, blank = _Table(), first, 0
    for at in range(first, len(lines)):
        if not lines[at]:
            if not table.columns:
                break
            blank += 1
        elif table.take(lines[at], blank):
            last, blank = at + 1, 0
        else:
            break
    return table, last


def _has_heads(cells: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: capitals, and no figures where others have them.

    Of two columns it may as well be the first of a list: "Colour  Red".
    """
    first, *others = cells
    named = len(first) > 2 and all(cell[:1].isupper() for cell in first) and not _figured(first)
    return named and any(map(_figured, others))


def _figured(cells: Sequence[str]) -> bool:
    return any(char.isdigit() for cell in cells for char in cell)
