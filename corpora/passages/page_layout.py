"""A page as it is laid out, blanks between columns, into paragraphs and rows of tables.

Kind of footage      Retention         | Kind of footage | Retention |
Routine              31 days     ->    |-|-|
Use of force         7 years           | Routine | 31 days |
                                       | Use of force | 7 years |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from corpora.passages.document import tidy
from corpora.passages.tables import escaped, row
from corpora.text_decoding import without_blanks

LEAST_ROWS = 3
"""Of two lines with a gap at one place it may be chance."""
MOST_COLUMNS = 200
"""Of a table; comparing each cell with more takes too long."""
MOST_BLANK = 2
"""Lines between two rows."""
LEAST_PAGES = 3
RUNNING = 0.3
"""Of the pages, that a running head has, or a foot: chapters and even pages may have their own."""
GOING_ON = 1 / 3
"""Of the lines after a space, that begin in lower case, from which the space is within paragraphs."""
LONGEST_RUNNING = 200
"""Characters."""
PROSE_WIDTH = 30
"""Characters in each line of each of several columns, from which they are of prose and not of a table."""
TOLERANCE = 2
"""Characters by which cells of a column may miss each other, as numbers on the right do; less than a gap."""

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
        if max(len(found), len(self.columns)) > MOST_COLUMNS:
            return False
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

    def parts(self) -> list[list[dict[int, str]]]:
        """The lines of each row; empty where it is no table. Raises `ColumnsOfProse`."""
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
        return parts

    def cells(self, part: Sequence[dict[int, str]]) -> list[str]:
        """The cells of a row."""
        return [" ".join(line[at] for line in part if at in line) for at in range(len(self.columns))]


class _StreamOrder:
    """The text of a page in the order of its content stream, and how many rows have another order."""

    def __init__(self, text: str) -> None:
        self._text = without_blanks(_LEADERS.sub("   ", text))
        self._differs = 0

    def compare(self, cells: Sequence[str], lines: Sequence[Iterable[str]]) -> None:
        """A row, whose cells come one after the other, or line by line. Prose comes column by column, as
        may forms, whose cells are no parts of sentences."""
        if not self._text:
            return
        across = "".join("".join(own) for own in lines)
        if any(without_blanks(row) in self._text for row in ("".join(cells), across)):
            self._differs -= 1
        elif max(map(len, cells)) >= PROSE_WIDTH and any(map(_within_sentence, cells)):
            self._differs += 1

    def check(self) -> None:
        """Raises `ColumnsOfProse` for more rows in another order than in this one."""
        if self._differs > 0:
            raise ColumnsOfProse


def _within_sentence(text: str) -> bool:
    return text[:1].isalpha() and not text[:1].isupper()


def laid_out(page: str, stream: str = "") -> str:
    """The text of a page. `stream`: the same in the order of the content stream, if known.

    Raises `ColumnsOfProse` for a page whose lines cannot be read across.
    """
    lines = [_LEADERS.sub("   ", line.expandtabs()).rstrip() for line in page.split("\n")]
    order = _StreamOrder(stream)
    text = "\n".join(_texts(_single_spaced(lines), order))
    order.check()
    return text


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


def _single_spaced(lines: Sequence[str]) -> list[str]:
    """Without the blank lines within paragraphs: those after which a sentence goes on, and all that are as
    many as in many such places."""
    said = [at for at, line in enumerate(lines) if line]
    prose = [len(_CELL.findall(line)) == 1 for line in lines]
    going_on: dict[int, list[bool]] = {}
    for before, at in pairwise(said):
        if prose[before] and prose[at]:
            going_on.setdefault(at - before - 1, []).append(lines[at].lstrip()[0].islower())
    spaces = [
        space for space, on in going_on.items() if len(on) >= LEAST_ROWS and sum(on) >= len(on) * GOING_ON
    ]
    kept, space = list[str](), max(spaces, default=0)
    for before, at in pairwise([-1, *said]):
        within = before >= 0 and prose[before] and prose[at] and _goes_on(lines[before], lines[at].lstrip())
        kept += [""] * (0 if within else at - before - 1 - space) + [lines[at]]
    return kept


def _goes_on(before: str, after: str) -> bool:
    """Whether a sentence does, from one line or page to the next."""
    return after[:1].islower() and before[-1:] not in ".!?:" and not _MARK.match(after)


def _texts(lines: Sequence[str], order: _StreamOrder) -> Iterator[str]:
    at = 0
    while at < len(lines):
        table, last = _table(lines, at)
        if parts := table.parts():
            cells = [table.cells(part) for part in parts]
            for own, part in zip(cells, parts, strict=True):
                order.compare(own, [line.values() for line in part])
            yield from ("", *_lines_of(cells), "")
            at = last
        else:
            found = _CELL.findall(lines[at])
            if len(found) > 1:
                order.compare(found, [found])
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
