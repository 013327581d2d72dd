"""The health of a library in figures."""

from __future__ import annotations

from typing import Any

from rag.store.boundary import read_errors
from rag.store.layout import Layout
from rag.store.records import Stats, TableStats
from rag.store.schema import FULL_TEXT_TABLES
from rag.store.snapshot import Snapshot

__all__ = ["collect"]


def collect(layout: Layout, s: Snapshot) -> Stats:
    tables = {
        path.name.removesuffix(".lance"): _table(layout, s, path.name.removesuffix(".lance"))
        for path in sorted(layout.tables.glob("*.lance"))
    }
    passages = s.scan("passages", ["source_id", "doc_id"]).to_pylist() if "passages" in s.tables else []
    shown = [row for row in passages if row["source_id"] in s.sources]
    evidence = s.scan("evidence", ["video_id"])["video_id"].to_pylist() if "evidence" in s.tables else []
    return Stats(
        files=len(s.file_rows),
        videos=len(s.ready),
        pending_videos=len(s.video_rows) - len(s.ready),
        video_hours=sum(video.duration for video in s.videos.values()) / 3600,
        clips=len(s.clips),
        evidence=sum(video in s.ready for video in evidence),
        passages=len(shown),
        documents=len({(row["source_id"], row["doc_id"]) for row in shown}),
        problems=tables["problems"].rows if "problems" in tables else 0,
        bytes=sum(path.stat().st_size for path in layout.folder.rglob("*") if path.is_file()),
        unindexed_rows=sum(table.unindexed_rows for table in tables.values()),
        compactable_fragments=sum(table.fragments for table in tables.values() if table.fragments > 1),
        removable_versions=sum(table.versions - 1 for table in tables.values()),
        tables=tables,
    )


def _table(layout: Layout, s: Snapshot, name: str) -> TableStats:
    with read_errors(layout.folder, name):
        dataset: Any = s.open(name)
        unindexed = 0
        rows = dataset.count_rows()
        if name in FULL_TEXT_TABLES and rows:
            held = dataset.list_indices()
            unindexed = rows
            if held:
                unindexed = dataset.stats.index_stats(held[0]["name"])["num_unindexed_rows"]
        return TableStats(
            rows=rows,
            bytes=sum(path.stat().st_size for path in layout.table(name).rglob("*") if path.is_file()),
            fragments=len(dataset.get_fragments()),
            versions=len(dataset.versions()),
            unindexed_rows=unindexed,
        )
