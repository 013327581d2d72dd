"""The writer's `files` and `problems`: rows by path, held in memory until they are committed together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from corpora.records import Problem
from rag.store import schema
from rag.store.database import Database, quoted_bytes
from rag.store.records import FileRow

Row = TypeVar("Row")


class PathTable(Generic[Row]):
    """Rows by path. What was put and not yet flushed is lost with the process, which `Writer` allows for."""

    def __init__(
        self,
        db: Database,
        name: str,
        columns: list[str],
        read: Callable[[Mapping[str, Any]], Row],
        table: Callable[[Iterable[Row]], Any],
    ) -> None:
        self._db = db
        self._name = name
        self._table = table
        rows = db.rows(name, columns).to_pylist()
        self._held: dict[str, Row] = {os.fsdecode(row["path"]): read(row) for row in rows}
        self._stored = set(self._held)
        self._waiting: set[str] = set()

    def rows(self) -> dict[str, Row]:
        """Every row by path, queued changes included."""
        return dict(self._held)

    def __contains__(self, path: str) -> bool:
        return path in self._held

    def __len__(self) -> int:
        """How many rows wait for `flush`."""
        return len(self._waiting)

    def put(self, path: str, row: Row) -> None:
        """Queue a row for a path; nothing where it is equal to the stored one."""
        if self._held.get(path) != row:
            self._held[path] = row
            self._waiting.add(path)

    def forget(self, paths: Iterable[str]) -> None:
        """At once, in one commit."""
        gone = set(paths) & self._held.keys()
        self._delete(gone)
        self._waiting -= gone
        for path in gone:
            del self._held[path]

    def flush(self) -> None:
        """Write the queued rows."""
        if self._waiting:
            waiting = sorted(self._waiting)
            self._delete(self._waiting)
            self._db.add(self._name, self._table([self._held[path] for path in waiting]))
            self._stored |= self._waiting
            self._waiting = set()

    def _delete(self, paths: set[str]) -> None:
        if stored := sorted(paths & self._stored):
            self._db.delete(self._name, f"path IN {quoted_bytes(map(os.fsencode, stored))}")
            self._stored -= paths


def file_table(db: Database) -> PathTable[FileRow]:
    """The table of files by path."""
    columns = ["path", "content_id", "kind", "size", "mtime_ns", "ctime_ns", "stamp"]
    return PathTable(db, "files", columns, schema.file_of, schema.file_rows)


def problem_table(db: Database) -> PathTable[tuple[Problem, str]]:
    """The table of problems by path."""
    columns = ["path", "reason", "action", "stamp"]
    return PathTable(db, "problems", columns, schema.problem_of, schema.problem_rows)
