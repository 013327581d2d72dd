"""The health of the tables: full-text indexes, compaction, removal of old versions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from rag.errors import LibraryCorrupt
from rag.settings import EXACT_ROWS
from rag.store.database import Database
from rag.store.error_mapping import corrupt, read_errors, write_errors
from rag.store.fulltext import TOKENIZER, probe
from rag.store.layout import Layout
from rag.store.schema import FULL_TEXT, FULL_TEXT_TABLES, is_clip_vectors, quoted

VECTOR = "vector"
DUE_FRAGMENTS = 64
"""While indexing goes on, tables are compacted when one of them has so many small fragments."""
INDEXED = {"evidence": ("video_id", "evidence_id", VECTOR), "passages": ("source_id", "passage_id", VECTOR)}
"""Columns by which rows of large tables are found; tables of clip vectors have `INDEXED_VECTORS`."""
INDEXED_VECTORS = ("video_id", "clip_id", VECTOR)
KEYED_ROWS = 20_000
"""Rows above which ids are indexed: to look at all takes 8 ms of CPU for each 70,000."""
LATER_SHARE = 0.05
"""Share of a table's rows that an index may lack: they are found without it, a little slower."""


def fragment_rows(name: str) -> int:
    """Rows of a full fragment: few where a row is a matrix of 61 KB, for compaction copies the last one.

    With 1,000 fragments, of 1.2 million clips, opening a table takes 5.5 ms of CPU and a commit 13 ms.
    """
    return 1200 if name.startswith("vectors_") else 1_000_000


def maintain(db: Database, exact_rows: int = EXACT_ROWS) -> None:
    """Compact, build the indexes, commit, clean: in this order, so that an index outlives its building.

    `exact_rows`: tables with more rows are indexed by their vectors.
    """
    for name in db.names():
        compact(db, name)
        index_large(db, name, exact_rows)
        if name in FULL_TEXT_TABLES:
            index_text(db, name)
    db.commit()
    clean(db)


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


def check_indexes(db: Database, exact_rows: int = EXACT_ROWS, *, afresh: bool = False) -> list[str]:
    """Raise `LibraryCorrupt` where files of rows are gone or were cut; an index that cannot be used is made
    again, and named. `afresh`: the others are made again too, for damage shows only where it is read."""
    made = []
    for name in db.names():
        dataset = db.lance(name)
        require_whole(db.layout, name, dataset)
        faults = index_faults(db.layout, name, dataset)
        made += [f"the index of {column} in table {name} is damaged, and made again" for column in faults]
        for column in indexed_columns(dataset) if afresh else faults:
            if column == FULL_TEXT:
                index_text(db, name, afresh=True)
            else:
                index_large(db, name, exact_rows, afresh=column)
    db.commit()
    return made


def indexed_columns(dataset: Any) -> list[str]:
    """The columns of a table that have an index, sorted."""
    return sorted({index.field_names[0] for index in dataset.describe_indices()})


def index_faults(layout: Layout, name: str, dataset: Any) -> dict[str, str]:
    """Why indexes of a table cannot be used, by the column: their first row cannot be asked for."""
    found: dict[str, str] = {}
    for column in indexed_columns(dataset):
        try:
            with read_errors(layout.folder, name):
                if column == FULL_TEXT:
                    probe(dataset)
                else:
                    _probe_large(dataset, column)
        except LibraryCorrupt as error:
            found[column] = str(error)
    return found


def _probe_large(dataset: Any, column: str) -> None:
    first = dataset.scanner(columns=[column], limit=1).to_table()[column].to_pylist()
    if first and column == VECTOR:
        near = {"column": VECTOR, "q": first[0], "k": 1}
        dataset.scanner(columns=["_distance"], nearest=near).to_table()
    elif first:
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


def index_large(db: Database, name: str, exact_rows: int, *, afresh: str = "") -> None:
    """Indexes of the columns by which rows of a large table are found, made again when many rows came since.

    `afresh`: a column whose index is made again in any case. All vectors are compared with a question by
    codes of 2 bits a dimension: partitions would leave out too much, for texts are asked where images are
    stored, and spans of text fill their space too evenly. LanceDB cuts no codes of vectors whose dimensions
    are not a multiple of 8: these are compared as they are.
    """
    from lancedb.index import BTree, IvfRq

    dataset = db.lance(name)
    rows = dataset.count_rows()
    with write_errors(db.layout.folder, name):
        held = {index.field_names[0]: index.num_rows_indexed for index in dataset.describe_indices()}
    for column in INDEXED_VECTORS if is_clip_vectors(name) else INDEXED.get(name, ()):
        if column == VECTOR and dataset.schema.field(VECTOR).type.list_size % 8:
            continue
        is_large = rows > (exact_rows if column == VECTOR else min(exact_rows, KEYED_ROWS))
        if column == afresh or (is_large and rows - held.get(column, 0) > LATER_SHARE * rows):
            codes = IvfRq(distance_type="dot", num_partitions=1, num_bits=2)
            db.index(name, column, codes if column == VECTOR else BTree())


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
