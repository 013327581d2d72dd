"""Tables of a spreadsheet or a CSV file: rows under the heads of their columns.

Values are those that the file holds, of formulas their last results. Dates and times are written by ISO 8601,
numbers with up to 15 digits; what a cell's format adds, as a currency, is not read.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING

from corpora.errors import DamagedFile, FileProblem, UnsupportedFile
from corpora.passages.document import Document, complaint, make_document
from corpora.passages.tables import escaped, row
from corpora.passages.zipped import read_xlsx_asides
from corpora.records import Problem

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

WIDEST, BAR = 400, 10
"""Characters of the heads of a group of columns, and what each counts beside its own."""
PIECE = 2**20
"""Characters of a table after which its rows go on as another document, under the same heads."""


def read(path: str) -> Iterator[Document | Problem]:
    """A document a sheet, or several of a long one; of several sheets each has its name for a title."""
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    # The library takes no names that are not UTF-8, so the file is opened here.
    with open(path, "rb") as file:
        try:
            book = CalamineWorkbook.from_filelike(file)
        except PasswordError as error:
            raise UnsupportedFile(f"{path}: locked by a password; save it without one first") from error
        except (CalamineError, OSError, ValueError) as error:
            reason = f"cannot be read: {complaint(error)}"
            raise DamagedFile(f"{path}: {reason}; save it as CSV, without cells far from others") from error
        names = book.sheet_names
        broken: list[str] = []
        some = False
        for number, name in enumerate(names):
            try:
                sheet = book.get_sheet_by_index(number)
                rows = sheet.iter_rows()
            except (CalamineError, OSError, ValueError) as error:
                broken.append(f"sheet {name!r} cannot be read: {complaint(error)}")
                continue
            title = name if len(names) > 1 else ""
            for document in table_documents(title, _filled(sheet, rows)):
                some = True
                yield document
    if broken and not some:
        raise DamagedFile(f"{path}: {'; '.join(broken)}")
    with suppress(FileProblem):
        yield from read_xlsx_asides(path)
    if broken:
        yield Problem(path, "; ".join(broken), f"indexed the other {len(names) - len(broken)} sheets")


def _filled(sheet: CalamineSheet, rows: Iterable[Sequence[object]]) -> Iterator[list[str]]:
    """Rows as text; in Excel a cell merged with those below it is in each of their rows that has others."""
    first = sheet.start[1] if sheet.start else 0  # the rows have no columns before it
    ends = {(start[0], start[1] - first): end[0] for start, end in sheet.merged_cell_ranges or ()}
    merged: dict[int, tuple[int, str]] = {}
    """By column, the last row of the newest merged cell, and its text."""
    for number, cells in enumerate(rows):
        shown = [_shown(cell) for cell in cells]
        if any(shown):
            for at, cell in enumerate(shown):
                if cell and len(cell) <= WIDEST and (number, at) in ends:
                    merged[at] = ends[number, at], cell
                elif not cell and at in merged and number <= merged[at][0]:
                    shown[at] = merged[at][1]
        yield shown


def table_documents(title: str, rows: Iterable[Sequence[str]]) -> Iterator[Document]:
    """The rows of a table as text, streamed; empty rows are left out.

    The first row of several cells names the columns, unless it begins with a number. Rows of one cell before
    it are lines of text. A table whose heads do not fit into a passage is read in groups of columns, each
    behind the first one.
    """
    before, heads, held, size = list[str](), list[str](), list[list[str]](), 0
    named = False
    for cells in filter(None, map(_trimmed, rows)):
        if heads:
            held.append(cells)
        elif len(cells) == 1:
            before.append(cells[0])
        else:
            heads, named = cells, not cells[0].lstrip("+-.,")[:1].isdigit()
            held += [cells] * (not named)
        size += sum(map(len, cells))
        if size >= PIECE:
            yield from _made(title, before, heads, held, named=named)
            before, held, size = [], [], 0
    if size:
        yield from _made(title, before, heads, held, named=named)


def _made(
    title: str, before: Sequence[str], heads: Sequence[str], rows: Sequence[Sequence[str]], *, named: bool
) -> Iterator[Document]:
    groups = []
    for first, last in pairwise(_cuts(heads)):
        lines = [_line(heads, first, last, heads=True)] * named
        groups.append([*lines, *(_line(_padded(cells, len(heads)), first, last) for cells in rows)])
    groups[0][:0] = [*before, *[""] * bool(before and heads)]
    for lines in groups:
        document = make_document(title, "\n".join(lines))
        if document is not None:
            yield document


def _cuts(heads: Sequence[str]) -> Iterator[int | None]:
    """Where groups of columns begin; None behind the last, which has all that longer rows have."""
    yield 0
    width = 0
    for at, head in enumerate(heads):
        width += len(head) + BAR
        if width > WIDEST and at > 1:
            yield at
            width = len(heads[0]) + len(head) + 2 * BAR
    yield None


def _line(cells: Sequence[str], first: int | None, last: int | None, *, heads: bool = False) -> str:
    """The cells of a group of columns behind that of the first column."""
    own = [*cells[: 1 if first else 0], *cells[first:last]]
    return row([escaped(cell) for cell in own], heads=heads)


def _padded(cells: Sequence[str], width: int) -> Sequence[str]:
    return [*cells, *[""] * (width - len(cells))]


def _trimmed(cells: Sequence[str]) -> list[str]:
    """Each cell on one line, without empty ones at the end."""
    plain = [" ".join(cell.split()) for cell in cells]
    last = max((at for at, cell in enumerate(plain, start=1) if cell), default=0)
    return plain[:last]


def _shown(cell: object) -> str:
    """A value as text."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return f"{cell:.15g}"
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    return str(cell)
