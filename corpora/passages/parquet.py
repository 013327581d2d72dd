"""Parquet files as rows, streamed by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.passages.document import Document
from corpora.passages.rows import EXPECTED, IDENTITY, TEXT, TITLE, Row, documents_of_rows, name_columns
from corpora.passages.wikihow import SEPARATE
from corpora.records import Problem

BATCH_ROWS = 256


def read(path: str) -> Iterator[Document | Problem]:
    """Documents by the text, title and id columns; no other column is read."""
    import pyarrow
    from pyarrow import parquet

    # pyarrow takes no names that are not UTF-8, so the file is opened here.
    with Path(path).open("rb") as source:
        try:
            file = parquet.ParquetFile(source)
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise DamagedFile(f"{path}: not a Parquet file that can be read: {_reason(error)}") from error
        names = {name.lower(): name for name in file.schema_arrow.names}
        if not any(name in TEXT for name in names):
            found = name_columns(file.schema_arrow.names)
            raise UnsupportedFile(f"{path}: no passages: expected {EXPECTED}; found {found}")
        wanted = [names[name] for name in (*TEXT, *TITLE, *IDENTITY, *sorted(SEPARATE)) if name in names]
        yield from documents_of_rows(path, _rows(file, list(dict.fromkeys(wanted))))


def _rows(file: Any, columns: list[str]) -> Iterator[Row]:
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
            yield Row(number + 1, trouble=f"rows up to {until:,} cannot be read: {_reason(error)}")
        number = until


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
