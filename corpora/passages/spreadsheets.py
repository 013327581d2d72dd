"""Tables of a spreadsheet or a CSV file: rows under the heads of their columns.

Values are those that the file holds, of formulas their last results. Dates and times are written by ISO 8601,
numbers with up to 15 digits; what a cell's format adds, as a currency, is not read.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.formats import DocumentFormat
from corpora.passages.document import Document, complaint, make_document
from corpora.passages.tables import escaped, row
from corpora.records import Problem

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
            raise DamagedFile(f"{path}: cannot be read: {complaint(error)}") from error
        names = book.sheet_names
        broken: list[str] = []
        some = False
        for number, name in enumerate(names):
            try:
                rows = book.get_sheet_by_index(number).to_python()
            except (CalamineError, OSError, ValueError) as error:
                broken.append(f"sheet {name!r} cannot be read: {complaint(error)}")
                continue
            title = name if len(names) > 1 else ""
            for document in table_documents(title, ([_shown(cell) for cell in cells] for cells in rows)):
                some = True
                yield document
    if broken and not some:
        raise DamagedFile(f"{path}: {'; '.join(broken)}")
    if broken:
        yield Problem(path, "; ".join(broken), f"indexed the other {len(names) - len(broken)} sheets")


def table_documents(title: str, rows: Iterable[Sequence[str]]) -> Iterator[Document]:
    """The rows of a table as text, streamed; empty rows are left out.

    The first row of several cells names the columns, unless it begins with a number. Rows of one cell before
    it are lines of text.
    """
    lines, heads, width, size = list[str](), "", 0, 0
    for cells in filter(None, map(_trimmed, rows)):
        line = cells[0]
        if width:
            line = row([escaped(cell) for cell in cells] + [""] * (width - len(cells)))
        elif len(cells) > 1:
            width, named = len(cells), not _is_number(cells[0])
            line = row([escaped(cell) for cell in cells], heads=named)
            heads = line if named else ""
            lines += [""] * bool(lines)
        lines.append(line)
        size += len(line)
        if size >= PIECE:
            yield from _made(title, lines)
            lines, size = [heads] * bool(heads), 0
    if size:
        yield from _made(title, lines)


def _made(title: str, lines: Iterable[str]) -> Iterator[Document]:
    document = make_document(title, "\n".join(lines))
    if document is not None:
        yield document


def _trimmed(cells: Sequence[str]) -> list[str]:
    """Each cell on one line, without empty ones at the end."""
    plain = [" ".join(cell.split()) for cell in cells]
    last = max((at for at, cell in enumerate(plain, start=1) if cell), default=0)
    return plain[:last]


def _is_number(text: str) -> bool:
    return text.lstrip("+-.,")[:1].isdigit()


def _shown(cell: object) -> str:
    """A value as text."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return f"{cell:.15g}"
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    return str(cell)


FORMAT = DocumentFormat(read)
