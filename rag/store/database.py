"""The writer's view of the tables, through LanceDB: create, add, delete, upsert, update; and the commit.

Rows that are added wait in memory, so that those of many videos and documents are written together. Each
write makes a new version of one table, which no reader sees until `commit` names the versions of all tables
in `head.json`. What a killed or failed writer wrote behind the head is put away by the next one, which
restores the head's versions. A version that does not follow this writer's own was made by another process on
an object store: then nothing more is committed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from rag.errors import LibraryBusy, LibraryFull
from rag.store.error_mapping import require_columns, write_errors
from rag.store.head import read_head
from rag.store.layout import Layout

# Default row ids die when a table is compacted; these survive, and can only be switched on at creation.
STORAGE = {"new_table_enable_stable_row_ids": "true"}
MOST_WAITING = 64 * 2**20
"""Bytes of rows that wait in memory: a write costs 10 ms."""
OPENED_AT_ONCE = 8
"""Tables that are opened side by side."""


class Database:
    """The LanceDB tables of one library, opened for writing."""

    def __init__(self, layout: Layout, *, without: Collection[str] = ()) -> None:
        """Restore the tables of the head, which is empty for a new library.

        `without`: tables of it that cannot be opened, and are dropped. Raises `LibraryCorrupt` where another
        one cannot be opened, and as `read_head`.
        """
        import lancedb

        self.layout = layout
        self.head, self._etag = read_head(layout)
        self.meta = self.head.meta
        """What the next commit says of the library's encoders and settings."""
        self.versions = {name: at for name, at in self.head.tables.items() if name not in without}
        """The version of each table, as this writer has written it."""
        self._tables: dict[str, Any] = {}
        self._waiting: dict[str, list[Any]] = {}
        """Rows that wait for `write`, by table."""
        self._failure: BaseException | None = None
        with write_errors(layout.folder):
            self._db = lancedb.connect(layout.database, storage_options={**STORAGE, **layout.storage_options})
            if layout.is_locked:
                layout.delete_unnamed(self.versions)
        with ThreadPoolExecutor(OPENED_AT_ONCE) as pool:
            list(pool.map(self._restore, self.versions))

    def _restore(self, name: str) -> None:
        """Put away what was written to a table behind the head."""
        with write_errors(self.layout.folder, name):
            newest = self.layout.dataset(name, to_write=True)
            if newest.version != self.versions[name]:
                held = self.layout.dataset(name, self.versions[name], to_write=True)
                held.restore()
                self.versions[name] = held.version

    def commit(self) -> None:
        """Write what waits, and make it all the state of the library, in one step; nothing where nothing was
        written.

        Raises `LibraryBusy` where another process has committed since, and what made a write fail before:
        after that nothing is committed any more.
        """
        if self._failure is not None:
            raise self._failure
        self.write()
        if self.head.number and (self.head.tables, self.head.meta) == (self.versions, self.meta):
            return
        head = self.head.next(self.versions, self.meta)
        try:
            with write_errors(self.layout.folder):
                self._etag = self.layout.write_head(head.to_bytes(), self._etag)
        except BaseException as error:
            self._failure = error
            raise
        self.head = head

    @property
    def failed(self) -> bool:
        """Whether a write has failed, so that nothing is committed any more."""
        return self._failure is not None

    def names(self) -> list[str]:
        """Names of the tables, sorted."""
        return sorted(self.versions)

    def has(self, name: str) -> bool:
        """Whether a table exists."""
        return name in self.versions

    @contextmanager
    def writing(self, name: str, *steps: int) -> Iterator[None]:
        """Around each change of a table. `steps`: how many versions it makes, one of these numbers.

        A change that fails may have happened or may still happen, so nothing is committed after it. Raises
        `LibraryBusy` where another process has changed the table.
        """
        before = self.versions.get(name)
        try:
            with write_errors(self.layout.folder, name):
                self.layout.require_head(self._etag)
                yield
            if before is not None and self.versions[name] - before not in steps:
                raise LibraryBusy(
                    f"{self.layout.folder}: another process has changed table {name} meanwhile, and nothing "
                    "more was committed; run the same command again once no other process writes"
                )
        except BaseException as error:
            self._failure = error
            raise

    def create(self, name: str, schema: Any) -> None:
        """Make an empty table; one that is there already stays as it is."""
        if name in self.versions:
            return
        # What a killed writer left under that name is written over: Lance goes on counting its versions.
        with self.writing(name):
            mode = "overwrite" if self.layout.has_table(name) else "create"
            table = self._tables[name] = self._db.create_table(name, schema=schema, mode=mode)
            self.versions[name] = table.version

    def drop(self, name: str) -> None:
        """The next commit does not name it; its files go with the next cleaning."""
        for held in (self._tables, self._waiting, self.versions):
            held.pop(name, None)

    def table(self, name: str) -> Any:
        """The open table; opened at its first use."""
        if name not in self._tables:
            with write_errors(self.layout.folder, name):
                table = self._db.open_table(name)
                require_columns(self.layout.folder, name, table.schema.names)
                self._tables[name] = table
        return self._tables[name]

    @contextmanager
    def _changing(self, name: str) -> Iterator[Any]:
        self.write_table(name)
        table = self.table(name)
        with self.writing(name, 1):
            yield table
            self.versions[name] = table.version

    def add(self, name: str, rows: Any) -> None:
        """Append the rows of an Arrow table, which wait for `write`, or for more than `MOST_WAITING`."""
        if rows.num_rows:
            self._waiting.setdefault(name, []).append(rows)
            if sum(each.nbytes for held in self._waiting.values() for each in held) > MOST_WAITING:
                self.write()

    def write(self) -> None:
        """Write the rows that wait, without a commit."""
        for name in sorted(self._waiting):
            self.write_table(name)

    def write_table(self, name: str) -> None:
        """Write the rows that wait for a table, before anything else is done with it."""
        import pyarrow as pa

        if held := self._waiting.pop(name, None):
            with self._written_whole(name) as table:
                table.add(pa.concat_tables(held))

    def upsert(self, name: str, key: str, rows: Any) -> None:
        """Put each row in place of the one with its key."""
        with self._written_whole(name) as table:
            table.merge_insert(key).when_matched_update_all().when_not_matched_insert_all().execute(rows)

    @contextmanager
    def _written_whole(self, name: str) -> Iterator[Any]:
        """Look at what was written: past a limit on file sizes the end of a file goes lost without a word."""
        with self._changing(name) as table:
            yield table
            newest = self.layout.dataset(name, table.version, to_write=True)
            if self.layout.cut_file(name, newest.get_fragments()[-1:]):
                raise LibraryFull(
                    f"{self.layout.folder}: a file could not be written to its end: full disk, quota or "
                    "limit on file sizes; make room and run the same command again, nothing is lost"
                )

    def delete(self, name: str, where: str) -> None:
        """Delete the rows that an SQL condition selects."""
        with self._changing(name) as table:
            table.delete(where)

    def index(self, name: str, column: str, config: Any) -> None:
        """Make the index of a column, in place of the one before."""
        with self._changing(name) as table:
            table.create_index(column, config=config, replace=True)

    def compact(self, name: str, rows: int) -> None:
        """Merge fragments of fewer rows than that. Row ids stay."""
        dataset = self.lance(name)
        before = dataset.count_rows()
        # Ids of fragments are reserved in a version of their own.
        with self.writing(name, 0, 2):
            dataset.optimize.compact_files(target_rows_per_fragment=rows)
            dataset = self.layout.dataset(name, to_write=True)
            if dataset.count_rows() == before:
                self.versions[name] = dataset.version
            else:
                # Another process has added or deleted rows: this version follows none, so `writing` raises.
                self.versions[name] = -1
        self._tables.pop(name, None)

    def remove_fragments(self, name: str, fragments: Iterable[int]) -> None:
        """Take fragments out of a table, with all their rows, which are not read."""
        import lance

        dataset = self.lance(name)
        with self.writing(name, 1):
            change = lance.LanceOperation.Update(
                removed_fragment_ids=sorted(fragments), updated_fragments=[], new_fragments=[]
            )
            changed = lance.LanceDataset.commit(dataset, change, read_version=dataset.version, max_retries=0)
            self.versions[name] = changed.version
        self._tables.pop(name, None)

    def rows(self, name: str, columns: Sequence[str], where: str | None = None) -> Any:
        """The rows as an Arrow table, in no particular order."""
        with write_errors(self.layout.folder, name):
            return self.lance(name).to_table(columns=list(columns), filter=where)

    def lance(self, name: str) -> Any:
        """The table as a Lance dataset, for what LanceDB does not offer."""
        self.write_table(name)
        with write_errors(self.layout.folder, name):
            return self.layout.dataset(name, self.versions[name], to_write=True)
