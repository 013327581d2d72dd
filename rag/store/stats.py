"""The health of a library in figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rag.store.compaction import fragment_rows
from rag.store.error_mapping import read_errors
from rag.store.layout import Layout
from rag.store.matrices import Codes
from rag.store.records import Stats, TableStats
from rag.store.schema import FULL_TEXT_TABLES
from rag.store.snapshot import Snapshot


def collect(layout: Layout, s: Snapshot) -> Stats:
    """Counts of what readers see in the snapshot; sizes and health of the tables as they are now."""
    tables = {name: _table(layout, name) for name in layout.table_names()}
    passages = s.scan("passages", ["source_id", "doc_id"])
    shown = passages.filter(Codes(passages["source_id"]).among(s.sources))
    evidence = Codes(s.scan("evidence", ["video_id"])["video_id"]).among(s.ready)
    return Stats(
        files=len(s.file_rows),
        videos=len(s.ready),
        pending_videos=len(s.video_rows) - len(s.ready),
        video_hours=sum(video.duration for video in s.videos.values()) / 3600,
        clips=s.clip_count,
        evidence=int(evidence.sum()),
        passages=shown.num_rows,
        documents=shown.group_by(["source_id", "doc_id"]).aggregate([]).num_rows,
        problems=s.scan("problems", ["path"]).num_rows,
        bytes=_bytes(layout.folder),
        unindexed_rows=sum(table.unindexed_rows for table in tables.values()),
        compactable_fragments=sum(table.small_fragments for table in tables.values()),
        removable_versions=sum(table.versions - 1 for table in tables.values()),
        tables=tables,
    )


def _table(layout: Layout, name: str) -> TableStats:
    import lance

    with read_errors(layout.folder, name):
        dataset: Any = lance.dataset(str(layout.table(name)))
        rows = dataset.count_rows()
        sizes = [fragment.metadata.num_rows for fragment in dataset.get_fragments()]
        small = sum(size < fragment_rows(name) for size in sizes)
        indexed = sum(index.num_rows_indexed for index in dataset.describe_indices())
        return TableStats(
            rows=rows,
            bytes=_bytes(layout.table(name)),
            fragments=len(sizes),
            small_fragments=small if small > 1 else 0,
            versions=len(dataset.versions()),
            unindexed_rows=max(0, rows - indexed) if name in FULL_TEXT_TABLES else 0,
        )


def _bytes(folder: Path) -> int:
    """Files may go while they are counted: a writer is never blocked."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return total
