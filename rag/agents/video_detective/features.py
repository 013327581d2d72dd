"""One video of a library as VideoDetective sees it: stored frames, segments, their graph, and the words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import Clip, Evidence, Video
from localization.affinity import affinity_graph, centred
from localization.lexical import Source
from localization.sampling import midpoints, nearest_frames
from localization.segments import Segments, cut_segments, sampled
from rag.agents.video_detective.settings import DetectiveSettings
from rag.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from rag.library import Library

SOURCES: dict[str, Source] = {"subtitle": "asr", "asr": "asr", "ocr": "ocr", "caption": "caption"}
"""Kind of evidence to the paper's source. Subtitles are what was said; chapters and tags are neither."""
TIME_STEP = 1e-6


@dataclass(frozen=True, slots=True)
class VideoFeatures:
    """`times`: float64 (n,) of all stored frames, rising. `vectors`: float32 (n, d); d = 0 without any."""

    video: Video
    path: str
    clips: tuple[Clip, ...]
    times: NDArray[np.float64]
    vectors: NDArray[np.float32]
    segments: Segments
    graph: csr_array
    texts: tuple[Evidence, ...]
    """Of the kinds in `SOURCES`, in time order."""
    text_rows: NDArray[np.float64]
    """(t, text dim) unit rows of the different texts among them."""

    def inside(self, node: int) -> tuple[int, int]:
        """[first, last) of the stored frames in a segment."""
        edges = (self.segments.starts[node], self.segments.ends[node])
        first, last = (int(np.searchsorted(self.times, edge - TIME_STEP)) for edge in edges)
        return first, last

    def said(self, node: int) -> tuple[Evidence, ...]:
        """The words that overlap a segment."""
        start, end = float(self.segments.starts[node]), float(self.segments.ends[node])
        return tuple(text for text in self.texts if text.start < end and text.end > start)

    def clip_at(self, time: float) -> Clip:
        """The clip that has `time` seconds."""
        held = [clip for clip in self.clips if clip.start <= time + TIME_STEP]
        return held[-1] if held else self.clips[0]


def load_video_features(library: Library, video_id: str, settings: DetectiveSettings) -> VideoFeatures:
    """Read what is stored of a video. Raises `UsageError` for one of which nothing is stored."""
    reader = library.engine.reader
    video = reader.video(video_id)
    clips = tuple(reader.clips(video_id))
    if not clips:
        raise UsageError(f"{video.path}: nothing of it is in the library; index it first")
    duration = max(video.duration, max(clip.end for clip in clips))
    times, vectors = _frames(library, clips, duration, settings.rate)
    coarse = sampled(times, settings.rate)
    segments = cut_segments(
        times[coarse],
        vectors[coarse],
        end=max(duration, float(times[-1]) + 1.0 / settings.rate),
        similarity=settings.similarity,
        shortest=settings.shortest,
    )
    graph = affinity_graph(
        centred(segments.vectors) if settings.likeness == "centred" else segments.vectors,
        segments.centres,
        alpha=settings.alpha,
        tau=settings.tau,
        neighbours=settings.neighbours,
    )
    texts = [text for text in reader.evidence(video_id, 0.0, float("inf")) if text.kind in SOURCES]
    path = library.path_of(video_id)
    words = list(dict.fromkeys(text.text for text in texts))
    encoder = library.engine.text_encoder
    rows = np.asarray(encoder.encode_text(words) if words else np.zeros((0, encoder.dim)), np.float64)
    return VideoFeatures(video, path, clips, times, vectors, segments, graph, tuple(texts), rows)


def evenly(times: NDArray[np.float64], start: float, end: float, count: int) -> list[int]:
    """Indices of the frames nearest to the middles of `count` equal parts of [start, end) seconds, rising.

    `times`: float64 (n,) seconds of the frames, rising. At most `count` indices: parts may share a frame.
    """
    if not len(times) or count < 1:
        return []
    nearest = nearest_frames(times, midpoints(start, end, count, decimals=None))
    return sorted(set(nearest.tolist()))


def _frames(
    library: Library, clips: tuple[Clip, ...], duration: float, rate: float
) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """All stored frames of the clips; without pictures a grid of moments that no vector tells apart."""
    meta = library.engine.reader.meta
    stored = (
        library.engine.reader.frames([clip.clip_id for clip in clips]) if meta and meta.image_encoder else []
    )
    stored = [part for part in stored if len(part.times)]
    if not stored:
        return np.arange(0.0, max(duration, 1.0 / rate), 1.0 / rate), np.zeros(
            (max(1, int(np.ceil(duration * rate))), 0), np.float32
        )
    times = np.concatenate([part.times for part in stored])
    vectors = np.concatenate([part.vectors for part in stored])
    order = np.argsort(times, kind="stable")
    fresh = np.concatenate([[True], np.diff(times[order]) > 0])
    return times[order][fresh], vectors[order][fresh]
