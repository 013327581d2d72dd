"""The writer's view of the tables, through LanceDB: create, add, delete, replace, rewrite.

Every call is one commit of Lance: it has happened or it has not, also when the
process is killed in the middle.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rag.errors import LibraryFull
from rag.store.error_mapping import require_columns, write_errors
from rag.store.layout import Layout

# Default row ids die when a table is compacted; these survive, and can only be switched on at creation.
STORAGE = {"new_table_enable_stable_row_ids": "true"}

DROPPED = ".dropped"


def quoted(values: Iterable[str]) -> str:
    """A SQL list of strings."""
    return "(" + ",".join("'" + value.replace("'", "''") + "'" for value in values) + ")"


def quoted_bytes(values: Iterable[bytes]) -> str:
    """A SQL list of byte strings."""
    return "(" + ",".join(f"X'{value.hex()}'" for value in values) + ")"


class Database:
    """The LanceDB tables of one library, opened for writing."""

    def __init__(self, layout: Layout) -> None:
        import lancedb

        self.layout = layout
        self._tables: dict[str, Any] = {}
        with write_errors(layout.folder):
            self._db = lancedb.connect(layout.tables, storage_options=STORAGE)

    def names(self) -> list[str]:
        """Names of the tables on disk."""
        return self.layout.table_names()

    def has(self, name: str) -> bool:
        """Whether a table exists."""
        return name in self.names()

    def create(self, name: str, schema: Any) -> None:
        """Make an empty table; one that is there already stays as it is."""
        with write_errors(self.layout.folder, name):
            table = self._db.create_table(name, schema=schema, exist_ok=True)
            require_columns(self.layout.folder, name, table.schema.names)
            self._tables[name] = table

    def drop(self, name: str) -> None:
        """By a rename first, so that a kill never leaves half a table under its name."""
        self._tables.pop(name, None)
        path = self.layout.table(name)
        with write_errors(self.layout.folder, name):
            if path.is_dir():
                path.rename(path.with_suffix(DROPPED))
            self.delete_dropped()

    def delete_dropped(self) -> None:
        """Delete the folders of tables that were dropped before."""
        with write_errors(self.layout.folder):
            for path in self.layout.tables.glob(f"*{DROPPED}"):
                shutil.rmtree(path)

    def table(self, name: str) -> Any:
        """The open table; opened at its first use."""
        if name not in self._tables:
            with write_errors(self.layout.folder, name):
                self._tables[name] = self._db.open_table(name)
                require_columns(self.layout.folder, name, self._tables[name].schema.names)
        return self._tables[name]

    def add(self, name: str, rows: Any) -> None:
        """Append the rows of an Arrow table; nothing where it has none."""
        if rows.num_rows:
            with self._written_whole(name) as table:
                table.add(rows)

    def overwrite(self, name: str, rows: Any) -> None:
        """Put `rows` in place of all rows, in one commit."""
        with self._written_whole(name) as table:
            table.add(rows, mode="overwrite")

    def upsert(self, name: str, key: str, rows: Any) -> None:
        """Put each row in place of the one with its key, in one commit."""
        with self._written_whole(name) as table:
            table.merge_insert(key).when_matched_update_all().when_not_matched_insert_all().execute(rows)

    def update(self, name: str, where: str, values: dict[str, Any]) -> None:
        """Set columns of the rows that an SQL condition selects."""
        with self._written_whole(name) as table:
            table.update(where=where, values=values)

    @contextmanager
    def _written_whole(self, name: str) -> Iterator[Any]:
        """Look at what was written: past a limit on file sizes the end of a file goes lost without a word."""
        with write_errors(self.layout.folder, name):
            table = self.table(name)
            before = table.version
            yield table
            if not self._whole(name):
                table.restore(before)
                self.refresh(name)
                raise LibraryFull(
                    f"{self.layout.folder}: a file could not be written to its end: full disk, quota or "
                    "limit on file sizes; make room and run the same command again, nothing is lost"
                )

    def _whole(self, name: str) -> bool:
        """Whether the data files of the newest fragment have the size that the table says they have."""
        fragments = self.lance(name).get_fragments()
        files = fragments[-1].metadata.files if fragments else []
        data = self.layout.table(name) / "data"
        return all(file.file_size_bytes in {None, (data / file.path).stat().st_size} for file in files)

    def delete(self, name: str, where: str) -> None:
        """Delete the rows that an SQL condition selects."""
        with write_errors(self.layout.folder, name):
            self.table(name).delete(where)

    def rows(self, name: str, columns: Sequence[str], where: str | None = None) -> Any:
        """The newest rows as an Arrow table, in no particular order."""
        with write_errors(self.layout.folder, name):
            query = self.table(name).search().select(list(columns))
            return (query.where(where) if where else query).to_arrow()

    def lance(self, name: str) -> Any:
        """The newest version as a Lance dataset, for what LanceDB does not offer."""
        import lance

        with write_errors(self.layout.folder, name):
            return lance.dataset(str(self.layout.table(name)))

    def refresh(self, name: str) -> None:
        """Take up what was committed past LanceDB."""
        self._tables.pop(name, None)
