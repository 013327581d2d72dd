"""RACLO: a video and a moment of it out of a web, by what one remembers (RACLO, section 3).

    recall      abduce what the whole video may be; searches out of that
    search      of each search the first videos that can be had: think, act, observe
    verify      is it the video? frames over all of it, and its sound, before two judges
    localize    in parallel: which of its frames is the moment?

It sees the cues alone. A candidate that both judges take for the video is the
answer, the best fitting one of several; without any, the best guess is given
and said to be one. Verification and localization know nothing of each other's
outcome; they run one after the other, so that equal runs are equal to the byte.
An error of the web costs a video or a search, an error of the mind a step;
neither is ever taken for knowledge. Every loop is bounded, so every run ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from rag.agents.raclo.query_generation import Recalled, recall
from rag.agents.raclo.records import (
    CandidateVideo,
    Moment,
    RacloRun,
    RacloStep,
    cues_of,
    only_cues,
)
from rag.agents.raclo.settings import PAPER, RacloSettings
from rag.agents.raclo.verification import locate_moment, verify
from rag.agents.runtime.frame_source import FrameSource, WebVideo, fetch_video
from rag.agents.runtime.retry import RetryPolicy
from rag.agents.runtime.trace import RunTrace
from rag.errors import BudgetSpent, FileProblem, ReasonerError, ReasonerUnreachable, UsageError, WebError
from rag.reasoners.roles import Consensus, Memory, Reasoner
from rag.web import SearchResult, Web

Watch = Callable[[RacloStep], None]
FATAL = (BudgetSpent, ReasonerUnreachable)
"""After these no other call to the mind makes sense."""
NOTHING_FOUND = "NothingFound"
"""The name of a failure: no search brought a video that could be had."""


def run_raclo(
    memory: Memory,
    web: Web,
    reasoner: Reasoner,
    frame_source: FrameSource,
    settings: RacloSettings = PAPER,
    *,
    second: Reasoner | None = None,
    watch: Watch | None = None,
    wait: Callable[[float], None] | None = None,
) -> RacloRun:
    """Find the video, and the moment where one is told of. Errors of web and mind are in the result, never
    raised; a `UsageError` is, for cues that are none of the nine sets.

    `second`: the other judge of the consensus; None: the first looks again, at the frames between those
    of its first look. `watch` is told of every step as it happens. `wait` sleeps between repeated calls;
    None does not.
    """
    return Raclo(web, reasoner, frame_source, settings, second=second, watch=watch, wait=wait).run(memory)


class Raclo:
    """One run; made anew for each memory. Raises `UsageError` for stored frames without a library."""

    def __init__(
        self,
        web: Web,
        reasoner: Reasoner,
        frame_source: FrameSource,
        settings: RacloSettings = PAPER,
        *,
        second: Reasoner | None = None,
        watch: Watch | None = None,
        wait: Callable[[float], None] | None = None,
    ) -> None:
        if settings.frames == "stored" and frame_source.library is None:
            raise UsageError("stored frame vectors need a library that holds the web's videos")
        self._web, self._mind, self._eyes, self._settings = web, reasoner, frame_source, settings
        self._second = second
        self._patience = RetryPolicy(settings.attempts, wait)
        self._diary = RunTrace(web, lambda number, *told: RacloStep(number, self._turn, *told), watch)
        self._seen: set[str] = set()
        self._contents: set[str] = set()
        self._candidates: list[CandidateVideo] = []
        self._ended = ""
        self._turn = 0

    def run(self, memory: Memory) -> RacloRun:
        cues = cues_of(memory)
        memory = only_cues(memory, cues)
        self._mind.usage()
        started = time.perf_counter()
        sights, queries = self._search_for(memory)
        searched = time.perf_counter()
        self._turn, turns = 0, self._turn
        for candidate, sight in sights:
            if not self._ended:
                candidate = self._check(memory, candidate, sight)
            self._candidates.append(candidate)
        chosen = self._choose()
        checked = time.perf_counter()
        answer = None if chosen is None else self._candidates[chosen]
        matched = answer is not None and (answer.accepted or not self._settings.verify)
        self._tell_answer(answer, matched)
        return RacloRun(
            memory=memory,
            cues=cues,
            candidates=tuple(self._candidates),
            chosen=chosen,
            matched=matched,
            queries=tuple(queries),
            turns=turns,
            failure=self._ended or ("" if self._candidates else NOTHING_FOUND),
            failures=tuple(self._diary.failures),
            searches=self._diary.searches,
            usage=self._mind.usage(),
            timings={"search": searched - started, "check": checked - searched},
            steps=tuple(self._diary.steps),
        )

    # Recall and search

    def _search_for(self, memory: Memory) -> tuple[list[tuple[CandidateVideo, WebVideo]], list[str]]:
        found: list[tuple[CandidateVideo, WebVideo]] = []
        tried: list[str] = []
        for turn in range(1, self._settings.turns + 1):
            self._turn = turn
            recalled = self._think(memory, tried)
            for query in recalled:
                tried.append(query)
                if not self._ended:
                    found += self._take(query)
            if found or not recalled or self._ended:
                break
        return found, tried

    def _think(self, memory: Memory, tried: Sequence[str]) -> tuple[str, ...]:
        """The searches of this turn, none of which was tried before."""
        try:
            recalled = recall(self._mind, memory, tried, self._settings)
        except ReasonerError as error:
            self._failed(error, "the searches")
            # Without any thought the cues as they were told can be searched for, once.
            if self._ended or tried:
                return ()
            recalled = recall(self._mind, memory, tried, replace(self._settings, abduction=False))
        if recalled.queries:
            self._tell_thought(recalled)
        return recalled.queries

    def _take(self, query: str) -> list[tuple[CandidateVideo, WebVideo]]:
        """The first `urls` videos of a search that can be had and were not met before."""
        taken: list[tuple[CandidateVideo, WebVideo]] = []
        for result in self._results(query):
            if len(taken) == self._settings.urls:
                break
            if result.url in self._seen:
                continue
            self._seen.add(result.url)
            sight = self._open(result)
            if sight is not None:
                place = (result.url, result.title, sight.video_id, sight.duration)
                taken.append((CandidateVideo(*place, query, result.rank), sight))
        return taken

    def _results(self, query: str) -> Sequence[SearchResult]:
        try:
            page = self._patience.call(
                partial(self._web.search_videos, query, page_size=self._settings.results)
            )
        except WebError as error:
            self._failed(error, f"the search {query!r}")
            return ()
        self._diary.tell_web()
        shown = [{"url": result.url, "title": result.title} for result in page.results]
        self._diary.tell("search", f"{query}: {len(page.results)} results", query=query, results=shown)
        return page.results

    def _open(self, result: SearchResult) -> WebVideo | None:
        """None for a video that cannot be had, or whose very bytes are a candidate already."""
        title = result.title or result.url
        try:
            sight = fetch_video(
                self._web,
                result,
                self._eyes,
                self._patience,
                words=self._settings.sound,
                missed=lambda error: self._failed(error, f"the transcript of {title}"),
            )
        except (WebError, FileProblem) as error:
            self._failed(error, title)
            return None
        self._diary.tell_web()
        if sight.video_id in self._contents:
            self._diary.tell(
                "take", f"{result.title}: the same file as one before", url=result.url, taken=False
            )
            return None
        self._contents.add(sight.video_id)
        self._diary.tell("take", f"{result.title}, {sight.duration:.0f} s", url=result.url, taken=True)
        return sight

    # Verify and localize

    def _check(self, memory: Memory, candidate: CandidateVideo, sight: WebVideo) -> CandidateVideo:
        title = candidate.title or candidate.url
        if self._settings.verify:
            try:
                consensus = verify(self._mind, self._second, memory, sight, self._settings)
                candidate = replace(candidate, consensus=consensus)
                self._tell_verdict(candidate, consensus)
            except (ReasonerError, FileProblem) as error:
                self._failed(error, f"verifying {title}")
        if memory.key_moment and not self._ended:
            try:
                moment = locate_moment(self._mind, memory, sight, self._settings)
                candidate = replace(candidate, moment=moment)
                self._tell_moment(candidate, moment)
            except (ReasonerError, FileProblem) as error:
                self._failed(error, f"localizing in {title}")
        return candidate

    def _choose(self) -> int | None:
        """Accepted ones go first, then how well a video and its moment fit together, then its rank.

        Fits to one decimal: what fits no better than by noise is told apart by its rank.
        """

        def worth(at: int) -> tuple[bool, float, int]:
            candidate = self._candidates[at]
            sure = candidate.moment.confidence if candidate.moment is not None else 0.0
            return candidate.accepted, round(candidate.fit + sure, 1), -at

        found = range(len(self._candidates))
        if not self._settings.verify:
            return 0 if self._candidates else None
        return max(found, key=worth, default=None)

    # Telling

    def _failed(self, error: Exception, what: str) -> None:
        self._diary.failed(error, what)
        if isinstance(error, FATAL):
            self._ended = type(error).__name__

    def _tell_thought(self, recalled: Recalled) -> None:
        self._diary.tell(
            "think",
            recalled.thought or "; ".join(recalled.queries),
            anchors=list(recalled.anchors),
            hypotheses=[one.model_dump() for one in recalled.hypotheses],
            chosen=recalled.chosen,
            queries=list(recalled.queries),
        )

    def _tell_verdict(self, candidate: CandidateVideo, consensus: Consensus) -> None:
        said = {True: "this is the video", False: "another video"}[candidate.accepted]
        self._diary.tell(
            "verify",
            f"{candidate.title}: {said} (fits by {candidate.fit:.2f})",
            url=candidate.url,
            accepted=candidate.accepted,
            fit=candidate.fit,
            first=consensus.first.model_dump(),
            second=None if consensus.second is None else consensus.second.model_dump(),
        )

    def _tell_moment(self, candidate: CandidateVideo, moment: Moment | None) -> None:
        if moment is None:
            self._diary.tell("localize", f"{candidate.title}: no frame of it can be shown", url=candidate.url)
            return
        by = f"one of {moment.frames} frames" if moment.frames else "by words alone"
        self._diary.tell(
            "localize",
            f"{candidate.title}: at {moment.time:.1f} s, {by}",
            url=candidate.url,
            time=moment.time,
            start=moment.start,
            end=moment.end,
            frame=moment.frame,
            frames=moment.frames,
            confidence=moment.confidence,
            reason=moment.reason,
        )

    def _tell_answer(self, answer: CandidateVideo | None, matched: bool) -> None:
        if answer is None:
            self._diary.tell("answer", "no video was found", matched=False)
            return
        at = "" if answer.moment is None else f", at {answer.moment.time:.1f} s"
        doubt = "" if matched else f" (a guess: {answer.doubt})"
        self._diary.tell("answer", f"{answer.title}{at}{doubt}", url=answer.url, matched=matched)
