"""The tables of a damaged library as they are found: what of them cannot be trusted, and what can be read."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rag.errors import LibraryCorrupt
from rag.store import schema
from rag.store.database import Database
from rag.store.earlier import earlier_version
from rag.store.error_mapping import read_errors, require_columns
from rag.store.layout import LibraryLayout
from rag.store.migrations import MetaRows
from rag.store.sums import compare_versions, covers, read_all_sums, row_files, unfinished

OWNERS = {"files": "content_id", "passages": "source_id", "problems": ""}
"""Columns of the content that a row belongs to; else `video_id`."""
KEYS = {"clips": "clip_id", "evidence": "evidence_id"}
"""Columns that begin with the video, as those of `clip_id` in tables of vectors do."""


@dataclass
class ExaminedTable:
    """A table as it was found."""

    layout: LibraryLayout
    name: str
    dataset: Any = None
    """None where it cannot be opened or trusted at all."""
    bad: list[Any] = field(default_factory=list)
    """Fragments that cannot be trusted."""
    rows: Any = None
    """Those of them that can be read, an Arrow table."""
    reverted: bool = False
    """Whether it is an earlier version, of which no row is trusted: what came after it is not known."""
    owners: set[str] | None = field(default_factory=set)
    """Of the rows of these fragments; None where they are not known."""

    @property
    def damaged(self) -> bool:
        """Whether anything is to be done."""
        return self.dataset is None or self.reverted or bool(self.bad)

    @property
    def key(self) -> str | None:
        """The column that begins with the video of a row, where it has one."""
        return "clip_id" if schema.is_clip_vectors(self.name) else KEYS.get(self.name)

    def read(self, fragments: Sequence[Any], columns: Sequence[str] | None = None) -> Any:
        """The rows of fragments, an Arrow table; None where they cannot be read."""
        try:
            with without_stderr(), read_errors(self.layout.folder, self.name):
                scanner = self.dataset.scanner(
                    columns=columns, fragments=list(fragments), use_scalar_index=False
                )
                rows = scanner.to_table()
                rows.validate(full=True)
                return rows
        except LibraryCorrupt:
            return None

    def distrust(self, fragment: Any) -> None:
        """Add a fragment to those that cannot be trusted."""
        import pyarrow as pa

        self.bad.append(fragment)
        rows = self.read([fragment])
        if rows is not None:
            self.rows = rows if self.rows is None else pa.concat_tables([self.rows, rows])
        if self.owners is not None:
            own = self._owners_in(fragment)
            self.owners = None if own is None else self.owners | own

    def _owners_in(self, fragment: Any) -> set[str] | None:
        """The contents that rows of a fragment belong to, by each column that says so; None: not known."""
        column = OWNERS.get(self.name, "video_id")
        found: set[str] = set()
        known = not column
        for each in filter(None, (column, self.key)):
            rows = self.read([fragment], [each])
            if rows is not None:
                known = True
                values = rows[each].to_pylist()
                found |= {schema.video_id_of(value) for value in values} if each == self.key else {*values}
        return found if known else None

    def all_rows(self) -> list[dict[str, Any]]:
        """The rows that can be read, in whatever fragment."""
        if self.dataset is None:
            return []
        bad = {fragment.fragment_id for fragment in self.bad}
        whole = [each for each in self.dataset.get_fragments() if each.fragment_id not in bad]
        rows = self.read(whole) if whole else None
        return [row for part in (rows, self.rows) if part is not None for row in part.to_pylist()]

    def values_of(self, column: str) -> set[str]:
        """The values of a column in the rows that can be read."""
        found: set[str] = set()
        for fragment in self.dataset.get_fragments() if self.dataset is not None else ():
            rows = self.read([fragment], [column])
            found |= set(rows[column].to_pylist()) if rows is not None else set()
        return found


def examine(db: Database, meta: MetaRows, progress: Callable[[int, int], object]) -> dict[str, ExaminedTable]:
    """All tables of a library but `meta`, by name; of one that cannot be trusted at all an earlier version,
    where there is one. `progress`: called with the bytes compared, and of how many."""
    layout, noted = db.layout, read_all_sums(db.layout)
    names = {*meta.tables, *db.names()} - {"meta"}
    tables = {name: ExaminedTable(layout, name, _open(layout, name)) for name in sorted(names)}
    datasets = {name: table.dataset for name, table in tables.items() if table.dataset is not None}
    found = compare_versions(layout, noted, datasets, budget=None, progress=progress)
    damaged = {(each.table, each.file) for each in found.damages}
    again = {each.table for each in unfinished(layout)}
    for each in found.damages:
        if each.part == "manifest" and each.table in tables:
            tables[each.table].dataset = None
    for name, table in tables.items():
        if table.dataset is None or name in again:
            table.dataset = earlier_version(layout, name)
            table.reverted = table.dataset is not None
            table.owners = None
            for fragment in table.dataset.get_fragments() if table.reverted else ():
                table.distrust(fragment)
            continue
        trusted = name in noted and covers(noted[name], table.dataset)
        for fragment in table.dataset.get_fragments():
            wrong = any((name, file) in damaged for file in row_files(fragment))
            if wrong or (not trusted and table.read([fragment]) is None):
                table.distrust(fragment)
    return tables


def _open(layout: LibraryLayout, name: str) -> Any:
    """None where a table cannot be opened."""
    try:
        with read_errors(layout.folder, name):
            dataset = layout.dataset(name)
            require_columns(layout.folder, name, dataset.schema.names)
    except LibraryCorrupt:
        return None
    return dataset


@contextmanager
def without_stderr() -> Iterator[None]:
    """Lance writes a stack trace there for what it finds in a damaged file."""
    sys.stderr.flush()
    held, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(held, 2)
        os.close(nowhere)
        os.close(held)
