"""What is wrong with the files of a library: tables, their indexes, and the index files beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rag.errors import LibraryCorrupt
from rag.store.code_index import IndexDamaged, damaged_table, verify
from rag.store.error_mapping import read_errors, require_columns
from rag.store.layout import Layout, LibraryLayout
from rag.store.maintenance import index_faults
from rag.store.schema import FULL_TEXT
from rag.store.sums import (
    Compared,
    TableSums,
    compare_versions,
    covers,
    read_all_sums,
    sums_faults,
    unfinished,
)

SAMPLE_BYTES = 2**30
"""Of the content of the files, that are compared with their sums without `full`: 0.3 s of CPU."""
SAMPLE_ROWS = 2000
"""Of each table whose files have no sums, that are read without `full`."""
NAMES = {FULL_TEXT: "full text of {}"}
"""Of a check of an index, by its column; else `OTHER_INDEX`."""
OTHER_INDEX = "keys of {}"


@dataclass
class Health:
    """What a check of a library's files showed."""

    faults: dict[str, str] = field(default_factory=dict)
    """By the name of the check: `table clips`, `full text of evidence`, `keys of clips`."""
    index_files: dict[str, str] = field(default_factory=dict)
    """What is wrong with the index files of each table that has some; empty where nothing is."""
    compared: Compared = field(default_factory=lambda: Compared(0, 0, ()))
    rows_read: dict[str, bool] = field(default_factory=dict)
    """Tables whose files have no sums, and were read instead; whether all of their rows."""


def check_files_of(
    layout: LibraryLayout, *, full: bool = False, progress: Callable[[int, int], object] = lambda *_: None
) -> Health:
    """Open every table and index of a library, and compare the sizes of all files.

    Of the content `SAMPLE_BYTES` are compared with their sums, small files first, then blocks that are chosen
    at random; with `full` all. Of a table without sums `SAMPLE_ROWS` are read, with `full` all. `progress` is
    called with the bytes that were compared, and those that will be.
    """
    health = Health()
    noted, datasets = read_all_sums(layout), {}
    names = sorted({*layout.table_names(), *noted})
    manifests = compare_versions(layout, noted, {})
    for damage in (*unfinished(layout), *manifests.damages):
        health.faults[f"table {damage.table}"] = str(damage)
    for name in names:
        if f"table {name}" in health.faults:
            continue
        try:
            with read_errors(layout.folder, name):
                layout.require_whole(name)
                datasets[name] = layout.dataset(name)
                require_columns(layout.folder, name, datasets[name].schema.names)
        except LibraryCorrupt as error:
            health.faults[f"table {name}"] = str(error)
    budget = None if full else SAMPLE_BYTES
    found = compare_versions(layout, noted, datasets, budget=budget, sample=True, progress=progress)
    health.compared = found
    for damage in found.damages:
        if damage.part != "index":
            health.faults.setdefault(f"table {damage.table}", str(damage))
    for name, dataset in datasets.items():
        if not covers(noted.get(name, TableSums()), dataset):
            _read(layout, name, dataset, health, full=full)
        if f"table {name}" in health.faults:
            continue
        for column, fault in index_faults(layout, name, dataset, found.damages).items():
            health.faults[NAMES.get(column, OTHER_INDEX).format(name)] = fault
    for name, fault in sums_faults(layout).items():
        health.faults[f"sums of {name}"] = fault
    if isinstance(layout, Layout):
        health.index_files = {
            path.stem: _index_fault(layout.indexes, path.stem, full=full)
            for path in sorted(layout.indexes.glob("[!.]*.json"))
        }
    return health


def _read(layout: LibraryLayout, name: str, dataset: Any, health: Health, *, full: bool) -> None:
    limit = None if full else SAMPLE_ROWS
    try:
        with read_errors(layout.folder, name):
            for _ in dataset.scanner(batch_size=1024, limit=limit).to_batches():
                pass
            health.rows_read[name] = full or dataset.count_rows() <= SAMPLE_ROWS
    except LibraryCorrupt as error:
        health.faults.setdefault(f"table {name}", str(error))


def _index_fault(folder: Path, table: str, *, full: bool) -> str:
    try:
        if full:
            verify(folder, table)
            return ""
        return damaged_table(folder, table)
    except IndexDamaged as error:
        return str(error)
