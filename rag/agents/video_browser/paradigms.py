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
Missed = Callable[[WebError, str], None]
"""Told of an error and of what it kept from being read."""


def look_at_whole(sight: WebVideo, settings: BrowserSettings) -> ReadWindow:
    """Direct visual inference: `whole_frames` spread evenly over the video. Raises `FileProblem`."""
    return whole_window(sight, settings.whole_frames, settings)


def summarize(
    reasoner: Reasoner, memory: BrowserMemory, sight: WebVideo, settings: BrowserSettings
) -> Summary:
    """The same frames and words, put into words (figure 16). Raises `FileProblem` or `ReasonerError`."""
    read = whole_window(sight, settings.whole_frames, settings)
    view = VideoView(
        title=sight.result.title,
        start=0.0,
        end=sight.duration,
        texts=read.texts,
        frame_times=read.frame_times,
        frame_vectors=read.frame_vectors,
        frames=read.frames,
    )
    told = reasoner.run(OBSERVE, ObserveRequest(memory.question, view))
    passage = Passage(f"summary:{sight.video_id}", sight.video_id, sight.result.title, told.caption)
    return Summary(sight.result.url, passage)


def read_pages(
    web: Web,
    retry_policy: RetryPolicy,
    queries: Sequence[str],
    results: Sequence[SearchResult],
    settings: BrowserSettings,
    *,
    missed: Missed,
) -> list[Summary]:
    """The best pages of text for the queries, and what the list of videos says; what fails is left out, and
    `missed` is told of it."""
    found = dict.fromkeys(
        url for query in queries for url in _page_urls(web, retry_policy, query, settings, missed)
    )
    pages = []
    for url in list(found)[: settings.pages]:
        try:
            page = retry_policy.call(partial(web.open, url))
        except WebError as error:
            missed(error, url)
            continue
        pages.append(Summary(url, Passage(page.id or url, url, page.title, page.text[:PAGE_WORDS])))
    listed = [Summary(result.url, metadata_passage(result)) for result in results[: settings.results]]
    return [*pages, *listed]


def _page_urls(
    web: Web, retry_policy: RetryPolicy, query: str, settings: BrowserSettings, missed: Missed
) -> Iterator[str]:
    try:
        page = retry_policy.call(lambda: web.search(query, page_size=settings.pages))
    except WebError as error:
        missed(error, f"the search for pages {query!r}")
        return
    yield from (result.url for result in page.results)
