"""The `meta` table, and the numbered steps that migrate a library to today's tables.

Append only, never edit a step that was released. The number of the last step is written after it, so a step
may run twice and must bear that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from corpora.outputs import LIBRARY_TABLES
from rag.errors import LibraryError, LibraryNotFound, LibraryTooNew
from rag.store import schema
from rag.store.database import Database
from rag.store.error_mapping import corrupt, require_tables
from rag.store.layout import Location
from rag.store.records import SCHEMA, EncoderRef, Meta, NullScores, ScoreCalibration


@dataclass(frozen=True, slots=True)
class MetaRows:
    """The key-value rows of the table `meta`, parsed."""

    schema: int
    """Number of the last migration that was applied; 0 before the first."""
    meta: Meta | None = None
    dropping: str = ""
    """A table that a finished encoder switch has still to drop."""

    @classmethod
    def read(cls, rows: Iterable[Mapping[str, str]]) -> MetaRows:
        """Parse the rows; missing keys take their defaults."""
        values = {row["key"]: row["value"] for row in rows}
        schema = int(values.get("schema", 0))
        library = values.get("library")
        return cls(schema, _meta(library, schema) if library else None, values.get("dropping", ""))

    @property
    def tables(self) -> frozenset[str]:
        """The tables that a library with these rows has at every moment."""
        names = {*LIBRARY_TABLES} if self.schema else set()
        names |= {*schema.MEASURED_TABLES} if self.schema >= 2 else set()
        if self.meta is not None:
            names |= {*schema.FULL_TEXT_TABLES}
            names |= {schema.vectors_table(self.meta.image_encoder)} if self.meta.image_encoder else set()
        return frozenset(names)

    def table(self) -> Any:
        """The rows as an Arrow table."""
        import pyarrow as pa

        values = {"schema": str(self.schema)}
        if self.meta is not None:
            own = {k: v for k, v in asdict(self.meta).items() if k != "schema"}
            values["library"] = json.dumps({k: v for k, v in own.items() if k != "calibration" or v})
        if self.dropping:
            values["dropping"] = self.dropping
        columns = {"key": list(values), "value": list(values.values())}
        return pa.table(columns, schema=schema.arrow_schema("meta"))


def read_meta(folder: Location, rows: Iterable[Mapping[str, str]]) -> MetaRows:
    """As `MetaRows.read`. Raises `LibraryCorrupt` for values that are not those of a library."""
    try:
        return MetaRows.read(rows)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise corrupt(folder, "meta", "its values are not as they were written") from error


def _meta(value: str, schema: int) -> Meta:
    fields = json.loads(value)
    image = fields["image_encoder"]
    return Meta(
        image_encoder=None if image is None else EncoderRef(**image),
        text_encoder=EncoderRef(**fields["text_encoder"]),
        settings=fields["settings"],
        schema=schema,
        library_id=fields["library_id"],
        calibration=_calibration(fields.get("calibration")),
    )


def _calibration(fields: Mapping[str, Any] | None) -> ScoreCalibration | None:
    if fields is None:
        return None
    image, sound = (
        None if null is None else NullScores(**{name: tuple(values) for name, values in null.items()})
        for null in (fields["image"], fields["sound"])
    )
    return ScoreCalibration(fields["version"], fields["content"], tuple(fields["centre"]), image, sound)


def first_tables(db: Database) -> None:
    """Migration 1: create the tables of files, videos, clips and problems."""
    for name in LIBRARY_TABLES:
        db.create(name, schema.arrow_schema(name))


def measured_tables(db: Database) -> None:
    """Migration: create the tables of measurements."""
    for name in schema.MEASURED_TABLES:
        db.create(name, schema.arrow_schema(name))


def pages_of_passages(db: Database) -> None:
    """Migration: add the columns of pages to the table of passages, where there is one."""
    for name, columns in schema.LATER_COLUMNS.items() if db.has("passages") else ():
        for column in columns:
            db.add_column(name, schema.arrow_schema(name).field(column))


OLDEST_READABLE = 1
"""Readers bear an older library from this schema on; a writer migrates it."""
MIGRATIONS: Sequence[Callable[[Database], None]] = (first_tables, measured_tables, pages_of_passages)
"""`MIGRATIONS[n]` leads from schema n to n + 1."""

if len(MIGRATIONS) != SCHEMA:
    raise AssertionError(f"SCHEMA is {SCHEMA}, and there are {len(MIGRATIONS)} migrations")


def migrate(db: Database, steps: Sequence[Callable[[Database], None]] = MIGRATIONS) -> MetaRows:
    """Apply what is missing. Raises `LibraryTooNew`, before anything is touched, for a newer library.

    Raises `LibraryCorrupt` where a table is gone; `meta` is made first, so others need it.
    """
    rows = MetaRows(0)
    held = db.names()
    if held or db.layout.exists():
        require_tables(db.layout.folder, ["meta"], held)
        rows = read_meta(db.layout.folder, db.rows("meta", ["key", "value"]).to_pylist())
    refuse_newer(db.layout.folder, rows.schema, len(steps))
    for number, step in enumerate(steps[rows.schema :], rows.schema + 1):
        step(db)
        rows = replace(rows, schema=number, meta=rows.meta and replace(rows.meta, schema=number))
        db.replace_all("meta", "key", rows.table())
    require_tables(db.layout.folder, rows.tables, db.names())
    return rows


def require_meta(db: Database) -> None:
    """Raise `LibraryNotFound` where the table `meta` is not that of a library. Writes nothing."""
    rows = read_meta(db.layout.folder, db.rows("meta", ["key", "value"]).to_pylist())
    if rows.schema < 1:
        raise LibraryNotFound(
            f"{db.layout.folder}: its tables are not those of a library; "
            "name a new or empty folder with --library"
        )


def refuse_newer(folder: Location, held: int, known: int = SCHEMA) -> None:
    """Raise `LibraryTooNew` where the stored schema number is above the known one."""
    if held > known:
        raise LibraryTooNew(
            f"{folder}: written by a newer version of this program (schema {held}, this one knows {known}); "
            "upgrade it, or use another library with --library"
        )


def refuse_older(folder: Location, held: int, oldest: int = OLDEST_READABLE) -> None:
    """A reader cannot migrate: it may not write."""
    if 0 < held < oldest:
        raise LibraryError(
            f"{folder}: written by an older version of this program (schema {held}, this reads {oldest}); "
            "bring it up to date with: rag index FOLDER"
        )
