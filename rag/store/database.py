"""The writer's view of the tables, through LanceDB: create, add, delete, replace, rewrite.

Every call is one commit of Lance: it has happened or it has not, also when the
process is killed in the middle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from rag.errors import LibraryBusy, LibraryFull, RagError
from rag.store.error_mapping import require_columns, write_errors
from rag.store.lance_module import lance_module
from rag.store.layout import LibraryLayout
from rag.store.lease import Lease
from rag.store.lock import WriterLock

# Default row ids die when a table is compacted; these survive, and can only be switched on at creation.
STORAGE = {"new_table_enable_stable_row_ids": "true"}
FENCED_AT_ONCE = 8
"""Tables."""
FENCE_ATTEMPTS = 5
"""Another writer has one commit under way."""


def quoted(values: Iterable[str]) -> str:
    """A SQL list of strings."""
    return "(" + ",".join("'" + value.replace("'", "''") + "'" for value in values) + ")"


def quoted_bytes(values: Iterable[bytes]) -> str:
    """A SQL list of byte strings."""
    return "(" + ",".join(f"X'{value.hex()}'" for value in values) + ")"


class Database:
    """The LanceDB tables of one library, opened for writing."""

    def __init__(self, layout: LibraryLayout, lock: WriterLock | Lease | None = None) -> None:
        """`lock`: held, and looked at before each commit; that of an earlier writer may still be under way.

        Raises as `commit`.
        """
        lance_module()
        import lancedb

        self.layout = layout
        self._lock = lock
        self._tables: dict[str, Any] = {}
        if lock is not None and lock.unsettled:
            with ThreadPoolExecutor(FENCED_AT_ONCE) as pool:
                list(pool.map(self._fence, layout.table_names()))
            lock.unsettled = False
        with write_errors(layout.folder):
            self._db = lancedb.connect(layout.database, storage_options={**STORAGE, **layout.storage_options})
        self._names: set[str] | None = None

    def names(self) -> list[str]:
        """Names of the tables, sorted; looked up once, for no other writer makes or drops any."""
        if self._names is None:
            self._names = set(self.layout.table_names())
        return sorted(self._names)

    def has(self, name: str) -> bool:
        """Whether a table exists."""
        return name in self.names()

    def _fence(self, name: str) -> None:
        """Commit the newest version once more, as a restored one: what another writer began before and has
        not committed yet is then refused, where Lance would put it after any other commit."""
        import lance

        dataset = self.lance(name)
        newest = restored = dataset.version
        for attempt in range(FENCE_ATTEMPTS):
            try:
                with self.commit(name):
                    operation = lance.LanceOperation.Restore(restored)
                    dataset = lance.LanceDataset.commit(dataset, operation, newest, max_retries=0)
            except LibraryBusy:
                if attempt + 1 == FENCE_ATTEMPTS:
                    raise
                dataset = self.lance(name)
                newest = restored = dataset.version
                continue
            if dataset.version == newest + 1:
                return
            # What was committed in between stays, too.
            newest, restored = dataset.version, dataset.version - 1

    @contextmanager
    def commit(self, name: str) -> Iterator[None]:
        """Around each change of a table, in a version that was opened before: the lock was held then, so no
        change is put after what another writer has committed since. Raises `LibraryBusy` where one has."""
        lock = self._lock
        if lock is not None:
            lock.require()
        try:
            with write_errors(self.layout.folder, name):
                yield
        except BaseException as error:
            if lock is not None:
                lock.unsettled = True  # it may still arrive
                if isinstance(error, RagError):
                    lock.require()
            raise

    def create(self, name: str, schema: Any, rows: Any = None) -> None:
        """Make an empty table, or one of `rows`; one that is there already stays as it is."""
        with self.commit(name):
            table = self._db.create_table(name, rows, schema=schema, exist_ok=True)
            require_columns(self.layout.folder, name, table.schema.names)
            self._tables[name] = table
        self._names = {*self.names(), name}

    def drop(self, name: str) -> None:
        """A kill never leaves half a table under its name."""
        self._tables.pop(name, None)
        with self.commit(name):
            self.layout.drop(name)
        self._names = {*self.names()} - {name}

    def delete_dropped(self) -> None:
        """Delete what is left of tables that were dropped before."""
        with self.commit(""):
            self.layout.delete_dropped()

    def table(self, name: str) -> Any:
        """The open table; opened at its first use."""
        if name not in self._tables:
            with write_errors(self.layout.folder, name):
                self._tables[name] = self._db.open_table(name)
                require_columns(self.layout.folder, name, self._tables[name].schema.names)
        return self._tables[name]

    def add_column(self, name: str, field: Any) -> None:
        """Add a column of nulls, an Arrow field, at the end; one that is there already stays as it is."""
        table = self.table(name)
        if field.name not in table.schema.names:
            with self.commit(name):
                table.add_columns(field)

    def add(self, name: str, rows: Any) -> None:
        """Append the rows of an Arrow table; nothing where it has none."""
        if rows.num_rows:
            with self._written_whole(name) as table:
                table.add(rows)

    def replace_all(self, name: str, key: str, rows: Any) -> None:
        """Put `rows`, each with another key, in place of all rows, in one commit.

        By their keys: Lance never refuses an overwrite for what others have committed.
        """
        with self._written_whole(name) as table:
            merge = table.merge_insert(key).when_matched_update_all().when_not_matched_insert_all()
            merge.when_not_matched_by_source_delete().execute(rows)

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
        table = self.table(name)
        with self.commit(name):
            before = table.version
            yield table
            if not self.layout.is_whole(name):
                table.restore(before)
                self.refresh(name)
                raise LibraryFull(
                    f"{self.layout.folder}: a file could not be written to its end: full disk, quota or "
                    "limit on file sizes; make room and run the same command again, nothing is lost"
                )

    def delete(self, name: str, where: str) -> None:
        """Delete the rows that an SQL condition selects."""
        table = self.table(name)
        with self.commit(name):
            table.delete(where)

    def rows(self, name: str, columns: Sequence[str], where: str | None = None) -> Any:
        """The newest rows as an Arrow table, in no particular order."""
        with write_errors(self.layout.folder, name):
            return self.layout.dataset(name, to_write=True).to_table(columns=list(columns), filter=where)

    def lance(self, name: str) -> Any:
        """The newest version as a Lance dataset, for what LanceDB does not offer."""
        with write_errors(self.layout.folder, name):
            return self.layout.dataset(name, to_write=True)

    def refresh(self, name: str) -> None:
        """Take up what was committed past LanceDB."""
        self._tables.pop(name, None)
