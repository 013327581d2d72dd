"""Keeping the tables small and quick: full-text indexes, fragments, old versions."""

from __future__ import annotations

import shutil
from datetime import timedelta

from rag.store.boundary import write_errors
from rag.store.database import Database
from rag.store.fulltext import TOKENIZER
from rag.store.lock import no_readers
from rag.store.schema import FULL_TEXT, FULL_TEXT_TABLES

__all__ = ["PIN_SECONDS", "maintain"]

VECTOR_ROWS_PER_FRAGMENT = 1200
PLAIN_ROWS_PER_FRAGMENT = 1_000_000
PIN_SECONDS = 1800
"""Versions younger than this stay while a reader may hold them."""


def maintain(db: Database) -> None:
    for name in db.names():
        compact(db, name)
        if name in FULL_TEXT_TABLES:
            index_text(db, name)
    clean(db)


def index_text(db: Database, name: str) -> None:
    """Build the full-text index afresh where the table changed since it was built.

    Afresh, because scores of an index that grew in parts, or whose rows were
    deleted, depend on that history; made at once they depend on the rows alone.
    """
    from lancedb.index import FTS

    dataset = db.lance(name)
    with write_errors(db.layout.folder, name):
        built = [index.segments[0].dataset_version_at_last_update for index in dataset.describe_indices()]
        if built and dataset.version == built[0] + 1:
            return
        db.refresh(name)
        db.table(name).create_index(FULL_TEXT, config=FTS(**TOKENIZER), replace=True)


def compact(db: Database, name: str) -> None:
    """Merge small fragments, where the disk has room for the copy."""
    dataset = db.lance(name)
    fragments = dataset.get_fragments()
    if len(fragments) < 2:
        return
    size = sum(path.stat().st_size for path in (db.layout.table(name) / "data").glob("*"))
    if shutil.disk_usage(db.layout.folder).free < 2 * size:
        return
    target = VECTOR_ROWS_PER_FRAGMENT if name.startswith("vectors_") else PLAIN_ROWS_PER_FRAGMENT
    with write_errors(db.layout.folder, name):
        dataset.optimize.compact_files(target_rows_per_fragment=target)
    db.refresh(name)


def clean(db: Database) -> None:
    """Remove old versions and dead files: at once where nobody reads, else only old ones."""
    age = timedelta(0) if no_readers(db.layout.readers) else timedelta(seconds=PIN_SECONDS)
    for name in db.names():
        with write_errors(db.layout.folder, name):
            # Unverified files are those of a killed writer: the lock says that no other one is at work.
            db.lance(name).cleanup_old_versions(older_than=age, delete_unverified=True)
        db.refresh(name)
