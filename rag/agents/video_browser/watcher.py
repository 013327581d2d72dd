"""The watcher: pyramidal perception in three stages (Video-Browser, section 4.2).

Stage I chooses among results by their metadata, without frames. Stage II
goes over the transcript and sparse frames of a chosen video and proposes
windows. Stage III, which the analyst uses, reads those windows densely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from corpora.records import Clip, Frames, Passage
from localization.sampling import midpoints
from localization.windows import Window
from rag.agents.runtime.frame_source import WebVideo
from rag.agents.video_browser.records import BrowserMemory, BrowserSettings
from rag.reasoners.protocol import Reasoner
from rag.reasoners.roles.material import VideoView
from rag.reasoners.roles.reading import ReadPassage, ReadWindow
from rag.reasoners.roles.searching import SELECT_CANDIDATES, KnownVideo, SelectRequest, long_date
from rag.reasoners.roles.watching import (
    LOCATE,
    SUMMARIZE,
    Located,
    LocatedWindow,
    LocateRequest,
    SummarizeRequest,
)
from rag.records import Question
from rag.web import SearchResult

NOTED = 360
"""Characters of words that an observation repeats of a video."""


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What stage II made of a video."""

    video: WebVideo
    located: Located
    windows: tuple[LocatedWindow, ...]
    """Inside the video, in order of time, none overlapping another."""
    sparse: VideoView


def filter_results(
    reasoner: Reasoner,
    memory: BrowserMemory,
    results: Sequence[SearchResult],
    count: int,
    settings: BrowserSettings,
) -> tuple[list[SearchResult], str]:
    """Stage I: at most `count` of the results, likeliest first, and why. Raises `ReasonerError`."""
    if not settings.select:
        return list(results[:count]), "as the search engine ranks them"
    reply = reasoner.run(
        SELECT_CANDIDATES,
        SelectRequest(
            question=memory.question.text,
            sub_question=memory.focus or memory.question.text,
            candidates=tuple(results),
            top_k=count,
        ),
    )
    chosen = [results[index] for index in dict.fromkeys(reply.selected) if 0 <= index < len(results)]
    return chosen[:count], reply.reason


def scan(reasoner: Reasoner, memory: BrowserMemory, video: WebVideo, settings: BrowserSettings) -> ScanResult:
    """Stage II: transcript and sparse frames to windows. Raises `ReasonerError` or `FileProblem`."""
    times = midpoints(0.0, video.duration, settings.sparse_frames) if settings.images else np.zeros(0)
    view = video.view(0.0, video.duration, times, transcript=settings.transcript, screen=settings.screen)
    request = LocateRequest(memory.question.text, view, max_windows=settings.windows)
    reply = reasoner.run(LOCATE, request)
    return ScanResult(video, reply, _tidy(reply.windows, video.duration) if reply.relevant else (), view)


def zoom(scanned: ScanResult, window: LocatedWindow, settings: BrowserSettings) -> ReadWindow:
    """Stage III: the window at `zoom_rate`, at most `window_frames`, with the words of it, its frames at
    `reasoner.zoom_short_side`. May decode: raises `FileProblem`. Without the stage, only what the sparse
    look showed of it."""
    if settings.zoom:
        count = min(settings.window_frames, max(1, round((window.end - window.start) * settings.zoom_rate)))
        view = _sampled_view(scanned.video, window.start, window.end, count, settings, zoomed=True)
    else:
        view = _sparse_view(scanned, window)
    return replace(_read_window(scanned.video, view, scanned.located.confidence), zoomed=settings.zoom)


def whole_window(video: WebVideo, frames: int, settings: BrowserSettings, *, rate: float = 0.0) -> ReadWindow:
    """The whole video: `frames` spread evenly, or fewer at `rate` a second. Raises `FileProblem`."""
    count = min(frames, max(1, round(video.duration * rate))) if rate else frames
    return _read_window(video, _sampled_view(video, 0.0, video.duration, count, settings), 1.0)


def _sampled_view(
    video: WebVideo, start: float, end: float, count: int, settings: BrowserSettings, *, zoomed: bool = False
) -> VideoView:
    """[start, end) seconds with `count` frames spread evenly. Raises `FileProblem`."""
    times = midpoints(start, end, count) if settings.images else np.zeros(0)
    said, read = settings.transcript, settings.screen
    return video.view(start, end, times, transcript=said, screen=read, zoomed=zoomed)


def observation(scanned: ScanResult, settings: BrowserSettings) -> KnownVideo:
    """o_t: what the planner learns of the video (equation 3)."""
    result, located = scanned.video.result, scanned.located
    source = _source(result)
    read = tuple(text for text in (result.channel, long_date(result.upload_date)) if text)
    if not scanned.windows:
        reason = located.reason or "nothing relevant found"
        summary = f"{_sentence(reason)} {source}".strip()
        return KnownVideo(result.url, result.title, "rejected", summary, read=read)
    verified = located.confidence >= settings.verified
    spans = tuple((window.start, window.end) for window in scanned.windows)
    texts = (
        text.text
        for text in scanned.sparse.texts
        if any(text.start < end and text.end > start for start, end in spans)
    )
    noted = _cut(" ".join(dict.fromkeys(texts)))
    found = "; ".join(window.reason for window in scanned.windows if window.reason) or located.reason
    parts = (source, _sentence(found), f"“{noted}”" if noted else "")
    return KnownVideo(
        url=result.url,
        title=result.title,
        status="verified" if verified else "watched",
        summary=" ".join(part for part in parts if part),
        windows=spans,
        read=(*read, noted) if noted else read,
    )


def _sparse_view(scanned: ScanResult, window: LocatedWindow) -> VideoView:
    """Of the sparse view, what is in the window."""
    view, frames, vectors = scanned.sparse, scanned.sparse.frames, scanned.sparse.frame_vectors
    kept = np.array([i for i, at in enumerate(view.times) if window.start <= at < window.end], np.int64)
    return replace(
        view,
        start=window.start,
        end=window.end,
        texts=tuple(text for text in view.texts if text.start < window.end and text.end > window.start),
        description="",
        frame_times=view.frame_times[kept] if view.frame_times is not None else None,
        frame_vectors=vectors[kept] if vectors is not None else None,
        frames=Frames(frames.times[kept], frames.images[kept]) if frames is not None else None,
    )


def _read_window(video: WebVideo, view: VideoView, score: float) -> ReadWindow:
    start, end = view.start, view.end
    clip = Clip(f"{video.video_id}@{start:.3f}-{end:.3f}", video.video_id, start, end)
    return ReadWindow(
        path=video.result.url,
        title=video.result.title,
        clip=clip,
        window=Window(video.video_id, start, end, round(score, 6)),
        retrieval_score=round(score, 6),
        texts=view.texts,
        frame_times=view.frame_times,
        frame_vectors=view.frame_vectors,
        frames=view.frames,
    )


def _tidy(windows: Sequence[LocatedWindow], duration: float) -> tuple[LocatedWindow, ...]:
    """Cut to the video, in order of time, those that overlap made one."""
    tidy: list[LocatedWindow] = []
    for window in sorted(windows, key=lambda window: (window.start, window.end)):
        start, end = max(0.0, window.start), min(duration, window.end)
        if end <= start:
            continue
        if tidy and start < tidy[-1].end:
            last = tidy.pop()
            reason = "; ".join(dict.fromkeys(part for part in (last.reason, window.reason) if part))
            tidy.append(LocatedWindow(start=last.start, end=max(end, last.end), reason=reason))
        else:
            tidy.append(LocatedWindow(start=start, end=end, reason=window.reason))
    return tuple(tidy)


def _sentence(text: str) -> str:
    """With a full stop, where it does not end with a stop of its own; empty for an empty text."""
    return f"{text}." if text and text[-1] not in ".!?…。！？" else text


def _source(result: SearchResult) -> str:
    """Who uploaded it, and when, as far as the result says."""
    if not result.channel:
        return ""
    day = f" on {long_date(result.upload_date)}" if result.upload_date else ""
    return f"The channel {result.channel} uploaded it{day}."


def _cut(text: str) -> str:
    return text if len(text) <= NOTED else text[:NOTED].rsplit(" ", 1)[0] + "…"


def summarize(
    reasoner: Reasoner, question: Question, video: WebVideo, settings: BrowserSettings
) -> ReadPassage:
    """The summarization paradigm (section 5.4, figure 16): what the frames and text of the whole video hold
    for the question. Raises `FileProblem` or `ReasonerError`."""
    view = _sampled_view(video, 0.0, video.duration, settings.whole_frames, settings)
    reply = reasoner.run(SUMMARIZE, SummarizeRequest(question, replace(view, description="")))
    passage = Passage(f"summary:{video.video_id}", video.video_id, video.result.title, reply.summary)
    return ReadPassage(passage, video.result.url, 1.0, None)


def metadata_passage(result: SearchResult) -> ReadPassage:
    """All that a list of results says of a video, as a passage."""
    parts = {
        "Channel": result.channel,
        "Uploaded": result.upload_date,
        "Tags": ", ".join(result.tags),
        "Description": result.description,
    }
    text = ". ".join(f"{name}: {value}" for name, value in parts.items() if value)
    passage = Passage(f"result:{result.id or result.url}", result.url, result.title, text or result.title)
    return ReadPassage(passage, result.url, 1.0, None)
