"""The health of the tables: full-text indexes, compaction, removal of old versions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from rag.errors import LibraryCorrupt
from rag.settings import EXACT_ROWS
from rag.store.code_index import (
    IndexDamaged,
    SegmentFiles,
    index_rows,
    manifest_path,
    read_manifest,
    remove_unnamed,
)
from rag.store.database import Database
from rag.store.error_mapping import corrupt, read_errors, write_errors
from rag.store.fulltext import TOKENIZER, probe
from rag.store.layout import Layout
from rag.store.schema import (
    FULL_TEXT,
    FULL_TEXT_TABLES,
    VectorColumns,
    is_clip_vectors,
    quoted,
    vector_columns,
)
from rag.store.vector_codes import BITS

DUE_FRAGMENTS = 64
"""While indexing goes on, tables are compacted when one of them has so many small fragments."""
INDEXED_KEYS = {"evidence": ("video_id",), "clips": ("video_id",), "passages": ("source_id", "passage_id")}
"""Columns by which rows of large tables are read; tables of clip vectors are read by `video_id`."""
GONE_SHARE = 0.2
"""Share of an index's rows that are gone from the table, above which it is made again."""
LATER_SHARE = 0.005
LATER_ROWS = 2048
"""Rows that an index lacks are searched exactly beside it, up to so many and up to that share of its own."""


COLUMN_BYTES = 256
"""Of a row in an index beside its code, about, with the text of a span."""


def fragment_rows(name: str) -> int:
    """Rows of a full fragment: few where a row is a matrix of 61 KB, for compaction copies the last one.

    With 1,000 fragments, of 1.2 million clips, opening a table takes 5.5 ms of CPU and a commit 13 ms.
    """
    return 1200 if name.startswith("vectors_") else 1_000_000


def maintain(db: Database, exact_rows: int = EXACT_ROWS) -> list[str]:
    """Compact, build the indexes, commit, clean: in this order, so that an index outlives its building.

    `exact_rows`: tables of vectors with more rows get index files. Returns lines as `update_index_files`.
    """
    for name in db.names():
        compact(db, name)
        if name in INDEXED_KEYS or is_clip_vectors(name):
            index_keys(db, name, exact_rows)
        if name in FULL_TEXT_TABLES:
            index_text(db, name)
    db.commit()
    # Of what is committed, so that they hold no row that a kill takes back.
    lines = update_index_files(db, exact_rows)
    clean(db)
    return lines


def compact_if_due(db: Database) -> bool:
    """Compact tables that have many small fragments; whether any had."""
    small = {name: small_fragments(db, name) for name in db.names()}
    if max(small.values(), default=0) < DUE_FRAGMENTS:
        return False
    for name, count in small.items():
        if count > 1:
            compact(db, name)
    db.commit()
    clean(db)
    return True


def small_fragments(db: Database, name: str) -> int:
    """How many fragments of a table have fewer rows than a full one."""
    with write_errors(db.layout.folder, name):
        fragments = db.lance(name).get_fragments()
    return sum(each.metadata.num_rows < fragment_rows(name) for each in fragments)


def compact(db: Database, name: str) -> None:
    """Merge small fragments, where the disk has room for the copies."""
    full = fragment_rows(name)
    small = [
        each
        for each in db.lance(name).get_fragments()
        if each.metadata.num_rows < full or each.metadata.deletion_file
    ]
    copied = [file for each in small for file in each.metadata.files]
    if db.layout.has_room(2 * sum(file.file_size_bytes or 0 for file in copied)):
        db.compact(name, full)


def require_whole(layout: Layout, name: str, dataset: Any) -> None:
    """Raise `LibraryCorrupt` where a file of rows is gone or has another size than its table says."""
    if cut := layout.cut_file(name, dataset.get_fragments()):
        raise corrupt(layout.folder, name, f"data/{cut} is gone or has not the size that it was written with")


def check_indexes(db: Database, exact_rows: int = EXACT_ROWS) -> list[str]:
    """Raise `LibraryCorrupt` where files of rows are gone or were cut; an index that cannot be used is made
    again, and named."""
    made = []
    for name in db.names():
        dataset = db.lance(name)
        require_whole(db.layout, name, dataset)
        for column in index_faults(db.layout, name, dataset):
            made.append(f"the index of {column} in table {name} is damaged, and made again")
            if column == FULL_TEXT:
                index_text(db, name, afresh=True)
            else:
                index_keys(db, name, exact_rows, afresh=column)
    db.commit()
    return made


def index_faults(layout: Layout, name: str, dataset: Any) -> dict[str, str]:
    """Why indexes of a table cannot be used, by the column: their first row cannot be asked for."""
    found: dict[str, str] = {}
    for column in sorted({index.field_names[0] for index in dataset.describe_indices()}):
        try:
            with read_errors(layout.folder, name):
                if column == FULL_TEXT:
                    probe(dataset)
                else:
                    _probe_keys(dataset, column)
        except LibraryCorrupt as error:
            found[column] = " ".join(str(error.__cause__ or error).split()).split(", /")[0]
    return found


def _probe_keys(dataset: Any, column: str) -> None:
    first = dataset.scanner(columns=[column], limit=1).to_table()[column].to_pylist()
    if first:
        dataset.scanner(
            columns=[], filter=f"{column} IN {quoted(first)}", with_row_id=True, limit=1
        ).to_table()


def index_text(db: Database, name: str, *, afresh: bool = False) -> None:
    """Build the full-text index again where the table changed since it was built, or in any case (`afresh`).

    Afresh, because scores of an index that grew in parts, or whose rows were
    deleted, depend on that history; made at once they depend on the rows alone.
    """
    from lancedb.index import FTS

    dataset = db.lance(name)
    built = [
        index.segments[0].dataset_version_at_last_update
        for index in dataset.describe_indices()
        if index.field_names == [FULL_TEXT]
    ]
    if afresh or not built or dataset.version != built[0] + 1:
        db.index(name, FULL_TEXT, FTS(**TOKENIZER))


def index_keys(db: Database, name: str, exact_rows: int, *, afresh: str = "") -> None:
    """Sorted indexes of the ids by which a large table is read, made again when many rows came since.

    `afresh`: a column whose index is made again in any case.
    """
    from lancedb.index import BTree

    dataset = db.lance(name)
    rows = dataset.count_rows()
    with write_errors(db.layout.folder, name):
        held = {index.field_names[0]: index.num_rows_indexed for index in dataset.describe_indices()}
    for column in INDEXED_KEYS.get(name, ("video_id",)):
        if column == afresh or (rows > exact_rows and rows - held.get(column, 0) > LATER_SHARE * rows):
            db.index(name, column, BTree())


def update_index_files(db: Database, exact_rows: int) -> list[str]:
    """Bring the index files of all large tables of vectors up to date; replaced ones are removed.

    Returns a line for each table that has rows in no index, because the disk lacks room.
    """
    lines: list[str] = []
    if (folder := db.layout.indexes) is None:
        return lines
    for name in db.names():
        if name in FULL_TEXT_TABLES or is_clip_vectors(name):
            with write_errors(db.layout.folder, name):
                lines += _index_vectors(db, folder, name, exact_rows)
    with write_errors(db.layout.folder):
        remove_unnamed(folder)
    return lines


def _index_vectors(db: Database, folder: Path, name: str, exact_rows: int) -> Iterator[str]:
    """Index files of a table: made, but for full segments made before, or removed.

    They are derived data, so a disk without room for them leaves what is there, and the line says so.
    """
    dataset = db.lance(name)
    rows = dataset.count_rows()
    if rows <= exact_rows:
        manifest_path(folder, name).unlink(missing_ok=True)
        return
    try:
        held = read_manifest(folder, name)
    except IndexDamaged:
        held = None
    later, kept = rows, list[SegmentFiles]()
    if held is not None:
        later = _rows_from(dataset, held.last_row_id + 1)
        if held.rows - (rows - later) <= GONE_SHARE * held.rows:
            if later <= max(LATER_ROWS, LATER_SHARE * held.rows):
                return
            kept = held.full
    dim = dataset.schema.field("vector").type.list_size
    row_bytes = dim * BITS // 8 + COLUMN_BYTES + 2 * dim
    first = max((segment.last_row_id + 1 for segment in kept), default=0)
    written = _rows_from(dataset, first)
    if db.layout.has_room(written * row_bytes):
        table = vector_columns(name, dim)
        index_rows(folder, table, _rows_to_index(db, table, first), kept)
        return
    if later:
        size = f"{written * row_bytes / 1e6:.1f} MB"
        yield (
            f"table {name}: {later} of {rows} rows are searched exactly, slowly and in memory, because the "
            f"disk has no room for {size} of index files; make room, and the next rag index that adds or "
            "removes files makes them"
        )


def _rows_from(dataset: Any, first: int) -> int:
    """How many rows have that row id or a greater one."""
    return int(dataset.scanner(columns=[], filter=f"_rowid >= {first}", with_row_id=True).to_table().num_rows)


def _rows_to_index(db: Database, table: VectorColumns, first: int) -> Iterator[Any]:
    """Arrow tables of the rows from a row id on, as `index_rows` takes them."""
    import pyarrow as pa

    with write_errors(db.layout.folder, table.name):
        scanner = db.lance(table.name).scanner(
            columns=[*table.columns, "vector"],
            filter=f"_rowid >= {first}",
            with_row_id=True,
            batch_size=65536,
        )
        for batch in scanner.to_batches():
            rows = pa.Table.from_batches([batch])
            if (at := rows.schema.get_field_index(FULL_TEXT)) >= 0:
                # In a dictionary, as the other texts are, it would be stored twice.
                rows = rows.set_column(at, FULL_TEXT, rows[FULL_TEXT].cast(pa.large_string()))
            yield rows


def clean(db: Database) -> None:
    """Remove dead files, and the versions that neither the head nor a head that a reader may have open needs.

    Nothing where something was written since the last commit.
    """
    if db.versions != db.head.tables:
        return
    layout, alone = db.layout, db.layout.no_readers()
    for name in db.names():
        with write_errors(layout.folder, name):
            dataset = db.lance(name)
            oldest = dataset.version if alone else db.head.oldest_in_use(name)
            old = [each["version"] for each in dataset.versions() if each["version"] < oldest]
            # Without `delete_unverified`, Lance leaves files that no version names for a week.
            which: dict[str, Any] = {"versions": old} if old else {"older_than": timedelta(days=36500)}
            dataset.cleanup_old_versions(**which, delete_unverified=layout.is_locked)
    with write_errors(layout.folder):
        layout.delete_unnamed(db.head.tables)
        layout.keep_spare_head()
