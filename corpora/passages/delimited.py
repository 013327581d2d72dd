"""CSV and TSV files as rows: quotes and newlines inside fields, huge fields, bad rows."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Iterator

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.passages.document import Document
from corpora.passages.plain_text import refuse_binary
from corpora.passages.rows import EXPECTED, TEXT, Row, documents_of_rows, name_columns
from corpora.records import Problem
from corpora.text_decoding import read_text_blocks

MAX_FIELD = 16 * 2**20
"""Characters; an unclosed quote swallows at most this much before the row is abandoned."""
MAX_LINE = 2**20
"""Longer lines go to the parser in pieces, which a quoted field puts together again."""


def read(path: str) -> Iterator[Document | Problem]:
    """Documents of a CSV or TSV file with a header line; the delimiter is found in the header."""
    refuse_binary(path)
    csv.field_size_limit(MAX_FIELD)
    lines = bounded_lines(path)
    header_line = next((line for line in lines if line.strip()), None)
    if header_line is None:
        raise DamagedFile(f"{path}: no text in it")
    delimiter = max("\t;,", key=lambda mark: (header_line.count(mark), mark == ","))
    records = csv.reader(itertools.chain([header_line], lines), delimiter=delimiter)
    try:
        header = [name.strip().lower() for name in next(records)]
    except csv.Error as error:
        raise DamagedFile(f"{path}: its header cannot be read: {error}") from error
    if not any(name in TEXT for name in header):
        raise UnsupportedFile(f"{path}: no passages: expected {EXPECTED}; found {name_columns(header)}")
    yield from documents_of_rows(path, _rows(records, header))


def _rows(records: Iterator[list[str]], header: list[str]) -> Iterator[Row]:
    number = 0
    while True:
        number += 1
        try:
            values = next(records)
        except StopIteration:
            return
        except csv.Error as error:
            yield Row(number, trouble=str(error))
            continue
        if not values:
            number -= 1  # a blank line is no row
        elif len(values) != len(header):
            yield Row(number, trouble=f"{len(values)} columns where the header has {len(header)}")
        else:
            yield Row(number, dict(zip(header, values, strict=True)))


def bounded_lines(path: str) -> Iterator[str]:
    """Lines with their ends, cut every 1 Mi characters, so that no line fills the memory."""
    return _lines(read_text_blocks(path))


def _lines(blocks: Iterable[str]) -> Iterator[str]:
    held = ""
    for block in blocks:
        *lines, held = (held + block).split("\n")
        for line in lines:
            yield line + "\n"
        while len(held) >= MAX_LINE:
            yield held[:MAX_LINE]
            held = held[MAX_LINE:]
    if held:
        yield held
