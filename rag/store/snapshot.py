"""One version of every table, pinned together so that a writer at work is never half seen.

The order does it. `videos` and `files` are pinned first, everything else next,
and `videos` and `files` once more; a video counts only if it was ready at both
times with the same time of indexing, and so was untouched while the rest was
pinned; a passage source only if a path held it at both times.
"""

from __future__ import annotations

import fnmatch
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rag.errors import LibraryTooNew
from rag.records import Clip, Video
from rag.store import schema
from rag.store.boundary import read_errors
from rag.store.database import quoted
from rag.store.layout import Layout
from rag.store.records import SCHEMA, Meta, Where
from rag.store.vector_index import IndexKind, VectorIndex, build_index

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Matrix", "Snapshot"]


class Matrix:
    """Vectors of one table in memory: `rows` float16 (n, d), `ids` and `owners` (n strings each)."""

    def __init__(
        self, ids: list[str], owners: list[str], rows: NDArray[np.float16], index: IndexKind
    ) -> None:
        self.ids = ids
        self.owners = owners
        self.rows = rows
        self._kind: IndexKind = index

    @cached_property
    def index(self) -> VectorIndex:
        return build_index(self._kind, self.rows)


class Snapshot:
    def __init__(self, layout: Layout, index: IndexKind) -> None:
        self._layout = layout
        self._index = index
        self.meta = self._read_meta()
        first_videos, first_files = self._ready(), self._held()
        names = {path.name.removesuffix(".lance") for path in layout.tables.glob("*.lance")}
        self.tables = {name: self.open(name) for name in sorted(names - {"meta", "videos", "files"})}
        self.ready = dict(first_videos.items() & self._ready().items())
        self.sources = first_files & self._held()

    def open(self, name: str) -> Any:
        import lance

        with read_errors(self._layout.folder, name):
            return lance.dataset(str(self._layout.table(name)))

    def scan(self, name: str, columns: list[str], where: str | None = None, *, row_ids: bool = False) -> Any:
        """Rows of the pinned version of `name`, in no particular order."""
        with read_errors(self._layout.folder, name):
            return self.tables[name].scanner(columns=columns, filter=where, with_row_id=row_ids).to_table()

    def _newest(self, name: str) -> Any:
        with read_errors(self._layout.folder, name):
            return self.open(name).to_table()

    def _read_meta(self) -> Meta | None:
        for row in self._newest("meta").to_pylist():
            if row["key"] == "library":
                return schema.meta_of(row["value"])
        return None

    def _ready(self) -> dict[str, int]:
        self.video_rows = {row["video_id"]: row for row in self._newest("videos").to_pylist()}
        return {v: row["indexed_at"] for v, row in self.video_rows.items() if row["status"] == "ready"}

    def _held(self) -> set[str]:
        self.file_rows = [schema.file_of(row) for row in self._newest("files").to_pylist()]
        return {row.content_id for row in self.file_rows}

    # Names

    @cached_property
    def paths(self) -> dict[str, tuple[str, ...]]:
        """Content id to the paths that hold it, sorted."""
        held: dict[str, list[str]] = {}
        for row in self.file_rows:
            held.setdefault(row.content_id, []).append(row.path)
        for video_id in self.ready:
            held.setdefault(video_id, [os.fsdecode(self.video_rows[video_id]["path"])])
        return {content: tuple(sorted(paths)) for content, paths in held.items()}

    @cached_property
    def videos(self) -> dict[str, Video]:
        """Ready videos, sorted by path; `path` is the first of the paths that hold it."""
        from dataclasses import replace

        found = [replace(schema.video_of(self.video_rows[v]), path=self.paths[v][0]) for v in self.ready]
        return {video.video_id: video for video in sorted(found, key=lambda v: (v.path, v.video_id))}

    # Clips

    @cached_property
    def clips(self) -> dict[str, Clip]:
        """Clips of ready videos by id, sorted."""
        rows = self.scan("clips", ["clip_id", "video_id", "start", "end"]).to_pylist()
        found = [schema.clip_of(row) for row in rows if row["video_id"] in self.ready]
        return {clip.clip_id: clip for clip in sorted(found, key=lambda clip: clip.clip_id)}

    @property
    def vectors_name(self) -> str | None:
        encoder = self.meta.image_encoder if self.meta else None
        name = schema.vectors_table(encoder) if encoder else None
        return name if name in self.tables else None

    @cached_property
    def clip_matrix(self) -> Matrix | None:
        """Vectors of the clips of ready videos."""
        if self.vectors_name is None or self.meta is None or self.meta.image_encoder is None:
            return None
        table = self.scan(self.vectors_name, ["clip_id", "video_id", "vector"], row_ids=True)
        keep = [clip in self.clips for clip in table["clip_id"].to_pylist()]
        table = table.filter(keep)
        self.clip_rows = dict(zip(table["clip_id"].to_pylist(), table["_rowid"].to_pylist(), strict=True))
        return self._matrix(table, "clip_id", "video_id", self.meta.image_encoder.dim)

    @cached_property
    def evidence_matrix(self) -> Matrix | None:
        if self.meta is None or "evidence" not in self.tables:
            return None
        table = self.scan("evidence", ["evidence_id", "video_id", "vector", "start", "end", "kind"])
        table = table.filter([video in self.ready for video in table["video_id"].to_pylist()])
        self.evidence_spans = table.drop_columns(["vector"])
        return self._matrix(table, "evidence_id", "video_id", self.meta.text_encoder.dim)

    @cached_property
    def passage_matrix(self) -> Matrix | None:
        if self.meta is None or "passages" not in self.tables:
            return None
        table = self.scan("passages", ["passage_id", "source_id", "vector"])
        table = table.filter([source in self.sources for source in table["source_id"].to_pylist()])
        return self._matrix(table, "passage_id", "source_id", self.meta.text_encoder.dim)

    def _matrix(self, table: Any, key: str, owner: str, dim: int) -> Matrix:
        rows = schema.column_matrix(table["vector"], dim)
        return Matrix(table[key].to_pylist(), table[owner].to_pylist(), rows, self._index)

    # Filters

    def allowed_videos(self, where: Where) -> set[str]:
        allowed = set(self.ready)
        if where.videos is not None:
            allowed &= where.videos
        if where.paths:
            allowed = {v for v in allowed if path_matches(self.paths[v], where.paths)}
        return allowed

    def allowed_sources(self, where: Where) -> set[str]:
        if not where.paths:
            return set(self.sources)
        return {s for s in self.sources if path_matches(self.paths[s], where.paths)}

    def hidden_filter(self, name: str, owner: str, shown: set[str], wanted: set[str]) -> str | None:
        """A SQL filter for the rows of `wanted` owners, as short as it can be; None when it would keep all."""
        owners = set(self.scan(name, [owner])[owner].to_pylist())
        hidden = owners - (wanted & shown)
        kept = owners - hidden
        if not hidden:
            return None
        if len(hidden) <= len(kept):
            return f"{owner} NOT IN {quoted(sorted(hidden))}"
        return f"{owner} IN {quoted(sorted(kept))}" if kept else "false"


def path_matches(paths: tuple[str, ...], globs: tuple[str, ...]) -> bool:
    """Whether one of `paths` is, lies below, or fits one of `globs`; without a slash a glob fits a last part."""
    for path in paths:
        for glob in globs:
            if path == glob or path.startswith(glob.rstrip("/") + "/") or fnmatch.fnmatchcase(path, glob):
                return True
            if "/" not in glob and fnmatch.fnmatchcase(os.path.basename(path), glob):
                return True
    return False


def refuse_newer(folder: Any, held: int) -> None:
    if held > SCHEMA:
        raise LibraryTooNew(
            f"{folder}: written by a newer version of this program (schema {held}, this one knows {SCHEMA}); "
            "upgrade it, or index into another folder with --library"
        )
