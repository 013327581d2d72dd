"""The environment of EgoFact's solvers: clips and passages in a library, by the benchmark's own ids."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import Clip
from eval.tasks.egofact.records import ClipRow
from rag.answering import EVERYWHERE
from rag.errors import UsageError
from rag.library import Library
from rag.records import SearchFilter
from rag.relevance import ImageScoreCalibrator
from rag.retrieval import RetrievedClip
from rag.retrieval.ranking import clip_with_most, overlap
from rag.store.records import ClipFrames

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class Corpus:
    """What every solver reads from; it holds no question.

    Frame vectors of all clips are held in memory (15,000 frames: 12 MB).
    """

    rows: Sequence[ClipRow]
    folder: Path
    """The task's data; the rows' paths are relative to it."""
    library: Library

    @cached_property
    def clips(self) -> dict[str, Clip]:
        """Benchmark clip id to the library's clip, without those that are not indexed."""
        reader = self.library.engine.reader
        by_path: dict[str, list[Clip]] = {}
        for video in reader.videos():
            for path in reader.paths(video.video_id):
                by_path[os.path.realpath(path)] = reader.clips(video.video_id)
        found = {}
        for row in self.rows:
            held = by_path.get(os.path.realpath(self.folder / row.path))
            clip = clip_with_most(held, row.start, row.end) if held else None
            if clip is not None and overlap(clip.start, clip.end, row.start, row.end) > 0:
                found[row.clip_id] = clip
        return found

    @cached_property
    def names(self) -> dict[str, str]:
        """The library's clip id to the benchmark's."""
        return {clip.clip_id: name for name, clip in self.clips.items()}

    @cached_property
    def pool(self) -> SearchFilter:
        """What retrieval may find: the benchmark's clips alone (EgoFact, 2.1), also where the library
        holds other clips of their videos."""
        reader = self.library.engine.reader
        held = sum(len(reader.clips(video.video_id)) for video in reader.videos())
        if not held or held == len(self.names):
            return EVERYWHERE
        spans: dict[str, tuple[tuple[float, float], ...]] = {}
        for clip in self.clips.values():
            spans[clip.video_id] = (*spans.get(clip.video_id, ()), (clip.start, clip.end))
        return SearchFilter(spans=spans)

    @cached_property
    def frames(self) -> dict[str, ClipFrames]:
        """Benchmark clip id to its stored frame vectors (about 60 of 30 s)."""
        stored = self.library.engine.new_retriever().frames([clip.clip_id for clip in self.clips.values()])
        return {self.names[key]: frames for key, frames in stored.items()}

    @cached_property
    def scale(self) -> ImageScoreCalibrator:
        """Calibration of image scores."""
        tower = self.library.engine.tower
        if tower is None:
            raise UsageError("the library has no image embeddings; index it with an image encoder")
        return ImageScoreCalibrator(tower)

    def vector(self, words: str) -> NDArray[np.float32]:
        """Unit float32 (dim,) of a text in the space of the image embeddings.

        Raises `UsageError` where the library has none.
        """
        row: NDArray[np.float32] = self.scale.encode([words])[0]
        return row

    def sentence(self, words: str) -> NDArray[np.float64]:
        """Unit float64 (dim,) of a text in the space of sentences."""
        row: NDArray[np.float64] = self.library.engine.text_encoder.encode_text([words])[0].astype(np.float64)
        return row

    def path(self, clip: Clip, first: str | None = None) -> str:
        """The clip's file; where the corpus was moved after indexing, the one that is still there."""
        paths = [*([first] if first is not None else []), *self.library.engine.reader.paths(clip.video_id)]
        return next(filter(os.path.exists, paths), paths[0])

    def found(self, name: str, score: float = 1.0) -> RetrievedClip:
        """A clip as if retrieval had found it."""
        clip = self.clips[name]
        video = self.library.engine.reader.video(clip.video_id)
        return RetrievedClip(clip, self.path(clip, video.path), video.title, score, 1.0, 1.0, ())


def ranked(scores: Sequence[tuple[str, float]], count: int) -> list[tuple[str, float]]:
    """The best `count`, scores to 6 decimals, ties by name."""
    rounded = [(name, round(float(score), 6)) for name, score in scores]
    return sorted(rounded, key=lambda item: (-item[1], item[0]))[:count]
