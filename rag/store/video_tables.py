"""The writer's videos: `pending` before the first row, `ready` after the last, vectors before clips."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from corpora.records import Clip, Evidence, Shot, SoundTrack, Video
from rag.store import schema
from rag.store.database import Database, quoted
from rag.store.measures import MEASURED_TABLES, Fingerprint, fingerprint_rows, shot_rows, sound_track_rows
from rag.store.records import ClipFrames, EncoderRef

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def replace_sounds(
    db: Database,
    video_id: str,
    clips: Sequence[Clip],
    vectors: Sequence[NDArray[np.floating[Any]]],
    encoder: EncoderRef,
) -> None:
    """Replace the audio embeddings of a video, unit float (dim,) for each clip, in the space of `encoder`."""
    name, here = schema.sounds_table(encoder), f"video_id IN {quoted([video_id])}"
    if db.has(name) and db.rows(name, ["clip_id"], here).num_rows:
        db.delete(name, here)
    if clips:
        db.create(name, schema.sounds_schema(encoder.dim))
        db.add(name, schema.sound_rows(clips, vectors, encoder.dim))


class VideoTables:
    """The tables of videos, clips, vectors, text spans and measurements."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.status: dict[str, str] = {}
        self.stages: dict[str, dict[str, Any]] = {}
        self._clips: dict[str, set[str]] = {}
        for row in db.rows("videos", ["video_id", "status", "stages"]).to_pylist():
            self.status[row["video_id"]] = row["status"]
            self.stages[row["video_id"]] = json.loads(row["stages"])

    def begin(self, video: Video) -> None:
        """Record a video as pending."""
        self._put(video, "pending", self.stages.get(video.video_id, {}))

    def finish(self, video: Video, stages: Mapping[str, Any]) -> None:
        """Record a video as ready, with its stages."""
        self._require_pending(video.video_id)
        self._put(video, "ready", stages)

    def _put(self, video: Video, status: str, stages: Mapping[str, Any]) -> None:
        rows = schema.video_rows(video, status, stages, time.time_ns())
        if video.video_id in self.status:
            self._db.upsert("videos", "video_id", rows)
        else:
            self._db.add("videos", rows)
        self.status[video.video_id] = status
        self.stages[video.video_id] = dict(stages)
        self._clips.pop(video.video_id, None)

    def _require_pending(self, video_id: str) -> None:
        if self.status.get(video_id) != "pending":
            raise ValueError(f"begin_video comes first: {video_id}")

    def committed_clips(self, video_id: str, encoder: EncoderRef | None) -> list[ClipFrames]:
        """Clips of a pending video that are already written."""
        import numpy as np

        here = f"video_id IN {quoted([video_id])}"
        rows = self._db.rows("clips", ["clip_id", "video_id", "start", "end", "pixels"], here).to_pylist()
        whole = {row["clip_id"] for row in rows}
        modality = dict.fromkeys(whole, "video")
        if encoder is not None:
            name = schema.vectors_table(encoder)
            vectors = self._db.rows(name, ["clip_id", "modality"], here).to_pylist()
            modality = {row["clip_id"]: row["modality"] for row in vectors}
            self._delete_clips(name, modality.keys() - whole)
            whole &= modality.keys()
        self._delete_clips("clips", {row["clip_id"] for row in rows} - whole)
        self._clips[video_id] = set(whole)
        dim = encoder.dim if encoder else 0
        none, zero = np.empty((0, dim), np.float32), np.zeros(dim, np.float32)
        return [
            ClipFrames(schema.clip_of(row), np.empty(0), none, zero, row["pixels"], modality[row["clip_id"]])
            for row in sorted(rows, key=lambda row: (row["start"], row["clip_id"]))
            if row["clip_id"] in whole
        ]

    def add_clips(self, clips: Sequence[ClipFrames], encoder: EncoderRef | None) -> None:
        """`encoder` None: identity and times alone."""
        vectors = None if encoder is None else schema.vector_rows(clips, encoder.dim)
        self._drop_known([c.clip for c in clips], encoder)
        if encoder is not None:
            self._db.add(schema.vectors_table(encoder), vectors)
        self._db.add("clips", schema.clip_rows(clips))
        for c in clips:
            self._clips[c.clip.video_id].add(c.clip.clip_id)

    def _drop_known(self, clips: Sequence[Clip], encoder: EncoderRef | None) -> None:
        for video_id in {clip.video_id for clip in clips}:
            self._require_pending(video_id)
            if video_id not in self._clips:
                self.committed_clips(video_id, encoder)
        known = {c.clip_id for c in clips} & {c for v in {c.video_id for c in clips} for c in self._clips[v]}
        # The clip goes first: vectors without a clip are what a kill leaves, and what the next run sweeps.
        self._delete_clips("clips", known)
        for name in self._db.names():
            if schema.is_clip_vectors(name):
                self._delete_clips(name, known)

    def _delete_clips(self, table: str, clip_ids: set[str]) -> None:
        if clip_ids:
            self._db.delete(table, f"clip_id IN {quoted(sorted(clip_ids))}")

    def put_sounds(
        self,
        video_id: str,
        clips: Sequence[Clip],
        vectors: Sequence[NDArray[np.floating[Any]]],
        encoder: EncoderRef,
    ) -> None:
        """Replace the sound vectors of a video's clips, each (dim,) float32."""
        self._require_pending(video_id)
        replace_sounds(self._db, video_id, clips, vectors, encoder)

    def put_evidence(
        self, video_id: str, spans: Sequence[Evidence], vectors: NDArray[np.floating[Any]], dim: int
    ) -> None:
        """Replace a video's text spans and their vectors (n, dim) float32."""
        self._require_pending(video_id)
        rows = schema.evidence_rows(video_id, spans, vectors, dim)
        here = f"video_id IN {quoted([video_id])}"
        if self._db.rows("evidence", ["evidence_id"], here).num_rows:
            self._db.delete("evidence", here)
        self._db.add("evidence", rows)

    def record(self, video_id: str) -> Video:
        """The stored record of a video."""
        columns = schema.plain_schemas()["videos"].names
        rows = self._db.rows("videos", columns, f"video_id IN {quoted([video_id])}").to_pylist()
        if not rows:
            raise KeyError(video_id)
        return schema.video_of(rows[0])

    def put_measures(
        self,
        video_id: str,
        shots: Sequence[Shot],
        sound: SoundTrack | None,
        fingerprint_: Fingerprint | None,
        stages: Collection[str],
    ) -> None:
        """Replace a video's shots, sound track and fingerprint, and record their stages."""
        self._require_pending(video_id)
        here = f"video_id IN {quoted([video_id])}"
        rows: dict[str, Any] = {}
        if "shots" in stages:
            rows["shots"] = shot_rows(shots) if shots else None
            rows["fingerprints"] = fingerprint_rows(fingerprint_) if fingerprint_ is not None else None
        if "sound" in stages:
            rows["sound_tracks"] = sound_track_rows(sound) if sound is not None else None
        for name, table in rows.items():
            if self._db.rows(name, ["video_id"], here).num_rows:
                self._db.delete(name, here)
            if table is not None:
                self._db.add(name, table)

    def frame_vectors(self, video_id: str, encoder: EncoderRef) -> tuple[Any, Any]:
        """Times float64 (n,) and unit rows float32 (n, dim) of all frames of a video, in order of time."""
        import numpy as np

        here = f"video_id IN {quoted([video_id])}"
        table = self._db.rows(schema.vectors_table(encoder), ["clip_id", "frames", "times"], here)
        order = np.argsort(np.array(table["clip_id"].to_pylist(), str), kind="stable")
        times, rows = [np.empty(0)], [np.empty((0, encoder.dim), np.float32)]
        for place in order.tolist():
            times.append(np.asarray(table["times"][place].values.to_numpy(zero_copy_only=False), np.float64))
            flat = table["frames"][place].values.flatten().to_numpy(zero_copy_only=False)
            rows.append(flat.reshape(-1, encoder.dim).astype(np.float32))
        return np.concatenate(times), np.concatenate(rows)

    def mark_removing(self, videos: Sequence[str]) -> None:
        """From here on the removal is certain: a killed one is finished by the next writer."""
        if videos:
            self._db.update("videos", f"video_id IN {quoted(videos)}", {"status": "removing"})
            self.status.update(dict.fromkeys(videos, "removing"))

    def erase(self, videos: Sequence[str]) -> None:
        """Delete everything of `videos`, their own row last, so that a kill leaves no row without one."""
        if not videos:
            return
        here = f"video_id IN {quoted(videos)}"
        vectors = [name for name in self._db.names() if schema.is_clip_vectors(name)]
        for name in ("evidence", *vectors, *MEASURED_TABLES, "clips", "videos"):
            if self._db.has(name):
                self._db.delete(name, here)
        for video in videos:
            self.status.pop(video, None)
            self.stages.pop(video, None)
            self._clips.pop(video, None)
