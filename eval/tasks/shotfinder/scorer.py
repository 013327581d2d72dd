"""Whether a found frame is the one that was looked for: a model's word, CLIP's cosine, and the truth.

The paper asks a model with the description, the true frame and the found one
(section 4.4), and calls a find right where text and image match. The public code
passes a sample where either matches on any candidate. Both are kept apart here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import Frames
from eval.tasks.shotfinder.records import ShotQuery
from rag.agents.shotfinder.records import FoundShot
from rag.errors import FileProblem, ReasonerError, ReasonerUnreachable, UnreadableFile
from rag.reasoners.roles import MATCH_FRAME, ConstraintKind, MatchRequest, Reasoner, VideoView

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.library import Library

CLIP_THRESHOLD = 0.7
"""Appendix B: a similarity from here on counts as a match."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One found frame held against the query. None: that could not be compared."""

    text: bool | None
    """The model: subjects and actions of the description are there."""
    image: bool | None
    """The model: the same scene as the true frame."""
    constraint: bool | None
    """The model: what the constraint asks for is to be seen."""
    clip_image: float | None
    """Cosine with the true frame, and below with the description, in the library's picture space."""
    clip_text: float | None
    truth: bool | None
    """In the right shot of the right film."""
    moment: bool | None
    """In a shot that fits the description, whatever the constraint."""

    @property
    def strict(self) -> bool | None:
        """The paper's rule: text and image match. None where one of them was not compared."""
        return None if self.text is None or self.image is None else self.text and self.image

    @property
    def lenient(self) -> bool | None:
        """The public code's: either does. None where neither does and one of them was not compared."""
        if self.text or self.image:
            return True
        return None if self.text is None or self.image is None else False

    @property
    def by_clip(self) -> bool | None:
        """Appendix B: the similarity reaches 0.7."""
        return None if self.clip_image is None else self.clip_image >= CLIP_THRESHOLD


@dataclass
class FrameShelf:
    """Single frames of videos, as a reasoner takes them: stored vectors, or pixels."""

    library: Library
    pixels: bool
    encode: Callable[[NDArray[np.uint8]], NDArray[np.float32]]
    """uint8 (n, h, w, 3) to (n, d) in the library's picture space; for pictures that no video holds."""
    _vectors: dict[str, tuple[NDArray[np.float64], NDArray[np.float32]]] = field(default_factory=dict)

    @cached_property
    def _held(self) -> frozenset[str]:
        return frozenset(video.video_id for video in self.library.engine.reader.videos())

    def at(self, video_id: str, time: float) -> VideoView | None:
        """The stored frame nearest to `time`; None where the library holds none of the video."""
        if video_id not in self._held:
            return None
        times, vectors = self._of(video_id)
        if len(times) == 0:
            return None
        nearest = int(np.abs(times - time).argmin())
        moment = times[nearest : nearest + 1]
        frames = None
        if self.pixels:
            try:
                frames = self.library.engine.read_frames(self.library.path_of(video_id), moment)
            except FileProblem:
                return None
        return VideoView(
            "",
            float(moment[0]),
            float(moment[0]) + 0.001,
            frame_times=moment,
            frame_vectors=vectors[nearest : nearest + 1],
            frames=frames,
        )

    def picture(self, path: Path) -> VideoView:
        """A picture file as one frame. Raises `UnreadableFile`."""
        from PIL import Image

        try:
            with Image.open(path) as opened:
                image = np.asarray(opened.convert("RGB"), np.uint8)[None]
        except (OSError, ValueError) as error:
            raise UnreadableFile(f"{path}: cannot be read as a picture: {error}") from error
        moment = np.zeros(1)
        frames = Frames(moment, image) if self.pixels else None
        return VideoView("", 0.0, 0.001, frame_times=moment, frame_vectors=self.encode(image), frames=frames)

    def _of(self, video_id: str) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        if video_id not in self._vectors:
            rows = self.library.engine.reader.frames(
                [clip.clip_id for clip in self.library.engine.reader.clips(video_id)]
            )
            times = np.concatenate([row.times for row in rows]) if rows else np.zeros(0)
            vectors = np.concatenate([row.vectors for row in rows]) if rows else np.zeros((0, 0), np.float32)
            self._vectors[video_id] = (times, vectors.astype(np.float32))
        return self._vectors[video_id]


def true_shot(query: ShotQuery, found: FoundShot) -> bool | None:
    """None where nobody knows when the shot is."""
    gold = query.gold
    if not gold.timed:
        return None
    return found.video_id == gold.video_id and gold.start <= found.frame < gold.end


def true_moment(query: ShotQuery, found: FoundShot) -> bool | None:
    """As `true_shot`, of the shots that fit the description alone."""
    right = true_shot(query, found)
    if right is None or right:
        return right
    return any(
        found.video_id == twin.video_id and twin.start <= found.frame < twin.end for twin in query.twins
    )


def judge_shot(
    reasoner: Reasoner, shelf: FrameShelf, query: ShotQuery, reference: VideoView | None, found: FoundShot
) -> Judged:
    """What a mind that fails did not say is None. Raises `ReasonerUnreachable`."""
    seen = shelf.at(found.video_id, found.frame)
    truth, moment = true_shot(query, found), true_moment(query, found)
    if seen is None:
        return Judged(None, None, None, None, None, truth, moment)
    kind: ConstraintKind = "" if query.task == "shot" else query.task
    request = MatchRequest(
        description=query.description,
        candidate=seen,
        reference=reference,
        constraint_kind=kind,
        constraint=query.constraint,
    )
    clip_image = _cosine(seen, reference.frame_vectors if reference is not None else None)
    tower = shelf.library.engine.tower
    words = None if tower is None else tower.encode_text([query.description])
    clip_text = _cosine(seen, words)
    try:
        match = reasoner.run(MATCH_FRAME, request)
    except ReasonerUnreachable:
        raise
    except ReasonerError:
        return Judged(None, None, None, clip_image, clip_text, truth, moment)
    # A picture that was never laid beside the other one is no mismatch.
    compared = reference is not None and (reasoner.reads_pixels or clip_image is not None)
    return Judged(
        match.text_match,
        match.image_match if compared else None,
        match.constraint_match,
        clip_image,
        clip_text,
        truth,
        moment,
    )


def _cosine(view: VideoView, other: NDArray[np.float32] | None) -> float | None:
    ours = view.frame_vectors
    if ours is None or other is None or not len(other) or ours.shape[1] != other.shape[1]:
        return None
    return round(float(ours[0].astype(np.float64) @ other[0].astype(np.float64)), 6)
