"""What the last run saw of the file system, so that an unchanged corpus is known in milliseconds.

Everything here can be made again from the library: a cache that is missing,
damaged or of another library only costs time. Nothing heavy is imported.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from rag.errors import RagError
from rag.store.layout import Location, open_layout

FORMAT = "1"
DAMAGE = {
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_NOTADB,
}
"""Errors that say the file is not what it should be; others say that it cannot be used now."""


class CachedFile(Protocol):
    """What the scan gives: a path, and a stamp that changes with the file."""

    @property
    def path(self) -> str:
        """Absolute path."""

    @property
    def stamp(self) -> str:
        """Size and times that say whether the file changed."""


class ScanCache:
    """Path to (stamp, status). A context manager; every call swallows damage and starts again.

    It is written in a folder with a library's marker alone; elsewhere it stays empty.

    `status`: `ready:<content id>`, `problem:<reason>`, or what else the indexer likes to know.
    """

    def __init__(self, folder: Location, *, read_only: bool = False) -> None:
        """`folder`: the library's. Where the cache cannot be written, it stays empty and forgets.

        `read_only`: nothing is written, no journal either; a damaged cache, or one that another process
        is writing, reads as empty.
        """
        self._layout = open_layout(folder)
        self._path = self._layout.scan_cache
        self._read_only = read_only
        self._db: sqlite3.Connection | None = None
        self._open()

    def _open(self) -> None:
        try:
            self._db = self._connect()
        except sqlite3.DatabaseError as error:
            self._recover(error)
        except (OSError, RagError):
            return

    def _recover(self, error: sqlite3.DatabaseError) -> None:
        """Start again after damage; do without where another process is at it, or it cannot be written."""
        damaged = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in DAMAGE
        if damaged and not self._read_only:
            self._start_afresh()
        else:
            self._drop_connection()

    def _start_afresh(self) -> None:
        self._drop_connection()
        try:
            for suffix in ("", "-wal", "-shm", "-journal"):
                Path(f"{self._path}{suffix}").unlink(missing_ok=True)
            self._db = self._connect()
        except (sqlite3.DatabaseError, OSError):
            self._drop_connection()

    def _connect(self) -> sqlite3.Connection:
        if self._read_only:
            return self._connect_read_only()
        if not self._layout.has_marker():
            raise OSError(f"{self._layout.folder}: no library")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self._path, timeout=1.0, isolation_level=None)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
            db.execute(
                "CREATE TABLE IF NOT EXISTS files "
                "(path BLOB PRIMARY KEY, stamp TEXT NOT NULL, status TEXT NOT NULL) WITHOUT ROWID"
            )
            # Tables of these names may be there with other columns.
            db.execute("SELECT name, value FROM facts LIMIT 1").fetchall()
            db.execute("SELECT path, stamp, status FROM files LIMIT 1").fetchall()
        except BaseException:
            db.close()
            raise
        return db

    def _connect_read_only(self) -> sqlite3.Connection:
        """Without a lock or a journal, which both are files: so only where no journal waits."""
        if not self._layout.is_library():
            raise OSError(f"{self._layout.folder}: no library")
        for suffix in ("-wal", "-journal"):
            journal = Path(f"{self._path}{suffix}")
            if journal.exists() and journal.stat().st_size:
                raise OSError(f"{journal}: in use")
        return sqlite3.connect(
            f"{self._path.absolute().as_uri()}?immutable=1", uri=True, isolation_level=None
        )

    def _drop_connection(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    @contextmanager
    def _ignoring_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            self._recover(error)

    def entries(self) -> dict[str, tuple[str, str]]:
        """Path to (stamp, status); empty where the cache is new or was damaged."""
        found: dict[str, tuple[str, str]] = {}
        with self._ignoring_errors():
            for path, stamp, status in self._rows("SELECT path, stamp, status FROM files"):
                found[os.fsdecode(path)] = (stamp, status)
        return found

    def library_id(self) -> str:
        """Of the library that it was filled for; empty for a new cache."""
        return self._facts().get("library_id", "")

    def fingerprint(self) -> str:
        """Fingerprint of the settings that the cache was written under; empty for a new one."""
        return self._facts().get("fingerprint", "")

    def _facts(self) -> dict[str, str]:
        rows: list[tuple[str, str]] = []
        with self._ignoring_errors():
            rows = self._rows("SELECT name, value FROM facts")
        return dict(rows)

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        """Raises `sqlite3.DatabaseError` for a NULL: no row has one, but a file that was cut may read so."""
        rows = [] if self._db is None else self._db.execute(query).fetchall()
        if any(None in row for row in rows):
            error = sqlite3.DatabaseError("a value is missing")
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error
        return rows

    def changed(self, found: Iterable[CachedFile], fingerprint: str) -> list[str]:
        """Paths of `found` that are new, or whose stamp differs; all of them under other settings."""
        files = list(found)
        known = self.entries() if self.fingerprint() == fingerprint else {}
        return [file.path for file in files if known.get(file.path, ("", ""))[0] != file.stamp]

    def replace(self, library_id: str, fingerprint: str, rows: Mapping[str, tuple[str, str]]) -> None:
        """Hold exactly `rows`: path to (stamp, status)."""
        with self._ignoring_errors():
            if self._db is None:
                return
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("DELETE FROM facts")
            self._db.execute("DELETE FROM files")
            facts = {"format": FORMAT, "library_id": library_id, "fingerprint": fingerprint}
            self._db.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
            self._insert(rows)
            self._db.execute("COMMIT")

    def put(self, rows: Mapping[str, tuple[str, str]]) -> None:
        """Add or replace rows."""
        with self._ignoring_errors():
            if self._db is not None:
                self._db.execute("BEGIN IMMEDIATE")
                self._insert(rows)
                self._db.execute("COMMIT")

    def forget(self, paths: Iterable[str]) -> None:
        """Remove the entries of some paths."""
        with self._ignoring_errors():
            if self._db is not None:
                self._db.execute("BEGIN IMMEDIATE")
                self._db.executemany("DELETE FROM files WHERE path = ?", [(os.fsencode(p),) for p in paths])
                self._db.execute("COMMIT")

    def _insert(self, rows: Mapping[str, tuple[str, str]]) -> None:
        assert self._db is not None
        values = [(os.fsencode(path), stamp, status) for path, (stamp, status) in rows.items()]
        self._db.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", values)

    def close(self) -> None:
        """Close the connection."""
        self._drop_connection()

    def __enter__(self) -> ScanCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
