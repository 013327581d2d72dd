"""What is wrong with the files of a library: everything that `head.json` names is read."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rag.errors import LibraryCorrupt
from rag.store.code_index import IndexDamaged, damaged, damaged_table, verify
from rag.store.error_mapping import read_errors, require_columns
from rag.store.head import read_head
from rag.store.layout import Layout, LibraryLayout, Location, open_layout
from rag.store.maintenance import index_faults, require_whole
from rag.store.schema import FULL_TEXT

SAMPLE_BYTES = 2**30
"""Bytes of rows that are read without `full`, of each table the newest."""
NAMES = {FULL_TEXT: "full text of {}"}
"""Names of the checks of indexes, by their columns; others have that of `OTHER_INDEX`."""
OTHER_INDEX = "keys of {}"

Read = Callable[[int, int], object]
"""Called with how many bytes were read, and how many will be."""


@dataclass
class Health:
    """What a check of a library's files showed."""

    faults: dict[str, str] = field(default_factory=dict)
    """By the name of the check: `table clips`, `full text of evidence`, `keys of clips`."""
    index_files: dict[str, str] = field(default_factory=dict)
    """What is wrong with the index files of each table that has some; empty where nothing is."""
    bytes: int = 0
    """Bytes of rows that were read."""
    of: int = 0
    """Bytes of all rows."""


@dataclass
class ReadTable:
    """A version of a table, as far as it can be read."""

    name: str
    dataset: Any = None
    """None where it cannot be opened."""
    fault: str = ""
    """What is wrong first; empty for nothing."""
    bad: list[Any] = field(default_factory=list)
    """Fragments that cannot be read."""


def read_tables(
    layout: LibraryLayout,
    versions: Mapping[str, int],
    *,
    budget: int | None = None,
    progress: Read = lambda *_: None,
    seen: dict[object, str] | None = None,
) -> Iterator[tuple[ReadTable, int, int]]:
    """Open these versions of tables and read their rows; with each the bytes read so far and of how many.

    `budget`: bytes that are read at most, of each table an equal part, its newest fragments; default all.
    `seen`: what was found of fragments before, which are not read again.
    """
    seen = {} if seen is None else seen
    tables = [open_table(layout, name, version) for name, version in sorted(versions.items())]
    fragments = [list(t.dataset.get_fragments()) if t.dataset is not None else [] for t in tables]
    total = sum(map(_size, (each for own in fragments for each in own)))
    done, left = 0, min(total, budget) if budget is not None else total
    for at, (table, own) in enumerate(zip(tables, fragments, strict=True)):
        share = left // (len(tables) - at)
        for fragment in reversed(own):
            if budget is not None and share <= 0:
                break
            files = (
                table.name,
                *(file.path for file in fragment.metadata.files),
                fragment.metadata.num_deletions,
            )
            if files not in seen:
                seen[files] = _unreadable(layout, table, fragment)
            if fault := seen[files]:
                table.bad.append(fragment)
                table.fault = table.fault or fault
            done, left, share = done + _size(fragment), left - _size(fragment), share - _size(fragment)
            progress(done, max(done, done + left))
        yield table, done, total


def _size(fragment: Any) -> int:
    return sum(file.file_size_bytes or 0 for file in fragment.metadata.files)


def open_table(layout: LibraryLayout, name: str, version: int) -> ReadTable:
    """A version of a table, of which no row is read yet."""
    table = ReadTable(name)
    try:
        with without_stderr(), read_errors(layout.folder, name):
            dataset = layout.dataset(name, version)
            require_columns(layout.folder, name, dataset.schema.names)
            table.dataset = dataset
            require_whole(layout, name, dataset)
    except LibraryCorrupt as error:
        table.fault = str(error)
    return table


def _unreadable(layout: LibraryLayout, table: ReadTable, fragment: Any) -> str:
    """Why the rows of a fragment cannot be read; empty where they can."""
    try:
        with without_stderr(), read_errors(layout.folder, table.name):
            if cut := layout.cut_file(table.name, [fragment]):
                raise OSError(f"data/{cut} is gone or has not the size that it was written with")
            scanner = table.dataset.scanner(fragments=[fragment], batch_size=1024, use_scalar_index=False)
            for batch in scanner.to_batches():
                batch.validate(full=True)
    except LibraryCorrupt as error:
        return str(error)
    return ""


def check_files_of(layout: LibraryLayout, *, full: bool = False, progress: Read = lambda *_: None) -> Health:
    """Open every table and index of a library, compare the sizes of all files, and read rows: `SAMPLE_BYTES`
    of them, with `full` all. Raises as `read_head`."""
    health = Health()
    head, _ = read_head(layout)
    budget = None if full else SAMPLE_BYTES
    for table, health.bytes, health.of in read_tables(layout, head.tables, budget=budget, progress=progress):
        if table.fault:
            health.faults[f"table {table.name}"] = table.fault
            continue
        for column, fault in index_faults(layout, table.name, table.dataset).items():
            health.faults[NAMES.get(column, OTHER_INDEX).format(table.name)] = fault
    if isinstance(layout, Layout):
        health.index_files = {
            path.stem: _index_fault(layout.indexes, path.stem, full=full)
            for path in sorted(layout.indexes.glob("[!.]*.json"))
        }
    return health


def _index_fault(folder: Path, table: str, *, full: bool) -> str:
    try:
        if full:
            verify(folder, table)
            return ""
        return damaged_table(folder, table)
    except IndexDamaged as error:
        return str(error)


def damaged_index(folder: Location) -> str:
    """What is wrong with the library's index files, where questions would notice it; empty for nothing."""
    indexes = open_layout(folder).indexes
    return "" if indexes is None or not indexes.is_dir() else damaged(indexes)


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
