"""The library as text, row by row in one order, so that two libraries can be compared.

Left out is what may differ between equal libraries: row ids, versions, times of
indexing, the library's own id. Vectors are written as their bytes, floats as
the shortest text that reads back to the same number.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rag.store.error_mapping import read_errors
from rag.store.finding import require_library
from rag.store.head import read_head
from rag.store.layout import Layout, Location
from rag.store.records import PULLED
from rag.store.schema import FULL_TEXT, FULL_TEXT_TABLES, is_clip_vectors

KEYS = {
    "files": ("path",),
    "videos": ("video_id",),
    "evidence": ("evidence_id",),
    "passages": ("source_id", "passage_id"),
    "problems": ("path",),
    "shots": ("shot_id",),
    "sound_tracks": ("video_id",),
    "vectors": ("clip_id",),
}
LEFT_OUT = {
    # A path's times and a content's first path say when and where, not what.
    "files": {"mtime_ns", "ctime_ns", "stamp"},
    "videos": {"indexed_at", "path"},
    "problems": {"stamp"},
}


def dump(folder: Location) -> Iterator[str]:
    """What it is made with, without where it was pulled from, then every row of the last commit, of videos
    that are not complete too: one line of JSON each, sorted by table and key."""
    layout = require_library(folder)
    head, _ = read_head(layout)
    if head.meta is not None:
        meta = {name: value for name, value in asdict(head.meta).items() if name != "library_id"}
        meta["settings"].pop(PULLED, None)
        yield json.dumps({"table": "meta", **meta}, sort_keys=True, ensure_ascii=True)
    for name, version in sorted(head.tables.items()):
        kind = "vectors" if is_clip_vectors(name) else name
        with read_errors(layout.folder, name):
            table = layout.dataset(name, version).to_table()
            columns = [c for c in table.column_names if c not in LEFT_OUT.get(kind, set())]
            order = table.sort_by([(key, "ascending") for key in KEYS[kind]])
        for row in order.select(columns).to_batches(max_chunksize=256):
            for values in zip(*(_values(row[c], c) for c in columns), strict=True):
                plain = {"table": name, **dict(zip(columns, values, strict=True))}
                yield json.dumps(plain, sort_keys=True, ensure_ascii=True)


def _values(column: Any, name: str) -> list[Any]:
    if name in {"vector", "frames"}:
        return [None if cell.values is None else _packed(cell.values) for cell in column]
    values = column.to_pylist()
    if name == "stages":
        return [json.loads(value) for value in values]
    return [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value


def _packed(values: Any) -> str:
    while hasattr(values, "flatten") and str(values.type).startswith(("fixed_size_list", "list")):
        values = values.flatten()
    numbers = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float16)
    return base64.b85encode(numbers.tobytes()).decode()


class TableHealth(NamedTuple):
    """What maintenance has left to do in a table."""

    fragments: int
    versions: int
    unindexed: int


def table_health(folder: Path) -> dict[str, TableHealth]:
    """Of the tables that the head names."""
    layout, found = Layout(folder), {}
    for name, version in read_head(layout)[0].tables.items():
        dataset = layout.dataset(name, version)
        rows = [fragment.metadata.num_rows for fragment in dataset.get_fragments()]
        texts = [each for each in dataset.describe_indices() if each.field_names == [FULL_TEXT]]
        unindexed = sum(rows) - sum(each.num_rows_indexed for each in texts)
        unindexed = unindexed if name in FULL_TEXT_TABLES else 0
        found[name] = TableHealth(len(rows), len(dataset.versions()), unindexed)
    return found


def maintained(folder: Path) -> bool:
    """Whether nothing is left to index or to remove."""
    health = table_health(folder).values()
    return all(each.versions == 1 and not each.unindexed for each in health)
