"""What an agent over a web works with during one run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from rag.agents.runtime.frame_source import FrameSource, WebVideo, fetch_video
from rag.agents.runtime.trace import RunTrace, Watch
from rag.errors import BudgetSpent, FileProblem, ReasonerUnreachable, WebError

if TYPE_CHECKING:
    from rag.reasoners.protocol import Reasoner
    from rag.web import SearchPage, SearchResult, Web

Reply = TypeVar("Reply")
FATAL = (BudgetSpent, ReasonerUnreachable)
"""After one of these, no further call of the reasoner can succeed."""
SHOWN = 3
"""Results of a search whose titles are shown."""
NOTHING_FOUND = "NothingFound"
"""Name of a failure: no search returned a video that could be downloaded."""


class AgentContext:
    """Reasoner, web, frame source and trace of one run; the reasoner's usage is counted
    from here on."""

    def __init__(
        self,
        web: Web,
        reasoner: Reasoner,
        frame_source: FrameSource,
        *,
        counter: str = "",
        watch: Watch | None = None,
    ) -> None:
        """`counter`: name of the agent's loop in the trace. `watch`: called with each step."""
        self.web, self.reasoner, self.frame_source = web, reasoner, frame_source
        self.trace = RunTrace(watch, counter=counter)
        self.searches = 0
        """Calls of the search engines."""
        self.fatal = ""
        """Name of the error that ended the run early; empty while the reasoner can be called."""
        self._urls: set[str] = set()
        self._contents: set[str] = set()
        self._closed: set[str] = set()
        reasoner.usage()

    @property
    def closed(self) -> frozenset[str]:
        """Addresses that could not be downloaded, or whose content was met before."""
        return frozenset(self._closed)

    def stopped(self) -> bool:
        """Whether the reasoner can be called no more."""
        return bool(self.fatal)

    def fail(self, error: Exception, what: str) -> None:
        """Record an error that `what` met; a fatal one ends the calls of the reasoner."""
        self.trace.add_failure(error, what)
        if isinstance(error, FATAL):
            self.fatal = type(error).__name__

    def attempt(self, request: Callable[[], Reply], what: str) -> Reply | None:
        """The web's reply to a request; None where it failed. `what`: the operation."""
        try:
            return request()
        except WebError as error:
            self.fail(error, what)
            return None

    def search_videos(self, query: str, page_size: int) -> SearchPage | None:
        """The first page of results; None where the search failed."""
        self.searches += 1
        search = partial(self.web.search_videos, query, page_size=page_size)
        return self.attempt(search, f"the search {query!r}")

    def outcome(self) -> dict[str, Any]:
        """The fields of `WebRun` that a run has at its end, without `failure` and `timings`."""
        trace = self.trace
        return {
            "failures": tuple(trace.failures),
            "searches": self.searches,
            "usage": self.reasoner.usage(),
            "steps": tuple(trace.steps),
        }

    def add_search(self, query: str, page: SearchPage, note: str = "") -> None:
        """A `search` step."""
        shown = [{"url": result.url, "title": result.title} for result in page.results]
        text = f"{query}: {len(page.results)} results{note}"
        details = [f"- {result.title}" for result in page.results[:SHOWN]]
        self.trace.add("search", text, details=details, query=query, results=shown)

    def fetch_new(self, result: SearchResult, kind: str, *, transcript: bool, **data: Any) -> WebVideo | None:
        """Download a video, with its transcript where that is asked for and can be had.

        None for an address or a content met before, and where the download fails. A known content has a step
        of `kind` with `data`.
        """
        if result.url in self._urls:
            return None
        self._urls.add(result.url)
        title = result.title or result.url
        try:
            fetched = fetch_video(
                self.web,
                result,
                self.frame_source,
                transcript=transcript,
                on_error=lambda error: self.fail(error, f"the transcript of {title}"),
            )
        except (WebError, FileProblem) as error:
            self.fail(error, title)
            self._closed.add(result.url)
            return None
        video = fetched.seen_by(self.reasoner)
        if video.video_id in self._contents:
            self._closed.add(result.url)
            self.trace.add(kind, f"{result.title}: the same file as one before", url=result.url, **data)
            return None
        self._contents.add(video.video_id)
        return video
