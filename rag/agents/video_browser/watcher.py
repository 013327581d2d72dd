"""The watcher: pyramidal perception in three stages (Video-Browser, section 4.2).

Stage I chooses among results by their metadata, no picture looked at. Stage II
goes over the transcript and sparse frames of a chosen video and proposes
windows. Stage III, which the analyst uses, reads those windows densely.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import Clip, Passage
from localization.sampling import midpoints
from localization.windows import Window
from rag.agents.runtime.frame_source import RetryPolicy, WebVideo
from rag.agents.video_browser.records import BrowserMemory, BrowserSettings, Summary
from rag.errors import WebError
from rag.reasoners.roles import (
    LOCATE,
    OBSERVE,
    SELECT_CANDIDATES,
    Candidate,
    KnownVideo,
    Located,
    LocatedWindow,
    LocateRequest,
    ObserveRequest,
    ReadWindow,
    Reasoner,
    SelectRequest,
    VideoView,
)
from rag.web import SearchResult, Web

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def candidate(result: SearchResult) -> Candidate:
    """A search result as a candidate video."""
    return Candidate(
        url=result.url,
        title=result.title,
        description=result.snippet,
        channel=result.channel,
        upload_date=result.upload_date,
        duration=result.duration,
        tags=result.tags,
    )


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
            candidates=tuple(candidate(result) for result in results),
            top_k=count,
        ),
    )
    chosen = [results[index] for index in dict.fromkeys(reply.selected) if 0 <= index < len(results)]
    return chosen[:count], reply.reason


def scan(reasoner: Reasoner, memory: BrowserMemory, video: WebVideo, settings: BrowserSettings) -> ScanResult:
    """Stage II: transcript and sparse frames to windows. Raises `ReasonerError` or `FileProblem`."""
    times: NDArray[np.float64] | None = np.zeros(0)
    if settings.pictures:
        stored = settings.sparse == "stored"
        times = None if stored else midpoints(0.0, video.duration, settings.sparse_frames)
    view = video.view(0.0, video.duration, times, transcript=settings.transcript)
    reply = reasoner.run(LOCATE, LocateRequest(memory.question.text, view, max_windows=settings.windows))
    windows = _tidy(reply.windows, video.duration) if reply.relevant else ()
    return ScanResult(video, reply, windows, view)


def zoom(scanned: ScanResult, window: LocatedWindow, settings: BrowserSettings) -> ReadWindow:
    """Stage III: the window at `zoom_rate`, at most `window_frames`, with the words of it. May decode:
    raises `FileProblem`. Without the stage, only what the sparse look showed of it."""
    view = _dense_view(scanned, window, settings) if settings.zoom else _sparse_view(scanned, window)
    return _read_window(scanned.video, view, window.start, window.end, scanned.located.confidence)


def whole_window(video: WebVideo, frames: int, settings: BrowserSettings, *, rate: float = 0.0) -> ReadWindow:
    """The whole video: `frames` spread evenly, or fewer at `rate` a second. Raises `FileProblem`."""
    count = min(frames, max(1, round(video.duration * rate))) if rate else frames
    times = midpoints(0.0, video.duration, count) if settings.pictures else np.zeros(0)
    view = video.view(0.0, video.duration, times, transcript=settings.transcript)
    return _read_window(video, view, 0.0, video.duration, 1.0)


def observation(scanned: ScanResult, settings: BrowserSettings) -> KnownVideo:
    """o_t: what the planner learns of the video (equation 3)."""
    result, located = scanned.video.result, scanned.located
    source = _source(result)
    if not scanned.windows:
        reason = located.reason or "nothing relevant found"
        return KnownVideo(result.url, result.title, "rejected", f"{reason}. {source}".strip())
    status = "verified" if located.confidence >= settings.verified else "watched"
    spans = tuple((window.start, window.end) for window in scanned.windows)
    words = [
        text.text
        for text in scanned.sparse.texts
        if any(text.start < end and text.end > start for start, end in spans)
    ]
    reasons = "; ".join(window.reason for window in scanned.windows if window.reason)
    noted = " ".join(dict.fromkeys(words))
    found = reasons or located.reason
    parts = (source, f"{found}." if found else "", f"“{_cut(noted)}”" if noted else "")
    summary = " ".join(part for part in parts if part)
    return KnownVideo(
        result.url, result.title, "verified" if status == "verified" else "watched", summary, spans
    )


def _dense_view(scanned: ScanResult, window: LocatedWindow, settings: BrowserSettings) -> VideoView:
    length = window.end - window.start
    count = min(settings.window_frames, max(1, round(length * settings.zoom_rate)))
    times = midpoints(window.start, window.end, count) if settings.pictures else np.zeros(0)
    return scanned.video.view(window.start, window.end, times, transcript=settings.transcript)


def _sparse_view(scanned: ScanResult, window: LocatedWindow) -> VideoView:
    """Of the sparse view, what lies in the window."""
    view = scanned.sparse
    inside = [i for i, time in enumerate(view.times) if window.start <= time < window.end]
    texts = tuple(text for text in view.texts if text.start < window.end and text.end > window.start)
    kept = np.array(inside, np.int64)
    vectors, frames = view.frame_vectors, view.frames
    return VideoView(
        title=view.title,
        start=window.start,
        end=window.end,
        texts=texts,
        frame_times=view.frame_times[kept] if view.frame_times is not None else None,
        frame_vectors=vectors[kept] if vectors is not None else None,
        frames=type(frames)(frames.times[kept], frames.images[kept]) if frames is not None else None,
    )


def _read_window(video: WebVideo, view: VideoView, start: float, end: float, score: float) -> ReadWindow:
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


def _source(result: SearchResult) -> str:
    """Who uploaded it, and when, as far as the result says."""
    if not result.channel:
        return ""
    day = f" on {_long_date(result.upload_date)}" if result.upload_date else ""
    return f"The channel {result.channel} uploaded it{day}."


def _long_date(date: str) -> str:
    """ "5 March 2024" for 2024-03-05; anything else as it stands."""
    try:
        day = datetime.date.fromisoformat(date)
    except ValueError:
        return date
    return f"{day.day} {day:%B} {day.year}"


def _cut(text: str) -> str:
    return text if len(text) <= NOTED else text[:NOTED].rsplit(" ", 1)[0] + "…"


PAGE_WORDS = 4000
"""Characters of a page that are read."""
OnError = Callable[[WebError, str], None]
"""Called with an error and the operation that failed."""


def look_at_whole(video: WebVideo, settings: BrowserSettings) -> ReadWindow:
    """Direct visual inference: `whole_frames` spread evenly over the video. Raises `FileProblem`."""
    return whole_window(video, settings.whole_frames, settings)


def summarize(
    reasoner: Reasoner, memory: BrowserMemory, video: WebVideo, settings: BrowserSettings
) -> Summary:
    """The same frames and words, put into words (figure 16). Raises `FileProblem` or `ReasonerError`."""
    read = whole_window(video, settings.whole_frames, settings)
    view = VideoView(
        title=video.result.title,
        start=0.0,
        end=video.duration,
        texts=read.texts,
        frame_times=read.frame_times,
        frame_vectors=read.frame_vectors,
        frames=read.frames,
    )
    observation = reasoner.run(OBSERVE, ObserveRequest(memory.question, view))
    passage = Passage(f"summary:{video.video_id}", video.video_id, video.result.title, observation.caption)
    return Summary(video.result.url, passage)


def read_pages(
    web: Web,
    retry: RetryPolicy,
    queries: Sequence[str],
    results: Sequence[SearchResult],
    settings: BrowserSettings,
    *,
    on_error: OnError,
) -> list[Summary]:
    """The best pages of text for the queries, and what the list of videos says; what fails is left out and
    reported to `on_error`."""
    found = dict.fromkeys(
        url for query in queries for url in _page_urls(web, retry, query, settings, on_error)
    )
    pages = []
    for url in list(found)[: settings.pages]:
        try:
            page = retry.call(partial(web.open, url))
        except WebError as error:
            on_error(error, url)
            continue
        pages.append(Summary(url, Passage(page.id or url, url, page.title, page.text[:PAGE_WORDS])))
    listed = [Summary(result.url, metadata_passage(result)) for result in results[: settings.results]]
    return [*pages, *listed]


def metadata_passage(result: SearchResult) -> Passage:
    """All that a list of results says of a video, as a passage."""
    parts = {
        "Channel": result.channel,
        "Uploaded": result.upload_date,
        "Tags": ", ".join(result.tags),
        "Description": result.snippet,
    }
    text = ". ".join(f"{name}: {value}" for name, value in parts.items() if value)
    return Passage(f"result:{result.id or result.url}", result.url, result.title, text or result.title)


def _page_urls(
    web: Web, retry: RetryPolicy, query: str, settings: BrowserSettings, on_error: OnError
) -> Iterator[str]:
    try:
        page = retry.call(lambda: web.search(query, page_size=settings.pages))
    except WebError as error:
        on_error(error, f"the search for pages {query!r}")
        return
    yield from (result.url for result in page.results)
