"""Numbered steps that bring a library to today's tables; append only, never edit one that was released.

The number of the last step is written after it, so a step may run twice and must bear that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rag.errors import LibraryError, LibraryNotFound, LibraryTooNew
from rag.store import schema
from rag.store.database import Database
from rag.store.error_mapping import require_tables
from rag.store.measures import measured_schemas
from rag.store.meta_table import MetaRows
from rag.store.records import SCHEMA


def first_tables(db: Database) -> None:
    """Migration 1: create the tables of files, videos, clips and problems."""
    for name, columns in schema.plain_schemas().items():
        db.create(name, columns)


def measured_tables(db: Database) -> None:
    """Migration: create the tables of measurements."""
    for name, columns in measured_schemas().items():
        db.create(name, columns)


OLDEST_READABLE = 1
"""Readers bear an older library from this schema on; a writer brings it up to date."""
MIGRATIONS: Sequence[Callable[[Database], None]] = (first_tables, measured_tables)
"""`MIGRATIONS[n]` leads from schema n to n + 1."""

if len(MIGRATIONS) != SCHEMA:
    raise AssertionError(f"SCHEMA is {SCHEMA}, and there are {len(MIGRATIONS)} migrations")


def migrate(db: Database, steps: Sequence[Callable[[Database], None]] = MIGRATIONS) -> MetaRows:
    """Apply what is missing. Raises `LibraryTooNew`, before anything is touched, for a newer library.

    Raises `LibraryCorrupt` where a table is gone; `meta` is made first, so others need it.
    """
    rows = MetaRows(0)
    held = db.names()
    if held:
        require_tables(db.layout.folder, ["meta"], held)
        rows = MetaRows.read(db.rows("meta", ["key", "value"]).to_pylist())
    refuse_newer(db.layout.folder, rows.schema, len(steps))
    for number, step in enumerate(steps[rows.schema :], rows.schema + 1):
        step(db)
        rows = replace(rows, schema=number, meta=rows.meta and replace(rows.meta, schema=number))
        db.overwrite("meta", rows.table())
    require_tables(db.layout.folder, rows.tables, db.names())
    return rows


def require_meta(db: Database) -> None:
    """Raise `LibraryNotFound` where the table `meta` is not that of a library. Writes nothing."""
    rows = MetaRows.read(db.rows("meta", ["key", "value"]).to_pylist())
    if rows.schema < 1:
        raise LibraryNotFound(
            f"{db.layout.folder}: its tables are not those of a library; "
            "name a new or empty folder with --library"
        )


def refuse_newer(folder: Path, held: int, known: int = SCHEMA) -> None:
    """Raise `LibraryTooNew` where the stored schema number is above the known one."""
    if held > known:
        raise LibraryTooNew(
            f"{folder}: written by a newer version of this program (schema {held}, this one knows {known}); "
            "upgrade it, or use another library with --library"
        )


def refuse_older(folder: Path, held: int, oldest: int = OLDEST_READABLE) -> None:
    """A reader cannot migrate: it may not write."""
    if 0 < held < oldest:
        raise LibraryError(
            f"{folder}: written by an older version of this program (schema {held}, this reads {oldest}); "
            "bring it up to date with: rag index"
        )
