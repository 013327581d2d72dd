"""RACLO: find a video of a web, and a moment in it, from what a person remembers (RACLO, section 3).

    recall      abduce hypotheses about the whole video; search queries out of those
    search      think, search, observe the results, search again; then open those that may be the video
    verify      is it the video? frames over all of it, and its sound, shown to two judges
    localize    which of its frames shows the moment? in parallel to verification

The agent sees the cues alone. The answer is the best candidate that both judges accept; without any, the
best candidate is returned as a guess. Verification and localization do not see each other's result and
run one after the other, so that equal runs have equal bytes. An error of the web loses a video or a
query, an error of the reasoner a step. Every loop is bounded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from rag.agents.raclo.records import PAPER, CandidateVideo, RacloRun, RacloSettings, cues_of, only_cues
from rag.agents.raclo.verification import locate_moment, verify
from rag.agents.runtime.context import NOTHING_FOUND, AgentContext, metadata_of
from rag.agents.runtime.frame_source import FrameSource, WebVideo
from rag.agents.runtime.trace import Watch
from rag.errors import FileProblem, ReasonerError, RoleUnknown, UsageError
from rag.reasoners.protocol import Reasoner
from rag.reasoners.roles.imagine_queries import IMAGINE_QUERIES, ImaginedQueries, ImagineRequest
from rag.reasoners.roles.material import Memory
from rag.reasoners.roles.search_step import SEARCH_STEP, SearchObservation, SearchStep, SearchStepRequest
from rag.web import SearchResult, Web

LONGEST_SEARCH = 200
"""Characters of a cue that is searched for unchanged."""


def recall(
    reasoner: Reasoner, memory: Memory, tried: Sequence[str], settings: RacloSettings
) -> ImaginedQueries:
    """At most `queries` search queries, none of them tried before; maybe none. Raises `ReasonerError`.

    By abduction (section 3.1.1 and appendix D); without, the cues themselves. For another turn more queries
    are asked for, and those tried are left out.
    """
    known = {query.casefold() for query in tried}
    if settings.abduction:
        reply = reasoner.run(IMAGINE_QUERIES, ImagineRequest(memory, settings.queries + len(known)))
    else:
        cues = [_search(cue) for cue in (memory.global_impression, memory.key_moment) if cue.strip()]
        cues += [_search(_all_cues(memory))] if len(cues) < settings.queries else []
        reply = ImaginedQueries(thought="the cues as given", queries=tuple(cues))
    fresh = [query for query in dict.fromkeys(reply.queries) if query.casefold() not in known]
    return reply.model_copy(update={"queries": tuple(fresh[: settings.queries])})


def _search(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST_SEARCH else plain[:LONGEST_SEARCH].rsplit(" ", 1)[0]


def _all_cues(memory: Memory) -> str:
    return " ".join(
        (memory.auditory_memory, memory.before, memory.after, memory.key_moment, memory.global_impression)
    )


Found = list[tuple[CandidateVideo, WebVideo]]


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
    """Find the video, and the moment where a key moment is given.

    Errors of web and reasoner are in the result. Raises `UsageError` for cues that are none of the nine
    sets, and for stored frames without a library.

    `second`: the other judge of the consensus; None: the first judges again, with frames between those it
    saw. `watch`: called with each step. `wait`: sleeps between retries; None does not.
    """
    if settings.frames == "stored" and frame_source.library is None:
        raise UsageError("stored frame embeddings need a library that holds the web's videos")
    cues = cues_of(memory)
    memory = only_cues(memory, cues)
    context = AgentContext(
        web, reasoner, frame_source, attempts=settings.attempts, counter="turn", watch=watch, sleep=wait
    )
    return _RacloRun(context, settings, second, memory).run(cues)


class _RacloRun:
    """One memory."""

    def __init__(
        self, context: AgentContext, settings: RacloSettings, second: Reasoner | None, memory: Memory
    ) -> None:
        self._context, self._trace, self._settings = context, context.trace, settings
        self._second, self._memory = second, memory
        self._candidates: list[CandidateVideo] = []
        self._results: dict[str, Sequence[SearchResult]] = {}

    def run(self, cues: str) -> RacloRun:
        started = time.perf_counter()
        found, queries = self._react()
        searched = time.perf_counter()
        turns, self._trace.round = self._trace.round, 0
        for candidate, video in found:
            self._candidates.append(candidate if self._context.stopped() else self._check(candidate, video))
        chosen = self._choose()
        checked = time.perf_counter()
        answer = None if chosen is None else self._candidates[chosen]
        matched = answer is not None and (answer.accepted or not self._settings.verify)
        self._record_answer(answer, matched)
        return RacloRun(
            memory=self._memory,
            cues=cues,
            candidates=tuple(self._candidates),
            chosen=chosen,
            matched=matched,
            queries=tuple(queries),
            turns=turns,
            failure=self._context.fatal or ("" if self._candidates else NOTHING_FOUND),
            timings={"search": searched - started, "check": checked - searched},
            **self._context.outcome(),
        )

    # Recall and search

    def _react(self) -> tuple[Found, list[str]]:
        """Think, search, observe, and search again; then open what was chosen (section 3.1.2).

        A turn makes at most `queries` searches; a turn that opens a video is the last. The candidates, and
        all queries made.
        """
        if not (self._settings.abduction and self._settings.react):
            return self._search()
        found: Found = []
        observed: list[SearchObservation] = []
        for turn in range(1, self._settings.turns + 1):
            self._trace.round = turn
            chosen: Sequence[int] = ()
            left = self._settings.queries
            while left >= 0 and not self._context.stopped():
                try:
                    step = self._step(observed, left)
                except RoleUnknown:
                    return self._search()
                except ReasonerError as error:
                    self._context.fail(error, "the next search")
                    # Without a choice, all results in their order; without results, the cues once.
                    chosen = range(sum(len(one.results) for one in observed))
                    left = -1
                    continue
                tried = {one.query.casefold() for one in observed}
                queries = [query for query in step.queries if query.casefold() not in tried][:left]
                if not queries:
                    chosen = step.open
                    break
                observed += [self._observe(query) for query in queries]
                left -= len(queries)
            found = self._open_chosen(observed, chosen)
            if found or self._context.stopped():
                break
            if not observed:
                return self._by_cues()
        return found, [one.query for one in observed]

    def _step(self, observed: Sequence[SearchObservation], left: int) -> SearchStep:
        request = SearchStepRequest(
            self._memory, tuple(observed), self._context.closed, left, self._settings.urls
        )
        step = self._context.reasoner.run(SEARCH_STEP, request)
        self._trace.add("think", step.thought or "; ".join(step.queries) or "opens results", step)
        return step

    def _observe(self, query: str) -> SearchObservation:
        page = self._context.search_videos(query, self._settings.results)
        if page is None:
            return SearchObservation(query, (), failed=True)
        self._context.add_search(query, page)
        self._results[query] = page.results
        return SearchObservation(query, tuple(metadata_of(result) for result in page.results))

    def _open_chosen(self, observed: Sequence[SearchObservation], chosen: Sequence[int]) -> Found:
        """Of each search, the first `urls` of the chosen results that can be downloaded and are new."""
        numbered = [(one.query, result) for one in observed for result in self._results.get(one.query, ())]
        wanted = [numbered[number] for number in dict.fromkeys(chosen) if 0 <= number < len(numbered)]
        return [
            taken
            for one in observed
            for taken in self._open(one.query, [result for query, result in wanted if query == one.query])
        ]

    def _search(self) -> tuple[Found, list[str]]:
        """The candidates, and all queries made."""
        found: Found = []
        tried: list[str] = []
        for turn in range(1, self._settings.turns + 1):
            self._trace.round = turn
            queries = self._recall(tried)
            for query in queries:
                tried.append(query)
                if not self._context.stopped():
                    found += self._take(query)
            if found or not queries or self._context.stopped():
                break
        return found, tried

    def _recall(self, tried: Sequence[str]) -> tuple[str, ...]:
        """The queries of this turn, none of them tried before."""
        reasoner = self._context.reasoner
        try:
            recalled = recall(reasoner, self._memory, tried, self._settings)
        except ReasonerError as error:
            self._context.fail(error, "the searches")
            # Without hypotheses, the cues themselves are the queries, once.
            if self._context.stopped() or tried:
                return ()
            recalled = recall(reasoner, self._memory, tried, replace(self._settings, abduction=False))
        if recalled.queries:
            self._trace.add("think", recalled.thought or "; ".join(recalled.queries), recalled)
        return recalled.queries

    def _by_cues(self) -> tuple[Found, list[str]]:
        """The cues themselves as queries, and the first videos of each."""
        by_cues = recall(self._context.reasoner, self._memory, (), replace(self._settings, abduction=False))
        self._trace.add("think", by_cues.thought, by_cues)
        return [taken for query in by_cues.queries for taken in self._take(query)], list(by_cues.queries)

    def _take(self, query: str) -> Found:
        """The first `urls` videos of a query that can be downloaded and are new."""
        page = self._context.search_videos(query, self._settings.results)
        if page is None:
            return []
        self._context.add_search(query, page)
        return self._open(query, page.results)

    def _open(self, query: str, results: Sequence[SearchResult]) -> Found:
        """Of the results of a query, the first `urls` that can be downloaded and are new."""
        taken: Found = []
        for result in results:
            if len(taken) == self._settings.urls:
                break
            sound = self._settings.sound
            video = self._context.fetch_new(result, "take", transcript=sound, taken=False)
            if video is not None:
                self._trace.add("take", f"{result.title}, {video.duration:.0f} s", url=result.url, taken=True)
                place = (result.url, result.title, video.video_id, video.duration)
                taken.append((CandidateVideo(*place, query, result.rank), video))
        return taken

    # Verify and localize

    def _check(self, candidate: CandidateVideo, video: WebVideo) -> CandidateVideo:
        title, reasoner = candidate.title or candidate.url, self._context.reasoner
        if self._settings.verify:
            try:
                consensus = verify(reasoner, self._second, self._memory, video, self._settings)
                candidate = replace(candidate, consensus=consensus)
                said = "this is the video" if candidate.accepted else "another video"
                text = f"{candidate.title}: {said} (fits by {candidate.fit:.2f})"
                place = {"url": candidate.url, "accepted": candidate.accepted, "fit": candidate.fit}
                self._trace.add("verify", text, consensus, **place)
            except (ReasonerError, FileProblem) as error:
                self._context.fail(error, f"verifying {title}")
        if self._memory.key_moment and not self._context.stopped():
            try:
                moment = locate_moment(reasoner, self._memory, video, self._settings)
                candidate = replace(candidate, moment=moment)
                where = "no frame of it can be shown"
                if moment is not None:
                    by = f"one of {moment.frames} frames" if moment.frames else "by words alone"
                    where = f"at {moment.time:.1f} s, {by}"
                self._trace.add("localize", f"{candidate.title}: {where}", moment, url=candidate.url)
            except (ReasonerError, FileProblem) as error:
                self._context.fail(error, f"localizing in {title}")
        return candidate

    def _choose(self) -> int | None:
        """Accepted candidates first, then by the joint fit of video and moment, then by rank.

        Fits to one decimal: differences below that are noise, and the rank decides.
        """

        def worth(at: int) -> tuple[bool, float, int]:
            candidate = self._candidates[at]
            confidence = candidate.moment.confidence if candidate.moment is not None else 0.0
            return candidate.accepted, round(candidate.fit + confidence, 1), -at

        if not self._settings.verify:
            return 0 if self._candidates else None
        return max(range(len(self._candidates)), key=worth, default=None)

    def _record_answer(self, answer: CandidateVideo | None, matched: bool) -> None:
        if answer is None:
            self._trace.add("answer", "no video was found", matched=False)
            return
        at = "" if answer.moment is None else f", at {answer.moment.time:.1f} s"
        doubt = "" if matched else f" (a guess: {answer.doubt})"
        self._trace.add("answer", f"{answer.title}{at}{doubt}", url=answer.url, matched=matched)
