"""Files of rows: CSV and TSV, JSON Lines (BEIR's `corpus.jsonl`) and JSON lists, Parquet.

A row with a column of text is a document. CSV and TSV files without one are tables.
"""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.formats import DocumentFormat
from corpora.passages.document import Document, complaint, read_within
from corpora.passages.plain_text import doubts, refuse_binary
from corpora.passages.rows import (
    EXPECTED,
    IDENTITY,
    LOOK_AHEAD,
    TEXT,
    TITLE,
    Row,
    Tally,
    documents_of_rows,
    name_columns,
)
from corpora.passages.spreadsheets import table_documents
from corpora.records import Problem
from corpora.text_decoding import decode, read_lines

MAX_FIELD = 16 * 2**20
"""Characters; an unclosed quote swallows at most this much before the row is abandoned."""
_WORD = re.compile(r"(?<![\w.])(?!(?:true|false|nan?|none|null|inf)\b)[^\W\d_]{2,}(?![\w.])", re.IGNORECASE)
"""A word of a table: no part of a number, a name of a file or an id."""


def read_delimited(path: str) -> Iterator[Document | Problem]:
    """Documents of a CSV or TSV file, whose delimiter is found in its first line.

    Each row where the first line names a column of text, else the whole table.
    """
    refuse_binary(path)
    csv.field_size_limit(MAX_FIELD)
    lines = read_lines(path, MAX_FIELD)
    header_line = next((line for line in lines if line.strip()), None)
    if header_line is None:
        raise DamagedFile(f"{path}: no text in it")
    delimiter = max("\t;,", key=lambda mark: (header_line.count(mark), mark == ","))
    records = csv.reader(itertools.chain([header_line], lines), delimiter=delimiter)
    try:
        first = next(records)
    except csv.Error as error:
        raise DamagedFile(f"{path}: its header cannot be read: {error}") from error
    header = [name.strip().lower() for name in first]
    if any(name in TEXT for name in header):
        yield from documents_of_rows(path, _delimited_rows(records, header))
        yield from doubts(path)
        return
    tally = Tally(path)
    cells = _cells(records, tally)
    begun = list(itertools.islice(cells, LOOK_AHEAD))
    if begun and not any(_WORD.search(cell) for row in begun for cell in row):
        raise UnsupportedFile(
            f"{path}: a table of numbers alone, left out; save it as XLSX if it is to be read"
        )
    yield from table_documents("", itertools.chain([first], begun, cells))
    if tally.bad:
        yield Problem(path, tally.reason(), "indexed the other rows")
    yield from doubts(path)


def _cells(records: Iterator[list[str]], tally: Tally) -> Iterator[list[str]]:
    for number, found in enumerate(_parsed_rows(records), start=1):
        if isinstance(found, str):
            tally.add(Row(number), found)
        else:
            yield found


def _delimited_rows(records: Iterator[list[str]], header: list[str]) -> Iterator[Row]:
    # A blank line is no row.
    for number, found in enumerate(filter(None, _parsed_rows(records)), start=1):
        if isinstance(found, str):
            yield Row(number, trouble=found)
        elif len(found) != len(header):
            yield Row(number, trouble=f"{len(found)} columns where the header has {len(header)}")
        else:
            yield Row(number, dict(zip(header, found, strict=True)))


def _parsed_rows(records: Iterator[list[str]]) -> Iterator[list[str] | str]:
    """The cells of each row, or why it has none."""
    while True:
        try:
            yield next(records)
        except StopIteration:
            return
        except csv.Error as error:
            yield str(error)


MAX_ROW = 64 * 2**20
MAX_JSON = 256 * 2**20


def read_json_lines(path: str) -> Iterator[Document | Problem]:
    """One object a line: `_id` or `id`, `title`, `text` and their other names (`corpora.passages.rows`)."""
    refuse_binary(path)
    yield from documents_of_rows(path, _json_rows(path))


def read_json(path: str) -> Iterator[Document | Problem]:
    """A `.json` file: a list of objects, or JSON Lines under another name."""
    refuse_binary(path)
    data = read_within(path, MAX_JSON, "; write it as JSON Lines (.jsonl)")
    try:
        held = json.loads(decode(data))
    except RecursionError:
        held = None
    except ValueError:
        yield from documents_of_rows(path, _json_rows(path))
        return
    if not isinstance(held, list):
        raise UnsupportedFile(f"{path}: no passages: expected a list of objects with {EXPECTED}")
    rows = (_json_row(number, value) for number, value in enumerate(held, start=1))
    yield from documents_of_rows(path, rows)


def _json_rows(path: str) -> Iterator[Row]:
    for number, line in enumerate(read_lines(path, MAX_ROW), start=1):
        if len(line) >= MAX_ROW:
            yield Row(number, trouble=f"longer than {MAX_ROW >> 20} Mi characters")
        elif line.strip():
            yield _parsed(number, line)


def _parsed(number: int, line: str) -> Row:
    try:
        return _json_row(number, json.loads(line))
    except ValueError:
        return Row(number, trouble="not valid JSON")
    except RecursionError:
        return Row(number, trouble="JSON nested too deep")


def _json_row(number: int, value: Any) -> Row:
    if not isinstance(value, dict):
        return Row(number, trouble="not a JSON object")
    return Row(number, {key.lower(): field for key, field in value.items()})


BATCH_ROWS = 256


def read_parquet(path: str) -> Iterator[Document | Problem]:
    """Documents by the text, title and id columns; no other column is read."""
    import pyarrow
    from pyarrow import parquet

    # pyarrow takes no names that are not UTF-8, so the file is opened here.
    with Path(path).open("rb") as source:
        try:
            file = parquet.ParquetFile(source)
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise DamagedFile(f"{path}: not a Parquet file that can be read: {complaint(error)}") from error
        names = {name.lower(): name for name in file.schema_arrow.names}
        if not any(name in TEXT for name in names):
            found = name_columns(file.schema_arrow.names)
            raise UnsupportedFile(f"{path}: no passages: expected {EXPECTED}; found {found}")
        wanted = [names[name] for name in (*TEXT, *TITLE, *IDENTITY) if name in names]
        yield from documents_of_rows(path, _parquet_rows(file, list(dict.fromkeys(wanted))))


def _parquet_rows(file: Any, columns: list[str]) -> Iterator[Row]:
    """Row groups are read one by one, so that a broken one costs no more than itself."""
    import pyarrow

    number = 0
    for group in range(file.metadata.num_row_groups):
        until = number + file.metadata.row_group(group).num_rows
        try:
            for batch in file.iter_batches(BATCH_ROWS, row_groups=[group], columns=columns):
                for values in batch.to_pylist():
                    number += 1
                    yield Row(number, {name.lower(): value for name, value in values.items()})
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            yield Row(number + 1, trouble=f"rows up to {until:,} cannot be read: {complaint(error)}")
        number = until


PARQUET = DocumentFormat(read_parquet, magic=b"PAR1")
