"""A video of the web as a reasoner sees it: transcript, text on the screen, and decoded or stored frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from corpora.records import Evidence, EvidenceKind, Frames
from localization.sampling import nearest_frames
from localization.windows import TIME_STEP
from rag.errors import NoTranscript, UnsupportedFile, WebError
from rag.reasoners.roles.material import VideoView
from rag.retrieval.frames import joined_frames
from rag.web import Downloaded, SearchResult, Web

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.library import Library
    from rag.reasoners.protocol import Reasoner


@dataclass(frozen=True, slots=True)
class FrameBudget:
    """How many frames of a video are looked at, by its length."""

    steps: tuple[tuple[float, int], ...]
    """(seconds, frames): a video shorter than that many seconds gets that many frames; increasing."""
    longest: int
    """Frames of a video longer than every limit."""

    def frames(self, seconds: float) -> int:
        """Number of frames for a video of some seconds."""
        return next((count for limit, count in self.steps if seconds < limit), self.longest)


def fixed_budget(count: int) -> FrameBudget:
    """`count` frames of every video."""
    return FrameBudget((), count)


class ReadFrames(Protocol):
    """Decodes frames."""

    def __call__(self, path: str, times: NDArray[np.float64], /, *, zoomed: bool = False) -> Frames:
        """The frames of a file at `times`, float64 (n,) seconds; `zoomed`: at the size of a closer look."""
        ...


ReadSound = Callable[[str, float, float], "NDArray[np.float32]"]
"""Path of a file, start and end in seconds, to mono float32 (n,) at 16,000 Hz; empty without sound."""


@dataclass(frozen=True, slots=True)
class FrameSource:
    """Where the frames of a video come from.

    `library`: stored frame embeddings and text on the screen. `read_frames`: decodes, for a reasoner with
    `reads_pixels`.
    """

    library: Library | None
    read_frames: ReadFrames | None
    read_audio: ReadSound | None = None
    """Reads the sound for models that take audio."""


@dataclass(frozen=True)
class WebVideo:
    """A downloaded video; made by `fetch_video`. Times in seconds, [start, end)."""

    result: SearchResult
    file: Downloaded
    duration: float
    lines: tuple[Evidence, ...]
    """Lines of the transcript in time order; empty without one."""
    _frame_source: FrameSource
    _pixels: bool = True
    """Whether frames are decoded."""

    @property
    def video_id(self) -> str:
        """Id of the downloaded file's content."""
        return self.file.video_id

    def seen_by(self, reasoner: Reasoner) -> WebVideo:
        """The same video with its frames as another reasoner takes them."""
        return replace(self, _pixels=reasoner.reads_pixels)

    @cached_property
    def library(self) -> Library | None:
        """The library, where it holds the video."""
        library = self._frame_source.library
        if library is None:
            return None
        try:
            library.engine.reader.video(self.video_id)
        except KeyError:
            return None
        return library

    def view(
        self,
        start: float,
        end: float,
        times: NDArray[np.float64] | None,
        *,
        transcript: bool = True,
        screen: bool = True,
        metadata: bool = True,
        zoomed: bool = False,
        audio: bool = False,
    ) -> VideoView:
        """The interval [start, end) seconds with the frames at `times`.

        `times`: float64 (n,) seconds, of which none shows no frame; None takes every stored embedding.
        `transcript`: whether the lines of the transcript that overlap the interval are in the view.
        `screen`: whether text on the screen is: that of the shown frames; where no frame can be shown, all of
        the interval. `metadata`: with the title and description of the search result.
        `zoomed`: frames are decoded at the size of a closer look. `audio`: with the sound of the interval.
        """
        title, about = (self.result.title, self.result.description) if metadata else ("", "")
        view = VideoView(title, start, end, description=about)
        view = self._with_frames(view, times, zoomed)
        texts = [*(self.lines if transcript else ()), *(self._on_screen if screen else ())]
        texts = [text for text in texts if text.start < end and text.end > start]
        if times is not None and view.times:
            texts = [text for text in texts if text.kind != "ocr" or _shown_at(text, view.times)]
        read_audio = self._frame_source.read_audio
        if audio and read_audio is not None:
            path = self.file.path
            view = replace(view, read_audio=lambda most: read_audio(path, start, min(end, start + most)))
        return replace(view, texts=tuple(sorted(texts, key=lambda text: (text.start, text.end))))

    def _with_frames(self, view: VideoView, times: NDArray[np.float64] | None, zoomed: bool) -> VideoView:
        """Decoded frames where they are read, and stored embeddings wherever the library holds any."""
        if times is not None and len(times) == 0:
            return view
        stored_times, stored = self._stored
        if times is None:
            inside = np.flatnonzero((stored_times >= view.start) & (stored_times < view.end))
            return _with_vectors(view, stored_times[inside], stored[inside])
        read_frames = self._frame_source.read_frames if self._pixels else None
        if read_frames is None:
            nearest = np.unique(self._nearest(times))
            return _with_vectors(view, stored_times[nearest], stored[nearest])
        try:
            frames = _distinct(read_frames(self.file.path, times, zoomed=zoomed))
        except UnsupportedFile:
            # A file without a video stream still has a transcript.
            return view
        # Row for row with the decoded frames, so that a frame has one index for every reasoner.
        vectors = stored[self._nearest(frames.times)]
        return _with_vectors(replace(view, frames=frames), frames.times, vectors)

    def _nearest(self, times: NDArray[np.float64]) -> NDArray[np.int64]:
        """(len(times),) rows of the nearest stored frames; (0,) where none is stored."""
        stored = self._stored[0]
        return nearest_frames(stored, times) if len(stored) else np.zeros(0, np.int64)

    def stored_texts(self, kind: EvidenceKind) -> list[Evidence]:
        """What the library holds of the video of one kind, in time order; nothing without it."""
        if self.library is None:
            return []
        stored = self.library.engine.reader.evidence(self.video_id, 0.0, float("inf"))
        return [text for text in stored if text.kind == kind]

    @cached_property
    def _on_screen(self) -> list[Evidence]:
        return self.stored_texts("ocr")

    @cached_property
    def _stored(self) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """Times (n,), rising, and embeddings (n, d); empty where the library holds none of the video."""
        library, empty = self.library, (np.zeros(0), np.zeros((0, 0), np.float32))
        if library is None or library.engine.tower is None:
            return empty
        clips = [clip.clip_id for clip in library.engine.reader.clips(self.video_id)]
        rows = library.engine.reader.frames(clips)
        return joined_frames(rows) if rows else empty


def fetch_video(
    web: Web,
    result: SearchResult,
    frame_source: FrameSource,
    *,
    transcript: bool,
    on_error: Callable[[WebError], None] | None = None,
) -> WebVideo:
    """Download a video and, where asked, its transcript. Raises `WebError` or `FileProblem`.

    A transcript that cannot be had is reported to `on_error`; that a video has none is no error. Without
    one, its lines are those that speech recognition gave the library.
    """
    file = web.download(result.url)
    lines: tuple[Evidence, ...] = ()
    if transcript:
        try:
            spoken = web.transcript(result.url)
            lines = tuple(
                Evidence(file.video_id, line.start, line.end, "subtitle", line.text) for line in spoken
            )
        except WebError as error:
            if on_error is not None and not isinstance(error, NoTranscript):
                on_error(error)
    video = WebVideo(result, file, 0.0, lines, frame_source)
    if transcript and not lines:
        video = replace(video, lines=tuple(video.stored_texts("asr")))
    return replace(video, duration=_duration(video))


def _duration(video: WebVideo) -> float:
    """As the library measured it, else as the search result says, else the end of the transcript."""
    if video.library is not None:
        return float(video.library.engine.reader.video(video.video_id).duration)
    spoken = max((line.end for line in video.lines), default=0.0)
    return max(video.result.duration, spoken) or 1.0


def _shown_at(text: Evidence, times: Sequence[float]) -> bool:
    """Whether a text is on the screen at any of the times."""
    return any(text.start - TIME_STEP <= time < text.end + TIME_STEP for time in times)


def _with_vectors(view: VideoView, times: NDArray[np.float64], vectors: NDArray[np.float32]) -> VideoView:
    return replace(view, frame_times=times, frame_vectors=vectors) if len(vectors) else view


def _distinct(frames: Frames) -> Frames:
    """Each decoded frame once, also where several of the times fall into it."""
    _, first = np.unique(frames.times.round(6), return_index=True)
    return Frames(frames.times[first], frames.images[first])
