"""The writer's tables: files and problems by path, passages by source, videos with their vectors.

Clips are written as they come, so that a killed run goes on behind the last commit. All else of a video waits
in memory until it is finished, so that no commit has half of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from corpora.records import Clip, Evidence, Passage, Shot, SoundTrack, Video
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

    def __contains__(self, path: str) -> bool:
        return path in self._held

    @property
    def waiting(self) -> int:
        """Rows that wait for `flush`."""
        return len(self._waiting)

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
        self._delete(gone)
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

    def _delete(self, paths: set[str]) -> None:
        if stored := sorted(paths & self._stored):
            self._db.delete(self._name, f"path IN {quoted_bytes(map(os.fsencode, stored))}")
            self._stored -= paths


class PassageTable:
    """Passages waiting to be written, and the sources that are written."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._waiting: list[Any] = []
        self.sources: set[str] = set()
        if db.has("passages"):
            self.sources = set(db.rows("passages", ["source_id"])["source_id"].to_pylist())

    @property
    def waiting(self) -> int:
        """Passages that wait for `flush`."""
        return sum(rows.num_rows for rows in self._waiting)

    def add(
        self, source_id: str, passages: Sequence[Passage], vectors: NDArray[np.floating[Any]], dim: int
    ) -> None:
        """Queue the passages of a source with their vectors, unit rows, float (n, dim), one for each."""
        rows = schema.passage_rows(source_id, passages, vectors, dim)
        if rows.num_rows:
            self._waiting.append(rows)
            self.sources.add(source_id)

    def flush(self) -> None:
        """Write the queued passages in one append."""
        import pyarrow as pa

        if self._waiting:
            self._db.add("passages", pa.concat_tables(self._waiting))
            self._waiting = []

    def erase(self, sources: set[str]) -> None:
        """Delete all passages of `sources`; what waits must have been flushed."""
        if sources:
            self._db.delete("passages", f"source_id IN {quoted(sorted(sources))}")
            self.sources -= sources


def _of_videos(videos: Iterable[str]) -> str:
    """SQL condition for the rows of some videos."""
    return f"video_id IN {quoted(videos)}"


def _replace(db: Database, name: str, video_id: str, rows: Any, *, new: bool = False) -> None:
    """Put `rows`, which may be None, in place of those of a video; a `new` one has none yet."""
    here = _of_videos([video_id])
    if not new and db.has(name) and db.rows(name, ["video_id"], here).num_rows:
        db.delete(name, here)
    if rows is not None:
        db.create(name, rows.schema)
        db.add(name, rows)


class VideoWriter:
    """The part of `Writer` that writes videos, clips, vectors, text spans and measurements."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._complete: dict[str, bool] = {}
        """Every video of the table; one that is not complete was begun and not finished."""
        self._stages: dict[str, dict[str, Any]] = {}
        self._clips: dict[str, set[str]] = {}
        self._begun: dict[str, dict[str, Any]] = {}
        """Videos that are being written: by table the rows that are written when they are finished."""
        self._new: set[str] = set()
        """Those of them of which the library had no row: no table need be looked at."""
        self._paths: dict[str, str] = {}
        """The path in the row of each video."""
        for row in db.rows("videos", ["video_id", "complete", "stages", "path"]).to_pylist():
            self._complete[row["video_id"]] = row["complete"]
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
        """Each complete video's stages, as `finish_video` was given them."""
        return {video: stages for video, stages in self._stages.items() if self._complete[video]}

    def incomplete(self) -> frozenset[str]:
        """Videos that were begun and not finished."""
        return frozenset(video for video, complete in self._complete.items() if not complete)

    def video(self, video_id: str) -> Video:
        """The record of a video that was begun. Raises KeyError for an unknown one."""
        rows = self._db.rows("videos", schema.column_names("videos"), _of_videos([video_id])).to_pylist()
        if not rows:
            raise KeyError(video_id)
        return schema.video_of(rows[0])

    def begin_video(self, video: Video) -> None:
        """Begin, or go on, to write a video, which readers see from `finish_video` on. Its clips stay.

        A complete one is seen as it was until then. Raises ValueError before `set_meta`, as do all that write
        clips, evidence or passages.
        """
        self._require_meta()
        self._begun[video.video_id] = {}
        if video.video_id not in self._complete:
            self._new.add(video.video_id)
            self._put_videos({video: {}}, complete=False)

    def finish_video(self, video: Video, stages: Mapping[str, Any]) -> None:
        """Write all that waits of a video, in place of what it had, and commit, so that readers see it.

        `stages`: JSON values by stage name. Raises ValueError for a video that was not begun.
        """
        self._require_begun(video.video_id)
        for name, rows in self._begun[video.video_id].items():
            _replace(self._db, name, video.video_id, rows, new=video.video_id in self._new)
        self._put_videos({video: stages}, complete=True)
        self.flush()

    def put_stages(self, stages: Mapping[str, Mapping[str, Any]]) -> None:
        """Put `stages` in place of those of complete videos, by their ids, of which there is at least one.

        They keep when they were indexed, and are committed with what comes next. Raises ValueError for a
        video that is not complete.
        """
        for video_id in stages:
            if not self._complete.get(video_id):
                raise ValueError(f"finish_video comes first: {video_id}")
        rows = self._db.rows("videos", schema.column_names("videos"), _of_videos(stages)).to_pylist()
        given = {schema.video_of(row): stages[row["video_id"]] for row in rows}
        self._put_videos(
            given, complete=True, indexed_at={row["video_id"]: row["indexed_at"] for row in rows}
        )

    def rename_videos(
        self, videos: Mapping[Video, tuple[str, str]], vectors: NDArray[np.floating[Any]]
    ) -> None:
        """Put new records of complete videos in place of theirs, and with each another text of kind `tag`.

        `videos`: with the old text and the new one, of the whole video; empty for none. `vectors`: unit rows,
        float (n, text dim), for each video that of the new text.
        """
        import numpy as np
        import pyarrow as pa

        dim, where = self._require_meta().text_encoder.dim, _of_videos(video.video_id for video in videos)
        rows = self._db.rows("evidence", schema.column_names("evidence"), where)
        held = schema.column_matrix(rows["vector"], dim)
        spans: dict[str, list[tuple[Evidence, NDArray[Any]]]] = {video.video_id: [] for video in videos}
        for row, vector in zip(rows.drop(["vector"]).to_pylist(), held, strict=True):
            spans[row["video_id"]].append((schema.evidence_of(row), vector))
        written = []
        for (video, (old, new)), vector in zip(videos.items(), vectors, strict=True):
            kept = [each for each in spans[video.video_id] if (each[0].kind, each[0].text) != ("tag", old)]
            if new:
                kept.append((Evidence(video.video_id, 0.0, video.duration, "tag", new), vector))
            if kept:
                own, matrix = zip(*kept, strict=True)
                written.append(schema.evidence_rows(video.video_id, own, np.stack(matrix), dim))
        if rows.num_rows:
            self._db.delete("evidence", where)
        if written:
            self._db.add("evidence", pa.concat_tables(written))
        self._put_videos({video: self._stages[video.video_id] for video in videos}, complete=True)
        self.flush()

    def put_copies(
        self,
        videos: Mapping[Video, Mapping[str, Any]],
        tables: Iterable[tuple[str, Any]],
        *,
        replaced: Collection[str] = (),
    ) -> None:
        """Add complete videos made elsewhere, with few writes: what was begun of them is erased first.

        `videos`: the stages of each, as `finish_video` takes them; `tables`: names, and Arrow tables of rows
        of these videos as they are stored. `replaced`: complete videos that these take the place of. Raises
        ValueError for any other video that is complete.
        """
        self._require_meta()
        known = [video.video_id for video in videos if video.video_id in self._complete]
        if not {video_id for video_id in known if self._complete[video_id]} <= set(replaced):
            raise ValueError("a complete video is not replaced")
        self._erase_videos(known)
        try:
            for name, rows in tables:
                self._db.create(name, rows.schema)
                self._db.add(name, rows)
        except Exception:
            # Where the library they come from is cleaned meanwhile, they are copied again.
            self._erase_videos([video.video_id for video in videos])
            raise
        self._put_videos(videos, complete=True)

    def _put_videos(
        self,
        videos: Mapping[Video, Mapping[str, Any]],
        *,
        complete: bool,
        indexed_at: Mapping[str, int] | None = None,
    ) -> None:
        """`indexed_at`: by their ids, in ns since 1970; default: now."""
        import pyarrow as pa

        at = indexed_at or dict.fromkeys((video.video_id for video in videos), time.time_ns())
        rows = pa.concat_tables(
            [schema.video_rows(v, stages, at[v.video_id], complete=complete) for v, stages in videos.items()]
        )
        if any(video.video_id in self._complete for video in videos):
            self._db.upsert("videos", "video_id", rows)
        else:
            self._db.add("videos", rows)
        for video, stages in videos.items():
            self._complete[video.video_id] = complete
            self._paths[video.video_id] = video.path
            self._stages[video.video_id] = dict(stages)
            if complete:
                self._clips.pop(video.video_id, None)
                self._begun.pop(video.video_id, None)
                self._new.discard(video.video_id)

    def _require_begun(self, video_id: str) -> None:
        if video_id not in self._begun:
            raise ValueError(f"begin_video comes first: {video_id}")

    def committed_clips(self, video_id: str) -> list[ClipFrames]:
        """Clips that are there with their vectors, in time order, without the vectors themselves.

        Those without, of an earlier encoder, are deleted. The records are bare.
        """
        encoder = self._require_meta().image_encoder
        if video_id in self._new and video_id not in self._clips:
            self._clips[video_id] = set()
            return []
        here = _of_videos([video_id])
        rows = self._db.rows("clips", ["clip_id", "video_id", "start", "end", "pixels"], here).to_pylist()
        whole = {row["clip_id"] for row in rows}
        if encoder is not None:
            name = schema.vectors_table(encoder)
            held = set(self._db.rows(name, ["clip_id"], here)["clip_id"].to_pylist())
            self._delete_clips(name, held - whole)
            whole &= held
        self._delete_clips("clips", {row["clip_id"] for row in rows} - whole)
        self._clips[video_id] = set(whole)
        return [
            ClipFrames.bare(schema.clip_of(row), row["pixels"])
            for row in sorted(rows, key=lambda row: (row["start"], row["clip_id"]))
            if row["clip_id"] in whole
        ]

    def add_clips(self, clips: Sequence[ClipFrames]) -> None:
        """Commit clips with their vectors; a clip that is there already is replaced.

        One without (`ClipFrames.bare`) has no image, or is of a library without an image encoder. Raises
        ValueError for shapes that do not fit the encoder, or for a video that was not begun.
        """
        encoder = self._require_meta().image_encoder
        seen = [c for c in clips if c.clip_vector.size]
        if seen and encoder is None:
            raise ValueError("this library has no image encoder")
        vectors = schema.vector_rows(seen, encoder.dim) if seen and encoder is not None else None
        if not clips:
            return
        self._drop_known([c.clip for c in clips])
        if vectors is not None and encoder is not None:
            self._db.add(schema.vectors_table(encoder), vectors)
        self._db.add("clips", schema.clip_rows(clips))
        for c in clips:
            self._clips[c.clip.video_id].add(c.clip.clip_id)
        self.flush()

    def _drop_known(self, clips: Sequence[Clip]) -> None:
        for video_id in {clip.video_id for clip in clips}:
            self._require_begun(video_id)
            if video_id not in self._clips:
                self.committed_clips(video_id)
        known = {c.clip_id for c in clips} & {c for v in {c.video_id for c in clips} for c in self._clips[v]}
        self._delete_clips("clips", known)
        for name in self._db.names():
            if schema.is_clip_vectors(name):
                self._delete_clips(name, known)

    def _delete_clips(self, table: str, clip_ids: set[str]) -> None:
        if clip_ids:
            self._db.delete(table, f"clip_id IN {quoted(sorted(clip_ids))}")

    def put_evidence(
        self, video_id: str, spans: Sequence[Evidence], vectors: NDArray[np.floating[Any]]
    ) -> None:
        """Put these spans in place of all that the video has, once it is finished.

        `vectors`: unit rows, float (n, text dim), one for each span; stored as float16. Raises ValueError for
        another dimension, for values that are not finite, or for a video that was not begun.
        """
        dim = self._require_meta().text_encoder.dim
        self._require_begun(video_id)
        self._begun[video_id]["evidence"] = schema.evidence_rows(video_id, spans, vectors, dim)

    def put_measures(
        self, video_id: str, shots: Sequence[Shot] | None, sound: SoundTrack | None = None
    ) -> None:
        """Put these measurements in place of those that the video has; None leaves what it has.

        Of a video that is being written once it is finished, of a complete one with the next commit. Raises
        ValueError for a video that is neither begun nor complete.
        """
        if not self._complete.get(video_id):
            self._require_begun(video_id)
        rows = {} if sound is None else {"sound_tracks": schema.sound_track_rows(sound)}
        if shots is not None:
            rows["shots"] = schema.shot_rows(shots) if shots else None
        if video_id in self._begun:
            self._begun[video_id] |= rows
            return
        for name, own in rows.items():
            _replace(self._db, name, video_id, own)

    def _erase_videos(self, videos: Sequence[str]) -> None:
        """Delete everything of `videos`."""
        if not videos:
            return
        vectors = [name for name in self._db.names() if schema.is_clip_vectors(name)]
        for name in ("evidence", *vectors, *schema.MEASURED_TABLES, "clips", "videos"):
            if self._db.has(name):
                self._db.delete(name, _of_videos(videos))
        for video in videos:
            for held in (self._complete, self._paths, self._stages, self._clips, self._begun):
                held.pop(video, None)
            self._new.discard(video)


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
        self._done = set(db.rows(self._new, ["clip_id"])["clip_id"].to_pylist())

    def lacks(self, video_id: str) -> bool:
        """Whether clips of a video have no new vectors yet; those of a video come together."""
        rows = self._db.rows("clips", ["clip_id"], _of_videos([video_id]))
        return not self._done.issuperset(rows["clip_id"].to_pylist())

    def add(self, clips: Sequence[ClipFrames]) -> None:
        """Commit new vectors of clips that have none yet."""
        if clips:
            self._db.add(self._new, schema.vector_rows(clips, self._dim))
            self._done |= {c.clip.clip_id for c in clips}
        self._commit()

    def commit(self) -> None:
        """Make the library one of the new encoder; the old vectors go."""
        if self._old is not None and self._old != self._new:
            self._db.drop(self._old)
        self._db.meta = self.meta
        self._commit()
