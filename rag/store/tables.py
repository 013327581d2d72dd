"""The writer's tables: files and problems by path, and videos with their clips, vectors, texts and
measurements, each video as a whole.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from corpora.records import Evidence, Shot, SoundTrack, Video
from rag.store import schema
from rag.store.database import Database
from rag.store.records import ClipFrames, EncoderRef, Meta
from rag.store.schema import quoted, quoted_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Row = TypeVar("Row")


class PathTable(Generic[Row]):
    """Rows by path. What was put waits in memory for `flush`."""

    def __init__(
        self,
        db: Database,
        name: str,
        read: Callable[[Mapping[str, Any]], Row],
        table: Callable[[Iterable[Row]], Any],
    ) -> None:
        self._db = db
        self._name = name
        self._table = table
        rows = db.rows(name, schema.column_names(name)).to_pylist()
        self._held: dict[str, Row] = {os.fsdecode(row["path"]): read(row) for row in rows}
        self._stored = set(self._held)
        self._waiting: set[str] = set()

    def rows(self) -> dict[str, Row]:
        """Every row by path, queued changes included."""
        return dict(self._held)

    def get(self, path: str) -> Row | None:
        """The row of a path, a queued one too."""
        return self._held.get(path)

    def put(self, path: str, row: Row) -> None:
        """Queue a row for a path; nothing where it is equal to the stored one."""
        if self._held.get(path) != row:
            self._held[path] = row
            self._waiting.add(path)

    def forget(self, paths: Iterable[str]) -> None:
        """Remove the rows of some paths: stored ones now, before any `flush`."""
        gone = set(paths) & self._held.keys()
        if stored := sorted(gone & self._stored):
            self._db.delete(self._name, f"path IN {quoted_bytes(map(os.fsencode, stored))}")
        self._stored -= gone
        self._waiting -= gone
        for path in gone:
            del self._held[path]

    def flush(self) -> None:
        """Write the queued rows."""
        if self._waiting:
            rows = self._table([self._held[path] for path in sorted(self._waiting)])
            if self._waiting.isdisjoint(self._stored):
                self._db.add(self._name, rows)
            else:
                self._db.upsert(self._name, "path", rows)
            self._stored |= self._waiting
            self._waiting = set()


def _of_videos(videos: Iterable[str]) -> str:
    """SQL condition for the rows of some videos."""
    return f"video_id IN {quoted(videos)}"


class VideoWriter:
    """The part of `Writer` that writes videos, clips, vectors, text spans and measurements."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._stages: dict[str, dict[str, Any]] = {}
        """Stages of every video, by its id."""
        self._paths: dict[str, str] = {}
        """The path in the row of each video."""
        for row in db.rows("videos", ["video_id", "stages", "path"]).to_pylist():
            self._stages[row["video_id"]] = schema.stages_of(row)
            self._paths[row["video_id"]] = os.fsdecode(row["path"])

    @property
    def meta(self) -> Meta | None:
        """Encoders and settings; None in a new library, until `set_meta`."""
        return self._db.meta

    def _require_meta(self) -> Meta:
        if self.meta is None:
            raise ValueError("set_meta comes before the first row")
        return self.meta

    def flush(self) -> None:
        """Commit what was written."""
        self._db.commit()

    def stage_fingerprints(self) -> dict[str, dict[str, Any]]:
        """Each video's stages, as `put_video` was given them."""
        return dict(self._stages)

    def videos(self, ids: Iterable[str]) -> list[Video]:
        """The records of videos, of those that are known."""
        rows = self._db.rows("videos", schema.column_names("videos"), _of_videos(ids))
        return list(map(schema.video_of, rows.to_pylist()))

    def put_video(
        self,
        video: Video,
        stages: Mapping[str, Any],
        clips: Sequence[ClipFrames] = (),
        evidence: Sequence[Evidence] = (),
        vectors: NDArray[np.floating[Any]] | None = None,
        *,
        shots: Sequence[Shot] = (),
        sound: SoundTrack | None = None,
    ) -> None:
        """Put a video with all that it has in place of what it had; readers see it with the next commit.

        `stages`: JSON values by stage name. `clips`: their vectors are stored, of those that have some.
        `vectors`: unit rows, float (n, text dim), one for each span of `evidence`; stored as float16. Raises
        ValueError before `set_meta`, and for vectors of another shape or that are no numbers; then nothing is
        written.
        """
        meta, tables = self._require_meta(), list[tuple[str, Any]]()
        if seen := [clip for clip in clips if clip.clip_vector.size]:
            if meta.image_encoder is None:
                raise ValueError("this library has no image encoder")
            rows = schema.vector_rows(seen, meta.image_encoder.dim)
            tables.append((schema.vectors_table(meta.image_encoder), rows))
        if vectors is not None:
            rows = schema.evidence_rows(video.video_id, evidence, vectors, meta.text_encoder.dim)
            tables.append(("evidence", rows))
        tables.append(("shots", schema.shot_rows(shots)))
        if sound is not None:
            tables.append(("sound_tracks", schema.sound_track_rows(sound)))
        self.put_videos({video: stages}, tables)

    def put_videos(
        self, videos: Mapping[Video, Mapping[str, Any]], tables: Iterable[tuple[str, Any]]
    ) -> None:
        """Put several videos that were made elsewhere, each as `put_video` does.

        `tables`: names, and Arrow tables of rows of these videos as they are stored.
        """
        self._require_meta()
        self._erase_videos([video.video_id for video in videos if video.video_id in self._stages])
        try:
            for name, rows in tables:
                self._db.create(name, rows.schema)
                self._db.add(name, rows)
        except Exception:
            # Where the library they come from is cleaned meanwhile, they are copied again.
            self._erase_videos([video.video_id for video in videos])
            raise
        self._put_rows(videos)

    def put_stages(self, stages: Mapping[str, Mapping[str, Any]]) -> None:
        """Put `stages` in place of those of videos, by their ids, of which there is at least one.

        They keep when they were indexed, and are committed with what comes next.
        """
        rows = self._db.rows("videos", schema.column_names("videos"), _of_videos(stages)).to_pylist()
        given = {schema.video_of(row): stages[row["video_id"]] for row in rows}
        self._put_rows(given, {row["video_id"]: row["indexed_at"] for row in rows})

    def put_shots(self, video_id: str, shots: Sequence[Shot]) -> None:
        """Put the shots of a video in place of those that it has."""
        self._db.delete("shots", _of_videos([video_id]))
        self._db.add("shots", schema.shot_rows(shots))

    def rename_videos(self, videos: Iterable[Video]) -> None:
        """Put new records of videos in place of theirs, which keep when they were indexed, and commit."""
        given = {video: self._stages[video.video_id] for video in videos}
        held = self._db.rows("videos", ["video_id", "indexed_at"], _of_videos(v.video_id for v in given))
        self._put_rows(given, {row["video_id"]: row["indexed_at"] for row in held.to_pylist()})
        self.flush()

    def replace_tag(self, video: Video, old: str, new: str, vector: NDArray[np.floating[Any]]) -> None:
        """Put a text of kind `tag`, of the whole video, in place of another; empty for none.

        `vector`: that of the new text, unit float (dim,).
        """
        import numpy as np

        dim, where = self._require_meta().text_encoder.dim, _of_videos([video.video_id])
        rows = self._db.rows("evidence", schema.column_names("evidence"), where)
        texts = map(schema.evidence_of, rows.drop(["vector"]).to_pylist())
        held = zip(texts, schema.column_matrix(rows["vector"], dim), strict=True)
        kept = [(text, row) for text, row in held if (text.kind, text.text) != ("tag", old)]
        if new:
            kept.append((Evidence(video.video_id, 0.0, video.duration, "tag", new), vector))
        self._db.delete("evidence", where)
        if kept:
            spans, vectors = zip(*kept, strict=True)
            self._db.add("evidence", schema.evidence_rows(video.video_id, spans, np.stack(vectors), dim))

    def _put_rows(
        self, videos: Mapping[Video, Mapping[str, Any]], indexed_at: Mapping[str, int] | None = None
    ) -> None:
        """`indexed_at`: by their ids, in ns since 1970; default: now."""
        at = indexed_at or dict.fromkeys((video.video_id for video in videos), time.time_ns())
        rows = schema.video_rows(videos, at)
        if any(video.video_id in self._stages for video in videos):
            self._db.upsert("videos", "video_id", rows)
        else:
            self._db.add("videos", rows)
        for video, stages in videos.items():
            self._paths[video.video_id] = video.path
            self._stages[video.video_id] = dict(stages)

    def _erase_videos(self, videos: Sequence[str]) -> None:
        """Delete everything of `videos`."""
        if not videos:
            return
        vectors = [name for name in self._db.names() if schema.is_clip_vectors(name)]
        for name in ("evidence", *vectors, *schema.MEASURED_TABLES, "videos"):
            if self._db.has(name):
                self._db.delete(name, _of_videos(videos))
        for video in videos:
            self._stages.pop(video, None)
            self._paths.pop(video, None)


class EncoderSwitch:
    """Made by `Writer.switch_encoder`."""

    def __init__(self, db: Database, held: EncoderRef | None, meta: Meta, commit: Callable[[], None]) -> None:
        """`held`: the encoder until then. `meta`: what the library is made with from then on.

        `commit`: called for what was written.
        """
        assert meta.image_encoder is not None, "the encoder that is switched to"
        self._db = db
        self._commit = commit
        self.meta = meta
        self._dim = meta.image_encoder.dim
        self._new = schema.vectors_table(meta.image_encoder)
        self._old = schema.vectors_table(held) if held else None
        for name in db.names():
            # Left by a switch to yet another encoder that was begun and given up.
            if schema.is_clip_vectors(name) and name not in (self._old, self._new):
                db.drop(name)
        db.create(self._new, schema.arrow_schema("vectors", self._dim))
        self.done = set(db.rows(self._new, ["video_id"])["video_id"].to_pylist())
        """Videos that have new vectors; those of a video come together."""

    def add(self, clips: Sequence[ClipFrames]) -> None:
        """Commit new vectors of clips that have none yet."""
        if clips:
            self._db.add(self._new, schema.vector_rows(clips, self._dim))
        self._commit()

    def commit(self) -> None:
        """Make the library one of the new encoder; the old vectors go."""
        if self._old is not None and self._old != self._new:
            self._db.drop(self._old)
        self._db.meta = self.meta
        self._commit()
