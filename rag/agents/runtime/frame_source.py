"""One video of the web as the watcher sees it: its words, and its frames as pixels or stored vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import Evidence, Frames
from localization.sampling import midpoints
from rag.agents.runtime.retry import RetryPolicy
from rag.errors import NoTranscript, UnsupportedFile, WebError
from rag.reasoners.roles import VideoView
from rag.web import Downloaded, SearchResult, Web

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.library import Library
    from rag.reasoners.roles import Reasoner

ReadFrames = Callable[[str, "NDArray[np.float64]"], Frames]
ON_SCREEN = ("ocr",)
SAME_TIME = 1e-6


@dataclass(frozen=True, slots=True)
class FrameSource:
    """What a reasoner can look with. `library`: for stored vectors and text on the screen. `read_frames`:
    decodes, for a reasoner that says `reads_pixels`; None for any other (`of` sees to that). Where parts
    of a mind differ, both are given: pixels to the one that looks at them, vectors to the other."""

    library: Library | None
    read_frames: ReadFrames | None

    @classmethod
    def of(cls, reasoner: Reasoner, library: Library | None, read_frames: ReadFrames | None) -> FrameSource:
        return cls(library, read_frames if reasoner.reads_pixels else None)


@dataclass(frozen=True)
class WebVideo:
    """Made by `fetch_video`. Times in seconds, [start, end)."""

    result: SearchResult
    file: Downloaded
    duration: float
    lines: tuple[Evidence, ...]
    """What is said, in time order; empty where nobody wrote it down."""
    _eyes: FrameSource

    @property
    def video_id(self) -> str:
        return self.file.video_id

    @cached_property
    def library(self) -> Library | None:
        """The library that holds the video; None where none does."""
        library = self._eyes.library
        if library is None:
            return None
        try:
            library.engine.reader.video(self.video_id)
        except KeyError:
            return None
        return library

    def view(
        self, start: float, end: float, times: NDArray[np.float64] | None, *, words: bool = True
    ) -> VideoView:
        """The stretch with the frames at `times`; None takes every stored vector of it.

        On the screen is read what is there at a moment that is looked at; where no frame of it can be shown,
        all that was read while indexing.
        """
        shown = VideoView(self.result.title, start, end, description=self.result.snippet)
        shown = self._with_frames(shown, times)
        said = [line for line in self.lines if line.start < end and line.end > start] if words else []
        looked = times is not None and bool(shown.times)
        read = self._read(shown.times, start, end) if looked else self._between(start, end)
        return replace(shown, texts=tuple(sorted([*said, *read], key=lambda text: (text.start, text.end))))

    def _with_frames(self, view: VideoView, times: NDArray[np.float64] | None) -> VideoView:
        """Pixels at the moments where they are read, and stored vectors wherever the library holds any."""
        if times is not None and len(times) == 0:
            return view
        if times is None:
            held_times, held = self._stored
            inside = np.flatnonzero((held_times >= view.start) & (held_times < view.end))
            return _vectored(view, held_times[inside], held[inside])
        if self._eyes.read_frames is None:
            nearest = np.unique(self._nearest(times))
            return _vectored(view, self._stored[0][nearest], self._stored[1][nearest])
        try:
            frames = _once(self._eyes.read_frames(self.file.path, times))
        except UnsupportedFile:
            # Sound alone: there is nothing to see, and still something to hear.
            return view
        # Row for row with the pixels, so that a frame has one number whoever looks.
        vectors = self._stored[1][self._nearest(frames.times)]
        return _vectored(replace(view, frames=frames), frames.times, vectors)

    def _nearest(self, times: NDArray[np.float64]) -> NDArray[np.intp]:
        """(len(times),) rows of the stored frames nearest to the moments; (0,) where none is stored."""
        held = self._stored[0]
        if len(held) == 0:
            return np.zeros(0, np.intp)
        nearest: NDArray[np.intp] = np.abs(held[None, :] - times[:, None]).argmin(axis=1)
        return nearest

    def _read(self, times: Sequence[float], start: float, end: float) -> list[Evidence]:
        """Text on the screen at any of the moments."""
        return [
            text
            for text in self._between(start, end)
            if any(text.start - SAME_TIME <= time < text.end + SAME_TIME for time in times)
        ]

    def _between(self, start: float, end: float) -> list[Evidence]:
        return [text for text in self._written if text.start < end and text.end > start]

    @cached_property
    def _written(self) -> list[Evidence]:
        if self.library is None:
            return []
        found = self.library.engine.reader.evidence(self.video_id, 0.0, float("inf"))
        return [text for text in found if text.kind in ON_SCREEN]

    @cached_property
    def _stored(self) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """Times (n,), rising, and vectors (n, d); empty where the library holds none of this video."""
        library, nothing = self.library, (np.zeros(0), np.zeros((0, 0), np.float32))
        if library is None or library.engine.tower is None:
            return nothing
        clips = [clip.clip_id for clip in library.engine.reader.clips(self.video_id)]
        try:
            rows = library.engine.reader.frames(clips)
        except KeyError:
            return nothing
        times = np.concatenate([row.times for row in rows])
        vectors = np.concatenate([row.vectors for row in rows])
        _, first = np.unique(times.round(6), return_index=True)
        return times[first], vectors[first]


def fetch_video(
    web: Web,
    result: SearchResult,
    frame_source: FrameSource,
    retry_policy: RetryPolicy,
    *,
    words: bool,
    missed: Callable[[WebError], None] | None = None,
) -> WebVideo:
    """Download a video and take its transcript. Raises `WebError` or `FileProblem`.

    Without its transcript a video is watched all the same; `missed` is told of the error, where there is
    one. That nobody wrote down what is said is no error.
    """
    file = retry_policy.call(lambda: web.download(result.url))
    lines: tuple[Evidence, ...] = ()
    if words:
        try:
            said = retry_policy.call(lambda: web.transcript(result.url))
            lines = tuple(
                Evidence(file.video_id, line.start, line.end, "subtitle", line.text) for line in said.lines
            )
        except NoTranscript:
            lines = ()
        except WebError as error:
            if missed is not None:
                missed(error)
    sight = WebVideo(result, file, 0.0, lines, frame_source)
    return replace(sight, duration=_duration(sight))


def even_times(start: float, end: float, count: int) -> NDArray[np.float64]:
    """(count,) moments spread evenly over [start, end), each in the middle of its share."""
    return midpoints(start, end, count)


def _duration(sight: WebVideo) -> float:
    """As the library measured it, else as the result says, else up to the last word."""
    if sight.library is not None:
        return float(sight.library.engine.reader.video(sight.video_id).duration)
    spoken = max((line.end for line in sight.lines), default=0.0)
    return max(sight.result.duration, spoken) or 1.0


def _vectored(view: VideoView, times: NDArray[np.float64], vectors: NDArray[np.float32]) -> VideoView:
    """The view with these, where there are any."""
    return replace(view, frame_times=times, frame_vectors=vectors) if len(vectors) else view


def _once(frames: Frames) -> Frames:
    """A frame that was on the screen at several of the moments is shown once."""
    _, first = np.unique(frames.times.round(6), return_index=True)
    return Frames(frames.times[first], frames.images[first])
