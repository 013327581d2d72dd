"""The paradigms that Video-Browser is compared with (section 5.4), and the baseline that reads alone.

Direct visual inference shows whole videos to the analyst, summarization puts
each whole video into words first, text search reads pages and the metadata of
results. Planner, search engine and analyst are those of the agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from corpora.records import Passage
from rag.agents.runtime.frame_source import WebVideo
from rag.agents.runtime.retry import RetryPolicy
from rag.agents.video_browser.analyst import metadata_passage
from rag.agents.video_browser.records import BrowserMemory, Summary
from rag.agents.video_browser.settings import BrowserSettings
from rag.agents.video_browser.watcher import whole_window
from rag.errors import WebError
from rag.reasoners.roles import OBSERVE, ObserveRequest, ReadWindow, Reasoner, VideoView
from rag.web import SearchResult, Web

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


def _page_urls(
    web: Web, retry: RetryPolicy, query: str, settings: BrowserSettings, on_error: OnError
) -> Iterator[str]:
    try:
        page = retry.call(lambda: web.search(query, page_size=settings.pages))
    except WebError as error:
        on_error(error, f"the search for pages {query!r}")
        return
    yield from (result.url for result in page.results)
