"""Reading a library: a pinned snapshot that never blocks and is never blocked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from rag.records import Clip, Evidence, Passage, Problem, Video
from rag.store import schema
from rag.store.boundary import TableGone, read_errors
from rag.store.database import quoted
from rag.store.fulltext import match
from rag.store.layout import Layout, require_library
from rag.store.lock import ReaderMark
from rag.store.records import ClipFrames, Hit, Meta, Stats, Where
from rag.store.snapshot import Snapshot
from rag.store.vector_index import IndexKind, nearest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Reader"]

EVERYTHING = Where()

T = TypeVar("T")


class Reader:
    """Made by `Reader.open`; a context manager, and safe to share between threads.

    It sees the library as it was when opened. If a writer has meanwhile
    cleaned those versions away, it takes up the newest ones and goes on.
    """

    def __init__(self, layout: Layout, index: IndexKind) -> None:
        self._layout = layout
        self._index: IndexKind = index
        self._lock = threading.RLock()
        self._mark = ReaderMark(layout.readers)
        try:
            self._snapshot = Snapshot(layout, index)
        except BaseException:
            self._mark.release()
            raise

    @classmethod
    def open(cls, folder: Path, *, index: IndexKind = "flat") -> Reader:
        """Raises `LibraryNotFound`, `LibraryTooNew` or `LibraryCorrupt`."""
        return cls(require_library(folder), index)

    def refresh(self) -> None:
        """Take up the newest version of every table."""
        with self._lock:
            self._snapshot = Snapshot(self._layout, self._index)

    def _ask(self, question: Callable[[Snapshot], T]) -> T:
        with self._lock:
            try:
                return question(self._snapshot)
            except TableGone:
                self.refresh()
                return question(self._snapshot)

    @property
    def folder(self) -> Path:
        return self._layout.folder

    @property
    def meta(self) -> Meta | None:
        """None for a library that was made and never given anything."""
        return self._snapshot.meta

    # What is there

    def videos(self) -> list[Video]:
        """Ready videos, sorted by path."""
        return self._ask(lambda s: list(s.videos.values()))

    def video(self, video_id: str) -> Video:
        """Raises KeyError for an unknown id."""
        return self._ask(lambda s: s.videos[video_id])

    def paths(self, content_id: str) -> tuple[str, ...]:
        """The paths that hold a video or a passage source, sorted. Raises KeyError for an unknown id."""
        return self._ask(lambda s: s.paths[content_id])

    def clips(self, video_id: str) -> list[Clip]:
        """Clips of a ready video, in time order."""
        return self._ask(lambda s: [clip for clip in s.clips.values() if clip.video_id == video_id])

    def clip(self, clip_id: str) -> Clip:
        """Raises KeyError for an unknown id."""
        return self._ask(lambda s: s.clips[clip_id])

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """Passages in the order of `ids`. Raises KeyError for an unknown one."""
        found = self._ask(lambda s: self._passage_rows(s, ids))
        return [schema.passage_of(found[key]) for key in ids]

    def passage_paths(self, ids: Sequence[str]) -> list[str]:
        """For each passage the first path that holds it. Raises KeyError for an unknown one."""
        found = self._ask(lambda s: self._passage_rows(s, ids))
        return self._ask(lambda s: [s.paths[found[key]["source_id"]][0] for key in ids])

    def _passage_rows(self, s: Snapshot, ids: Sequence[str]) -> dict[str, Any]:
        if not ids or "passages" not in s.tables:
            return {}
        columns = ["passage_id", "source_id", "doc_id", "title", schema.FULL_TEXT]
        rows = s.scan("passages", columns, f"passage_id IN {quoted(sorted(set(ids)))}").to_pylist()
        rows.sort(
            key=lambda row: s.paths[row["source_id"]][0] if row["source_id"] in s.sources else "",
            reverse=True,
        )
        return {row["passage_id"]: row for row in rows if row["source_id"] in s.sources}

    def evidence(self, video_id: str, start: float, end: float) -> list[Evidence]:
        """Spans of a ready video that overlap [start, end), in time order."""
        columns = ["evidence_id", "video_id", "start", "end", "kind", schema.FULL_TEXT]
        overlap = f"video_id IN {quoted([video_id])} AND start < {end!r} AND `end` > {start!r}"

        def ask(s: Snapshot) -> list[dict[str, Any]]:
            if video_id not in s.ready or "evidence" not in s.tables:
                return []
            rows: list[dict[str, Any]] = s.scan("evidence", columns, overlap).to_pylist()
            return rows

        rows = sorted(self._ask(ask), key=lambda row: row["evidence_id"])
        return [schema.evidence_of(row) for row in rows]

    def spans(self, ids: Sequence[str]) -> list[Evidence]:
        """Evidence in the order of `ids`, as a search gave them. Raises KeyError for an unknown one."""
        if not ids:
            return []
        columns = ["evidence_id", "video_id", "start", "end", "kind", schema.FULL_TEXT]
        where = f"evidence_id IN {quoted(sorted(set(ids)))}"
        rows = self._ask(lambda s: s.scan("evidence", columns, where).to_pylist())
        found = {row["evidence_id"]: schema.evidence_of(row) for row in rows}
        return [found[key] for key in ids]

    def problems(self) -> list[Problem]:
        """Files that could not be used, or not wholly, sorted by path."""
        import os

        rows = self._ask(lambda s: s.scan("problems", ["path", "reason", "action"]).to_pylist())
        found = [Problem(os.fsdecode(row["path"]), row["reason"], row["action"]) for row in rows]
        return sorted(found, key=lambda problem: problem.path)

    def stats(self) -> Stats:
        from rag.store.stats import collect

        return self._ask(lambda s: collect(self._layout, s))

    # Search: cosine over unit vectors

    def search_clips(self, vector: NDArray[np.floating[Any]], k: int, where: Where = EVERYTHING) -> list[Hit]:
        """The k clips nearest to `vector` (d,), keys are clip ids. Empty without an image encoder."""
        return self._ask(lambda s: self._search_clips(s, vector, k, where))

    def _search_clips(self, s: Snapshot, vector: Any, k: int, where: Where) -> list[Hit]:
        matrix = s.clip_matrix
        if matrix is None:
            return []
        keep = None
        if where.videos is not None or where.paths or where.start is not None or where.end is not None:
            videos = s.allowed_videos(where)
            clips = (s.clips[key] for key in matrix.ids)
            keep = _mask(c.video_id in videos and _overlaps(c.start, c.end, where) for c in clips)
        return nearest(matrix.index, matrix.rows, matrix.ids, vector, k, keep)

    def search_evidence(
        self, vector: NDArray[np.floating[Any]], k: int, where: Where = EVERYTHING
    ) -> list[Hit]:
        """The k spans nearest to `vector` (text dim,); keys are evidence ids, for `spans`."""
        return self._ask(lambda s: self._search_evidence(s, vector, k, where))

    def _search_evidence(self, s: Snapshot, vector: Any, k: int, where: Where) -> list[Hit]:
        matrix = s.evidence_matrix
        if matrix is None:
            return []
        keep = None
        if where != EVERYTHING:
            videos = s.allowed_videos(where)
            rows = s.evidence_spans.to_pylist()
            keep = _mask(
                row["video_id"] in videos
                and (where.kinds is None or row["kind"] in where.kinds)
                and _overlaps(row["start"], row["end"], where)
                for row in rows
            )
        return nearest(matrix.index, matrix.rows, matrix.ids, vector, k, keep)

    def search_passages(
        self, vector: NDArray[np.floating[Any]], k: int, where: Where = EVERYTHING
    ) -> list[Hit]:
        """The k passages nearest to `vector` (text dim,); keys are passage ids, for `passages`."""
        return self._ask(lambda s: self._search_passages(s, vector, k, where))

    def _search_passages(self, s: Snapshot, vector: Any, k: int, where: Where) -> list[Hit]:
        matrix = s.passage_matrix
        if matrix is None:
            return []
        keep = None
        if where.paths:
            sources = s.allowed_sources(where)
            keep = _mask(owner in sources for owner in matrix.owners)
        return nearest(matrix.index, matrix.rows, matrix.ids, vector, k, keep)

    # Search: full text, BM25

    def match_evidence(self, text: str, k: int, where: Where = EVERYTHING) -> list[Hit]:
        """The k spans that hold most of the words of `text`; nothing in `text` is syntax."""

        def ask(s: Snapshot) -> list[Hit]:
            if "evidence" not in s.tables:
                return []
            parts = [s.hidden_filter("evidence", "video_id", set(s.ready), s.allowed_videos(where))]
            if where.kinds is not None:
                parts.append(f"kind IN {quoted(sorted(where.kinds))}" if where.kinds else "false")
            if where.start is not None:
                parts.append(f"`end` > {where.start!r}")
            if where.end is not None:
                parts.append(f"start < {where.end!r}")
            return self._match(s, "evidence", "evidence_id", text, k, parts)

        return self._ask(ask)

    def match_passages(self, text: str, k: int, where: Where = EVERYTHING) -> list[Hit]:
        """The k passages that hold most of the words of `text`, title included."""

        def ask(s: Snapshot) -> list[Hit]:
            if "passages" not in s.tables:
                return []
            parts = [s.hidden_filter("passages", "source_id", s.sources, s.allowed_sources(where))]
            return self._match(s, "passages", "passage_id", text, k, parts)

        return self._ask(ask)

    def _match(
        self, s: Snapshot, table: str, key: str, text: str, k: int, parts: Iterable[str | None]
    ) -> list[Hit]:
        where = " AND ".join(f"({part})" for part in parts if part) or None
        with read_errors(self._layout.folder, table):
            return match(s.tables[table], key, text, k, where)

    # Frames

    def frames(self, clip_ids: Sequence[str]) -> list[ClipFrames]:
        """Frame vectors and times of clips, in the order of `clip_ids`, float32.

        Raises KeyError for a clip that is unknown or has no vectors.
        """
        from rag.store.frames import fetch

        return self._ask(lambda s: fetch(s, clip_ids))

    def close(self) -> None:
        self._mark.release()

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _mask(keep: Iterable[bool]) -> NDArray[np.bool_]:
    import numpy as np

    return np.fromiter(keep, dtype=np.bool_)


def _overlaps(start: float, end: float, where: Where) -> bool:
    return (where.end is None or start < where.end) and (where.start is None or end > where.start)
