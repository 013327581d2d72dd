"""The one writer of a library: every change is idempotent, and safe to kill at any instant.

What makes it so is order. A video is `pending` before its first row and
`ready` after its last; a clip's vectors are written before the clip; a
passage file's row in `files` comes after its passages. What a killed writer
left half done is either taken up again or swept away by the next one.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rag.errors import EncoderMismatch, LibraryCorrupt
from rag.records import Clip, Evidence, Passage, Problem, Video
from rag.store import schema
from rag.store.boundary import write_errors
from rag.store.compaction import index_text, maintain
from rag.store.database import Database, quoted, quoted_bytes
from rag.store.layout import Layout, require_library
from rag.store.lock import WriterLock
from rag.store.records import ClipFrames, FileRow, Meta, Removed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Writer"]

BUFFERED_ROWS = 4096
"""Passages and small rows wait in memory until this many are together: a commit costs 10 ms."""


class Writer:
    """Made by `Writer.open`; a context manager that holds the library's lock."""

    def __init__(self, layout: Layout, lock: WriterLock, database: Database) -> None:
        self._layout = layout
        self._lock = lock
        self._db = database
        self._meta: Meta | None = None
        self._files: dict[str, FileRow] = {}
        self._status: dict[str, str] = {}
        self._stages: dict[str, dict[str, Any]] = {}
        self._clips: dict[str, set[str]] = {}
        self._sources: set[str] = set()
        self._problem_paths: set[str] = set()
        self._passage_buffer: list[Any] = []
        self._file_buffer: dict[str, FileRow] = {}
        self._problem_buffer: dict[str, tuple[Problem, str]] = {}

    @classmethod
    def open(cls, folder: Path, *, create: bool = True) -> Writer:
        """Take the lock, and sweep away what a killed writer left half done.

        Raises `LibraryNotFound` (only without `create`), `LibraryBusy`,
        `LibraryReadOnly`, `LibraryTooNew` or `LibraryCorrupt`.
        """
        layout = Layout(Path(os.path.abspath(folder)))
        if not create:
            require_library(folder)
        with write_errors(layout.folder):
            layout.tables.mkdir(parents=True, exist_ok=True)
        lock = WriterLock(layout.lock)
        lock.acquire()
        try:
            writer = cls(layout, lock, Database(layout))
            writer._load()
            return writer
        except BaseException:
            lock.release()
            raise

    def _load(self) -> None:
        db = self._db
        for name, columns in schema.plain_schemas().items():
            db.create(name, columns)
        values = db.rows("meta", ["key", "value"]).to_pylist()
        for row in values:
            if row["key"] == "library":
                self._meta = schema.meta_of(row["value"])
        names = ["path", "content_id", "kind", "size", "mtime_ns", "ctime_ns", "stamp"]
        self._files = {r.path: r for r in map(schema.file_of, db.rows("files", names).to_pylist())}
        for row in db.rows("videos", ["video_id", "status", "stages"]).to_pylist():
            self._status[row["video_id"]] = row["status"]
            self._stages[row["video_id"]] = json.loads(row["stages"])
        self._problem_paths = {os.fsdecode(r["path"]) for r in db.rows("problems", ["path"]).to_pylist()}
        if db.has("passages"):
            self._sources = set(db.rows("passages", ["source_id"])["source_id"].to_pylist())
        self._sweep()

    def _sweep(self) -> None:
        self._erase_videos([video for video, status in self._status.items() if status == "removing"])
        published = {row.content_id for row in self._files.values()}
        self._erase_sources(self._sources - published)

    # What the library is made with

    @property
    def meta(self) -> Meta | None:
        """None in a new library, until `set_meta`."""
        return self._meta

    def set_meta(self, meta: Meta) -> Meta:
        """Choose encoders and settings, before the first row; gives back what was stored.

        Raises `EncoderMismatch` when the library already holds vectors of another encoder.
        """
        held = self._meta
        if held is not None:
            self._refuse_other("text", held.text_encoder.fingerprint, meta.text_encoder.fingerprint)
            if held.image_encoder is not None:
                new = meta.image_encoder.fingerprint if meta.image_encoder else "none"
                self._refuse_other("image", held.image_encoder.fingerprint, new)
        library_id = held.library_id if held else uuid.uuid4().hex
        stored = replace(meta, library_id=library_id)
        for name, columns in schema.text_schemas(meta.text_encoder.dim).items():
            self._db.create(name, columns)
            # Over an empty table too: it says how words are cut, also for rows that it does not hold yet.
            index_text(self._db, name)
        if meta.image_encoder is not None:
            self._db.create(
                schema.vectors_table(meta.image_encoder), schema.vectors_schema(meta.image_encoder.dim)
            )
        if stored != held:
            self._db.overwrite("meta", schema.meta_row(stored))
        self._meta = stored
        return stored

    def _refuse_other(self, role: str, held: str, new: str) -> None:
        if held != new:
            raise EncoderMismatch(
                f"{self._layout.folder}: made with another {role} encoder ({held[:12]}, now {new[:12]}); "
                f"to encode everything again, keeping the text evidence: rag index --reembed"
            )

    def _require_meta(self) -> Meta:
        if self._meta is None:
            raise ValueError("set_meta comes before the first row")
        return self._meta

    def _vectors(self) -> tuple[str, int] | None:
        encoder = self._require_meta().image_encoder
        return None if encoder is None else (schema.vectors_table(encoder), encoder.dim)

    # Files and problems

    def files(self) -> dict[str, FileRow]:
        """Every known path with what is known of it."""
        return dict(self._files)

    def put_file(self, row: FileRow) -> None:
        """Say that `row.path` holds that content. For passages this comes last and makes them visible."""
        self._files[row.path] = row
        self._file_buffer[row.path] = row
        self._flush_if_full()

    def put_problem(self, problem: Problem, stamp: str) -> None:
        self._problem_buffer[problem.path] = (problem, stamp)
        self._flush_if_full()

    def problems(self) -> dict[str, tuple[Problem, str]]:
        """Path to its problem and the stamp that the file had then."""
        rows = self._db.rows("problems", ["path", "reason", "action", "stamp"]).to_pylist()
        held = {
            os.fsdecode(r["path"]): (Problem(os.fsdecode(r["path"]), r["reason"], r["action"]), r["stamp"])
            for r in rows
        }
        return held | self._problem_buffer

    def clear_problem(self, path: str) -> None:
        self._problem_buffer.pop(path, None)
        if path in self._problem_paths:
            self._db.delete("problems", f"path IN {quoted_bytes([schema.path_bytes(path)])}")
            self._problem_paths.discard(path)

    # Videos

    def ready(self) -> dict[str, dict[str, Any]]:
        """Each finished video's stages, as `finish_video` was given them."""
        return {v: self._stages[v] for v, status in self._status.items() if status == "ready"}

    def pending(self) -> frozenset[str]:
        """Videos that were begun and not finished."""
        return frozenset(v for v, status in self._status.items() if status != "ready")

    def begin_video(self, video: Video) -> None:
        """Mark as pending: unseen by readers from now until `finish_video`. What it holds stays, for a resume."""
        self._put_video(video, "pending", self._stages.get(video.video_id, {}))
        self._clips.pop(video.video_id, None)

    def finish_video(self, video: Video, stages: Mapping[str, Any]) -> None:
        """Mark as ready, last of all. `stages`: JSON values by stage name."""
        self._require_pending(video.video_id)
        self._put_video(video, "ready", stages)
        self._clips.pop(video.video_id, None)

    def _put_video(self, video: Video, status: str, stages: Mapping[str, Any]) -> None:
        self._db.upsert("videos", "video_id", schema.video_rows(video, status, stages, time.time_ns()))
        self._status[video.video_id] = status
        self._stages[video.video_id] = dict(stages)

    def _require_pending(self, video_id: str) -> None:
        if self._status.get(video_id) != "pending":
            raise ValueError(f"begin_video comes first: {video_id}")

    def committed_clips(self, video_id: str) -> list[ClipFrames]:
        """Clips that are there with their vectors, in time order, without the vectors themselves.

        Half-written ones are deleted. `times` and `vectors` are empty.
        """
        import numpy as np

        here = f"video_id = {quoted([video_id])[1:-1]}"
        rows = self._db.rows("clips", ["clip_id", "video_id", "start", "end", "pixels"], here).to_pylist()
        table = self._vectors()
        both = {row["clip_id"] for row in rows}
        modality = dict.fromkeys(both, "video")
        dim = 0
        if table is not None:
            name, dim = table
            vectors = self._db.rows(name, ["clip_id", "modality"], here).to_pylist()
            modality = {row["clip_id"]: row["modality"] for row in vectors}
            orphans = set(modality) - both
            both &= set(modality)
            if orphans:
                self._db.delete(name, f"clip_id IN {quoted(sorted(orphans))}")
        if half := sorted({row["clip_id"] for row in rows} - both):
            self._db.delete("clips", f"clip_id IN {quoted(half)}")
        self._clips[video_id] = set(both)
        empty = np.empty((0, dim), np.float32)
        return [
            ClipFrames(
                schema.clip_of(row),
                np.empty(0),
                empty,
                np.zeros(dim, np.float32),
                row["pixels"],
                modality[row["clip_id"]],
            )
            for row in sorted(rows, key=lambda row: (row["start"], row["clip_id"]))
            if row["clip_id"] in both
        ]

    def add_clips(self, clips: Sequence[ClipFrames]) -> None:
        """Commit clips with their vectors; a clip that is there already is replaced."""
        table = self._vectors()
        if table is None:
            raise ValueError("this library has no image encoder: put_clips_without_vectors")
        if not clips:
            return
        name, dim = table
        rows = schema.vector_rows(clips, dim)
        self._drop_known([c.clip for c in clips])
        self._db.add(name, rows)
        self._db.add("clips", schema.clip_rows(clips))
        for c in clips:
            self._clips[c.clip.video_id].add(c.clip.clip_id)

    def put_clips_without_vectors(self, clips: Sequence[Clip]) -> None:
        """Commit clips that have no picture, or whose library has no image encoder."""
        import numpy as np

        if not clips:
            return
        self._drop_known(clips)
        none = np.empty(0, np.float32)
        bare = [ClipFrames(clip, np.empty(0), none, none) for clip in clips]
        self._db.add("clips", schema.clip_rows(bare))
        for clip in clips:
            self._clips[clip.video_id].add(clip.clip_id)

    def _drop_known(self, clips: Sequence[Clip]) -> None:
        for video_id in {clip.video_id for clip in clips}:
            self._require_pending(video_id)
            if video_id not in self._clips:
                self.committed_clips(video_id)
        known = sorted({c.clip_id for c in clips if c.clip_id in self._clips[c.video_id]})
        if known:
            self._db.delete("clips", f"clip_id IN {quoted(known)}")
            if (table := self._vectors()) is not None:
                self._db.delete(table[0], f"clip_id IN {quoted(known)}")

    def put_evidence(
        self, video_id: str, spans: Sequence[Evidence], vectors: NDArray[np.floating[Any]]
    ) -> None:
        """Put these spans in place of all that the video has. `vectors`: (n, text dim) unit rows."""
        self._require_pending(video_id)
        rows = schema.evidence_rows(video_id, spans, vectors, self._require_meta().text_encoder.dim)
        here = f"video_id = {quoted([video_id])[1:-1]}"
        if self._db.rows("evidence", ["evidence_id"], here).num_rows:
            self._db.delete("evidence", here)
        self._db.add("evidence", rows)

    # Passages

    def put_passages(
        self, source_id: str, passages: Sequence[Passage], vectors: NDArray[np.floating[Any]]
    ) -> None:
        """Put these passages in place of all that the source has; `put_file` then makes them visible.

        `vectors`: (n, text dim) unit rows. A source that was visible is hidden until its next `put_file`.
        """
        self.begin_passages(source_id)
        self.add_passages(source_id, passages, vectors)

    def begin_passages(self, source_id: str) -> None:
        """Take away what the source has, so that `add_passages` can bring it in parts."""
        self._require_meta()
        shown = [path for path, row in self._files.items() if row.content_id == source_id]
        if shown or source_id in self._sources:
            self.flush()
            self._forget_paths(shown)
            self._erase_sources({source_id})

    def add_passages(
        self, source_id: str, passages: Sequence[Passage], vectors: NDArray[np.floating[Any]]
    ) -> None:
        """Add passages to a source; after `begin_passages`, each one once."""
        dim = self._require_meta().text_encoder.dim
        rows = schema.passage_rows(source_id, passages, vectors, dim)
        self._sources.add(source_id)
        self._passage_buffer.append(rows)
        self._flush_if_full()

    # Removal

    def remove_paths(self, paths: Iterable[str]) -> Removed:
        """Forget paths. Content goes when its last path goes. Unknown paths are passed over."""
        self.flush()
        named = set(paths)
        going = sorted(named & set(self._files))
        lost = {self._files[path].content_id for path in going}
        lost -= {row.content_id for path, row in self._files.items() if path not in named}
        videos = sorted(lost & set(self._status))
        sources = sorted(lost & self._sources)
        for path in sorted(named):
            self.clear_problem(path)
        if videos:
            self._db.update("videos", f"video_id IN {quoted(videos)}", {"status": "removing"})
        self._forget_paths(going)
        self._erase_videos(videos)
        self._erase_sources(set(sources))
        return Removed(tuple(going), tuple(videos), tuple(sources))

    def drop_unfinished(self) -> tuple[str, ...]:
        """Erase videos that were begun, never finished, and that no known path holds any more."""
        held = {row.content_id for row in self._files.values()}
        gone = sorted(v for v, status in self._status.items() if status != "ready" and v not in held)
        self._erase_videos(gone)
        return tuple(gone)

    def _forget_paths(self, paths: Sequence[str]) -> None:
        if paths:
            self._db.delete("files", f"path IN {quoted_bytes(map(schema.path_bytes, paths))}")
        for path in paths:
            self._files.pop(path, None)

    def _erase_videos(self, videos: Sequence[str]) -> None:
        if not videos:
            return
        here = f"video_id IN {quoted(videos)}"
        tables = [name for name in self._db.names() if name == "evidence" or name.startswith("vectors_")]
        for name in (*tables, "clips", "videos"):
            self._db.delete(name, here)
        for video in videos:
            self._status.pop(video, None)
            self._stages.pop(video, None)
            self._clips.pop(video, None)

    def _erase_sources(self, sources: set[str]) -> None:
        if sources:
            self._db.delete("passages", f"source_id IN {quoted(sorted(sources))}")
            self._sources -= sources

    # Committing

    def _flush_if_full(self) -> None:
        waiting = sum(rows.num_rows for rows in self._passage_buffer)
        if waiting + len(self._file_buffer) + len(self._problem_buffer) >= BUFFERED_ROWS:
            self.flush()

    def flush(self) -> None:
        """Commit what waits in memory: passages first, then the files that make them visible."""
        import pyarrow as pa

        if self._passage_buffer:
            self._db.add("passages", pa.concat_tables(self._passage_buffer))
            self._passage_buffer = []
        if self._file_buffer:
            paths = [schema.path_bytes(path) for path in self._file_buffer]
            self._db.delete("files", f"path IN {quoted_bytes(paths)}")
            self._db.add("files", schema.file_rows(self._file_buffer.values()))
            self._file_buffer = {}
        if self._problem_buffer:
            paths = [schema.path_bytes(path) for path in self._problem_buffer]
            self._db.delete("problems", f"path IN {quoted_bytes(paths)}")
            self._db.add("problems", schema.problem_rows(self._problem_buffer.values()))
            self._problem_paths |= set(self._problem_buffer)
            self._problem_buffer = {}

    def maintain(self) -> None:
        """Bring the full-text indexes up to date, merge small fragments, remove old versions."""
        self.flush()
        maintain(self._db)

    def close(self) -> None:
        """Commit what waits and give the lock back."""
        try:
            self.flush()
        finally:
            self._lock.release()

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
            return
        # What failed may fail again here; the first failure is the one to tell.
        try:
            self.close()
        except (LibraryCorrupt, OSError):
            return
