"""Controls: what can be reached from search results alone, from the right video, and by chance."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rag.agents.raclo.query_generation import recall
from rag.agents.raclo.records import (
    CandidateVideo,
    Moment,
    RacloRun,
    cues_of,
)
from rag.agents.raclo.settings import RacloSettings
from rag.agents.raclo.verification import locate_moment
from rag.agents.runtime.context import NOTHING_FOUND
from rag.agents.runtime.frame_source import FrameSource, fetch_video
from rag.agents.runtime.retry import RetryPolicy
from rag.agents.runtime.trace import Step
from rag.agents.video_browser.watcher import candidate as told_of
from rag.errors import PageGone
from rag.reasoners.roles import SELECT_CANDIDATES, Memory, Reasoner, SelectRequest
from rag.records import Usage
from rag.web import SearchResult

if TYPE_CHECKING:
    from rag.web import MockWeb


def metadata_run(reasoner: Reasoner, memory: Memory, web: MockWeb, settings: RacloSettings) -> RacloRun:
    """The same searches; of their results the likeliest by title and description, and its middle.

    Raises what the web and the mind raise.
    """
    reasoner.usage()
    queries = recall(reasoner, memory, (), settings).queries
    found: dict[str, tuple[SearchResult, str]] = {}
    steps: list[Step] = []
    for query in queries:
        page = web.search_videos(query, page_size=settings.results)
        shown = [{"url": result.url, "title": result.title} for result in page.results]
        steps.append(Step(len(steps) + 1, "search", query, {"query": query, "results": shown}, "turn", 1))
        fresh = [result for result in page.results if result.url not in found][: settings.urls]
        found.update((result.url, (result, query)) for result in fresh)
    results = [result for result, _ in found.values()]
    wanted = " ".join(part for part in (memory.global_impression, memory.key_moment) if part)
    likeliest = 0
    if results:
        told = tuple(told_of(result) for result in results)
        chosen = reasoner.run(SELECT_CANDIDATES, SelectRequest(wanted, wanted, told, 1)).selected
        likeliest = chosen[0] if chosen else 0
    candidates = tuple(
        CandidateVideo(
            result.url,
            result.title,
            "",
            result.duration,
            query,
            result.rank,
            moment=_at(result.duration / 2, result.duration) if memory.key_moment else None,
        )
        for result, query in found.values()
    )
    return _run(
        memory, candidates, likeliest if candidates else None, queries, reasoner.usage(), tuple(steps)
    )


def oracle_run(
    reasoner: Reasoner,
    memory: Memory,
    web: MockWeb,
    frame_source: FrameSource,
    url: str,
    settings: RacloSettings,
) -> RacloRun:
    """The right video is the only candidate. Raises what opening it and the mind raise."""
    reasoner.usage()
    sight = fetch_video(web, _result(web, url), frame_source, RetryPolicy(1), transcript=settings.sound)
    moment = locate_moment(reasoner, memory, sight, settings) if memory.key_moment else None
    found = CandidateVideo(url, sight.result.title, sight.video_id, sight.duration, "", 1, moment=moment)
    return _run(memory, (found,), 0, (), reasoner.usage())


def chance_run(memory: Memory, web: MockWeb, url: str, share: float) -> RacloRun:
    """The right video, at `share` in [0, 1) of it. Raises `PageGone`."""
    result = _result(web, url)
    moment = _at(share * result.duration, result.duration) if memory.key_moment else None
    found = CandidateVideo(url, result.title, web.video_id(url) or "", result.duration, "", 1, moment=moment)
    return _run(memory, (found,), 0, (), Usage())


def failed_run(memory: Memory, error: Exception, usage: Usage) -> RacloRun:
    """What is left of a control that an error ended: no candidate, and the error's name."""
    name = type(error).__name__
    return replace(_run(memory, (), None, (), usage), failure=name, failures=(name,))


def _result(web: MockWeb, url: str) -> SearchResult:
    """As a search would have it. Raises `PageGone` where a web of one's own lacks the video."""
    entry = web.catalogue.video(url)
    if entry is None:
        raise PageGone(f"{url}: the web does not hold the video that is asked for")
    return SearchResult(1, entry.url, entry.title, "", duration=entry.duration)


def _at(time: float, duration: float) -> Moment:
    return Moment(round(time, 6), 0, 1, 0.0, duration, 0.0)


def _run(
    memory: Memory,
    candidates: tuple[CandidateVideo, ...],
    chosen: int | None,
    queries: tuple[str, ...],
    usage: Usage,
    steps: tuple[Step, ...] = (),
) -> RacloRun:
    return RacloRun(
        memory=memory,
        cues=cues_of(memory),
        candidates=candidates,
        chosen=chosen,
        matched=chosen is not None,
        queries=queries,
        turns=1,
        failure="" if candidates else NOTHING_FOUND,
        failures=(),
        searches=len(queries),
        usage=usage,
        timings={},
        steps=steps,
    )
