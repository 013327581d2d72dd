"""ShotFinder: a shot out of a web of videos, by its description and what else must hold of it (section 4).

    generator   imagine the whole video that such a shot is part of; searches out of that
    retriever   of each search the first videos that can be had and that no measurement denies
    localizer   in each of them the shot that fits, or N/A

The best of what was found is the answer; N/A is one too. An error of the web
costs a video or a search, an error of the mind a step; neither is ever taken
for a look. Every loop is bounded, so every run ends.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rag.agents.runtime.frame_source import FrameSource, fetch_video
from rag.agents.runtime.retry import RetryPolicy
from rag.agents.shotfinder.constraints import Constraints, memory_of
from rag.agents.shotfinder.localizer import UNSEEN, Localizer
from rag.agents.shotfinder.measurements import measures_of
from rag.agents.shotfinder.records import (
    NOTHING_FOUND,
    NOTHING_LOOKED_AT,
    FoundShot,
    Look,
    ShotRequest,
    ShotRun,
    ShotStep,
    absence_of,
)
from rag.agents.shotfinder.settings import MAIN, ShotSettings
from rag.errors import (
    BudgetSpent,
    FileProblem,
    QuestionError,
    ReasonerError,
    ReasonerUnreachable,
    WebError,
)
from rag.reasoners.roles import IMAGINE_QUERIES, ImagineRequest, Reasoner
from rag.relevance import content_words
from rag.web import SearchResult, Web

Watch = Callable[[ShotStep], None]
FATAL = (BudgetSpent, ReasonerUnreachable)
"""After these no other call to the mind makes sense."""
_FILLED_UP = re.compile(r" part \d+$", re.IGNORECASE)
LONGEST_SEARCH = 200
"""Characters of a description that is searched for as it stands."""


def find_shot(
    request: ShotRequest,
    web: Web,
    reasoner: Reasoner,
    frame_source: FrameSource,
    settings: ShotSettings = MAIN,
    *,
    watch: Watch | None = None,
    wait: Callable[[float], None] | None = None,
) -> ShotRun:
    """Find a shot in a web. Errors of web and mind are in the result, never raised; `QuestionError` is,
    for a description without a word.

    `watch` is told of every step as it happens. `wait` sleeps between repeated calls; None does not.
    `frame_source.library`: the measurements; without it a constraint is passed to the reasoner as text.
    """
    return ShotFinder(web, reasoner, frame_source, settings, watch=watch, wait=wait).run(request)


class ShotFinder:
    """One run; made anew for each request."""

    def __init__(
        self,
        web: Web,
        reasoner: Reasoner,
        frame_source: FrameSource,
        settings: ShotSettings = MAIN,
        *,
        watch: Watch | None = None,
        wait: Callable[[float], None] | None = None,
    ) -> None:
        self._web, self._mind, self._eyes, self._settings = web, reasoner, frame_source, settings
        self._watch = watch
        self._patience = RetryPolicy(settings.attempts, wait)
        self._steps: list[ShotStep] = []
        self._failures: list[str] = []
        self._results: list[str] = []
        self._seen: set[str] = set()
        self._contents: set[str] = set()
        self._ended = ""
        self._opened = 0
        self._told = len(web.trace.events)
        self._began = self._told

    def run(self, request: ShotRequest) -> ShotRun:
        if not any(character.isalnum() for character in request.description):
            raise QuestionError("the description of the shot holds no word")
        self._mind.usage()
        clock = [time.perf_counter()]
        queries = self._imagine(request)
        clock.append(time.perf_counter())
        looks: list[Look] = []
        for query in queries:
            if self._ended:
                break
            looks += self._look_into(request, query)
        clock.append(time.perf_counter())
        found = [each.found for each in looks if each.found is not None]
        # What was looked at goes first; of equally good ones the first found, as `max` has it.
        best = max(found, key=lambda shot: (shot.looked, shot.score), default=None)
        failure = self._failure(best, looks)
        self._end(best, looks, failure)
        return ShotRun(
            request=request,
            queries=tuple(queries),
            looks=tuple(looks),
            shot=best,
            failure=failure,
            failures=tuple(self._failures),
            results=tuple(self._results),
            searches=sum(
                event.operation == "search_videos" for event in self._web.trace.events[self._began :]
            ),
            usage=self._mind.usage(),
            timings={"imagine": clock[1] - clock[0], "look": clock[2] - clock[1]},
            steps=tuple(self._steps),
        )

    def _failure(self, best: FoundShot | None, looks: Sequence[Look]) -> str:
        """An outage is told from a web that was looked through."""
        if self._ended or best is not None:
            return self._ended
        if not self._opened:
            return NOTHING_FOUND
        if any(look.missed in ("", "localizer") for look in looks):
            return ""
        denied = sum(look.missed == "constraint" for look in looks)
        return "" if denied == self._opened else NOTHING_LOOKED_AT

    # Generator

    def _imagine(self, request: ShotRequest) -> list[str]:
        plain = " ".join(request.description.split())[:LONGEST_SEARCH]
        if not self._settings.imagine:
            self._tell("imagine", f"searching for the description itself: {plain}", queries=[plain])
            return [plain]
        heeded = self._heeded(request)
        # A number of lines that nobody put into words is nothing that a video is listed by.
        searched = heeded if heeded.told else heeded.without("resolution")
        memory = memory_of(request.description, searched)
        try:
            imagined = self._mind.run(IMAGINE_QUERIES, ImagineRequest(memory, self._settings.queries))
        except ReasonerError as error:
            self._failed(error, "the searches")
            # Without a guess the description itself is what can be searched for, once.
            return [] if self._ended else [plain]
        queries = _meant(imagined.queries, request.description)[: self._settings.queries]
        guesses = [guess.model_dump() for guess in imagined.hypotheses]
        self._tell(
            "imagine",
            "; ".join(queries),
            thought=imagined.thought,
            anchors=list(imagined.anchors),
            hypotheses=guesses,
            chosen=imagined.chosen,
            queries=queries,
        )
        return queries

    def _heeded(self, request: ShotRequest) -> Constraints:
        return request.constraints if self._settings.constraint_mode != "off" else Constraints()

    # Retriever

    def _look_into(self, request: ShotRequest, query: str) -> list[Look]:
        looks: list[Look] = []
        left = self._settings.urls
        for result in self._search(query):
            if left < 1 or self._ended:
                break
            if result.url in self._seen:
                continue
            self._seen.add(result.url)
            made = self._candidate(request, query, result)
            if made is None:
                continue
            looks.append(made)
            left -= self._takes_a_place(made)
        return looks

    def _takes_a_place(self, made: Look) -> bool:
        """What a measurement denies was not looked at, and a file without a frame or a line is no video:
        neither takes the place of another."""
        return made.missed != "constraint" and not (made.missed == "unseen" and made.lines == 0)

    def _search(self, query: str) -> Sequence[SearchResult]:
        try:
            page = self._patience.call(
                partial(self._web.search_videos, query, page_size=self._settings.results)
            )
        except WebError as error:
            self._web_steps()
            self._failed(error, f"the search {query!r}")
            return ()
        self._web_steps()
        self._results += [result.url for result in page.results]
        shown = [{"url": result.url, "title": result.title} for result in page.results]
        self._tell("search", f"{query}: {len(page.results)} results", query=query, results=shown)
        return page.results

    # Localizer

    def _candidate(self, request: ShotRequest, query: str, result: SearchResult) -> Look | None:
        """None for a video that cannot be had, or whose very bytes were looked at before."""
        try:
            sight = fetch_video(
                self._web,
                result,
                self._eyes,
                self._patience,
                words=True,
                missed=lambda error: self._failed(error, f"the transcript of {result.title or result.url}"),
            )
            self._web_steps()
            if sight.video_id in self._contents:
                self._tell("absent", f"{result.title}: the same file as one before", url=result.url)
                return None
            self._contents.add(sight.video_id)
            self._opened += 1
            measures = measures_of(self._eyes.library, sight.video_id)
            heeded = self._heeded(request)
            made = Localizer(self._mind, sight, request.description, heeded, measures, self._settings).look(
                query
            )
        except (WebError, FileProblem, ReasonerError) as error:
            self._web_steps()
            self._failed(error, result.title or result.url)
            return None
        self._tell_look(made)
        return made

    # Telling

    def _failed(self, error: Exception, what: str) -> None:
        name = type(error).__name__
        self._failures.append(name)
        if isinstance(error, FATAL):
            self._ended = name
        self._tell("failure", f"{what}: {name}: {error}", error=name)

    def _tell_look(self, made: Look) -> None:
        found = made.found
        if found is None:
            self._tell(
                "absent",
                f"{made.title}: {made.reason}",
                url=made.url,
                missed=made.missed,
                reason=made.reason,
                frames=made.frames,
            )
            return
        self._tell(
            "look",
            f"{made.title}: {found.start:.1f}-{found.end:.1f} s, "
            + (f"score {found.score:.2f}" if found.looked else UNSEEN),
            url=made.url,
            frames=made.frames,
            reason=found.reason,
            **_shown(found),
        )

    def _end(self, best: FoundShot | None, looks: Sequence[Look], failure: str) -> None:
        if best is None:
            self._tell("shot", f"N/A: {absence_of(failure, looks)}", found=False, failure=failure)
            return
        self._tell(
            "shot",
            f"{best.title} {best.start:.1f}-{best.end:.1f} s",
            found=True,
            url=best.url,
            **_shown(best),
        )

    def _web_steps(self) -> None:
        """What was asked of the web since the last time."""
        events = self._web.trace.events
        for event in events[self._told :]:
            self._tell("web", f"{event.operation} {event.asked}: {event.outcome}", **event.line())
        self._told = len(events)

    def _tell(self, kind: str, text: str, **data: Any) -> None:
        step = ShotStep(len(self._steps) + 1, kind, " ".join(text.split()), data)
        self._steps.append(step)
        if self._watch is not None:
            self._watch(step)


def _meant(queries: Sequence[str], description: str) -> list[str]:
    """Different searches, without those that only fill up their number: the description's own words with
    "part 2" behind them. Fewer searches are better than invented ones."""
    told = set(content_words(description))
    kept = []
    for query in dict.fromkeys(queries):
        stem = _FILLED_UP.sub("", query)
        if stem == query or query in description or not told.issuperset(content_words(stem)):
            kept.append(query)
    return kept or list(queries[:1])


def _shown(found: FoundShot) -> dict[str, Any]:
    return {
        "start": found.start,
        "end": found.end,
        "frame": found.frame,
        "confidence": found.confidence,
        "score": found.score,
        "measured": found.measured,
        "looked": found.looked,
        "checks": [
            {"kind": check.kind, "wanted": check.wanted, "found": check.found, "holds": check.holds}
            for check in found.checks
        ],
    }
