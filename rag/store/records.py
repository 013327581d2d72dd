"""What the library keeps and gives back, beside the records that all packages share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from corpora.kinds import FileKind
from corpora.records import Clip, SubtitleTrack

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.records import Problem

SCHEMA = 5
"""Version of `head.json` and of the tables; a library with another one is refused."""

FileState = Literal["ok", "missing", "changed", "unreadable"]
"""A path, against what was indexed from it."""


@dataclass(frozen=True, slots=True)
class EncoderRef:
    """The encoder that made the vectors of a library: another one is refused."""

    name: str
    fingerprint: str
    """Hash over weights, preprocessing, backend, dtype and batch shape."""
    dim: int
    backend: str = ""
    batch: int = 0
    weights: str = ""
    """Hash of the weight files."""


@dataclass(frozen=True, slots=True)
class NullScores:
    """Scores that unrelated texts reach among clips, by how many clips are searched (`rag.null_scores`)."""

    sizes: tuple[int, ...]
    """Clips, rising; the last is all that there were."""
    locations: tuple[float, ...]
    """Median of the texts' best scores, for each size."""
    spreads: tuple[float, ...]
    """Their standard deviation, by robust estimates; 0 where they have none."""


PULLED = "pulled.from"
"""In `Meta.settings`: the address on a store that a library was copied from; its files may be elsewhere."""
EXCLUDED = "exclude"
"""In the stages of a video: the globs that left files out when it was indexed, by a setting or an option."""
SCORE_MEASURES = "null/2"
"""Version of what is measured of image scores (`rag.null_scores`)."""


@dataclass(frozen=True, slots=True)
class ScoreCalibration:
    """How scores of the library's image encoder become relevance."""

    version: str
    """`SCORE_MEASURES` of the program that measured."""
    content: str
    """Hash over the clips that it was measured on."""
    centre: tuple[float, ...]
    """Mean vector of the unrelated texts, (dim,)."""
    image: NullScores | None
    """The scores of frames; None where there are none."""


@dataclass(frozen=True, slots=True)
class Meta:
    """What was chosen once, before the first video, and holds for the library's life; and its calibration."""

    image_encoder: EncoderRef | None
    """None: text evidence alone, no images."""
    text_encoder: EncoderRef
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The settings that decide what is stored, as plain JSON values."""
    library_id: str = ""
    """Made by the writer when the library is made; empty until then."""
    calibration: ScoreCalibration | None = None
    """Measured at the end of a run of indexing; None before, and without an image encoder."""


@dataclass(frozen=True, slots=True)
class FileRow:
    """One path. Two paths of the same bytes have one `content_id`."""

    path: str
    content_id: str
    """The `video_id` of a video, the `source_id` of a passages file: the hash of the content."""
    kind: FileKind
    size: int
    mtime_ns: int
    ctime_ns: int
    stamp: str


TAKEN_OUT = "taken out"
"""Stamp of the paths of a document that a repair took out, until it is indexed again."""


def document_paths(rows: Iterable[FileRow]) -> dict[str, list[str]]:
    """The paths of each document's content, without those that were taken out."""
    paths: dict[str, list[str]] = {}
    for row in rows:
        if row.kind == "passages" and row.stamp != TAKEN_OUT:
            paths.setdefault(row.content_id, []).append(row.path)
    return paths


FileProgress = Literal["indexed", "partly", "failed"]


@dataclass(frozen=True, slots=True)
class FileStatus:
    """A file that was indexed, or was to be: how much of it the library has, and why not all."""

    path: str
    status: FileProgress
    reason: str
    """Why it is not indexed whole, and what was done; empty where it is."""
    state: FileState | None
    """The state of the file now, against what was indexed; None where nothing of it is indexed."""
    copy_of: str = ""
    """The first path that has the same content, byte for byte; empty for that one itself."""
    subtitles: tuple[SubtitleTrack, ...] = ()
    """Those of a video, beside it and in it."""


class NotedProblem(NamedTuple):
    """What was wrong with a file, and the stamp that it had then."""

    problem: Problem
    stamp: str


def clip_spans(duration: float, clip_seconds: float, min_last: float) -> list[tuple[float, float]]:
    """Half-open spans of `clip_seconds` over [0, duration); a last one under `min_last` is merged.

    EgoFact, section 2.1: uniform 30-second clips; the merge is ours.
    """
    if duration <= 0:
        return []
    count = max(1, math.ceil(round(duration / clip_seconds, 9)))
    if count > 1 and duration - (count - 1) * clip_seconds < min_last:
        count -= 1
    return [(k * clip_seconds, (k + 1) * clip_seconds if k + 1 < count else duration) for k in range(count)]


@lru_cache(maxsize=1000)
def clips_of_video(video_id: str, duration: float, clip_seconds: float, min_last: float) -> tuple[Clip, ...]:
    """The clips of a video, as of `clip_spans`, in order of time."""
    spans = clip_spans(duration, clip_seconds, min_last)
    return tuple(Clip(clip_id(video_id, k), video_id, *span) for k, span in enumerate(spans))


def clip_id(video_id: str, index: int) -> str:
    """The id of a clip of a video, counted from 0."""
    return f"{video_id}:{index:05d}"


@dataclass(frozen=True, slots=True)
class ClipFrames:
    """A clip and its frame vectors.

    `times`: float64 (m,) seconds, rising. `rows`: (m, d) unit rows, one for each time: float32 as they were
    encoded, or float16 as they are stored. `clip_vector`: float32 (d,), unit, of what was read back rounded
    to float16 too.
    """

    clip: Clip
    times: NDArray[np.float64]
    rows: NDArray[np.float32] | NDArray[np.float16]
    clip_vector: NDArray[np.float32]

    @classmethod
    def bare(cls, clip: Clip) -> ClipFrames:
        """A clip without vectors: without an image, or of a library without an image encoder."""
        import numpy as np

        none = np.empty(0, np.float32)
        return cls(clip, np.empty(0), none, none)

    @property
    def vectors(self) -> NDArray[np.float32]:
        """`rows` as float32 (m, d): converted each time, so that a hundred clips are not held twice."""
        return self.rows.astype("float32", copy=False)


@dataclass(frozen=True, slots=True)
class Hit:
    """One row found by a search, with its score."""

    key: str
    """clip_id, evidence_id or passage_id."""
    score: float
    """Cosine, or BM25, rounded to 6 decimals."""


def best_hits(hits: Iterable[Hit]) -> list[Hit]:
    """Best first, ties by key; of equal keys the best."""
    best: dict[str, Hit] = {}
    for hit in hits:
        if hit.key not in best or hit.score > best[hit.key].score:
            best[hit.key] = hit
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.key))


@dataclass(frozen=True, slots=True)
class Removed:
    """What went: paths, and the contents whose last path they were."""

    paths: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()
    """Video ids."""
    sources: tuple[str, ...] = ()
    """Ids of passage sources."""


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts and sizes of a library."""

    files: int
    videos: int
    taken_out: int
    """Videos and documents that are to be indexed again, because a repair took out what they had."""
    video_hours: float
    clips: int
    evidence: int
    """Text spans of videos."""
    passages: int
    documents: int
    problems: int
    bytes: int
    """Size of the whole library folder."""
    photographs: int = 0
    """Photographs that are complete; they do not count as videos."""
