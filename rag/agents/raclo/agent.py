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
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from corpora.escaping import visible
from corpora.records import clock
from rag.agents.raclo.records import PAPER, CandidateVideo, RacloRun, RacloSettings, cues_of, only_cues
from rag.agents.raclo.verification import locate_moment, verify
from rag.agents.runtime.context import NOTHING_FOUND, AgentContext
from rag.agents.runtime.frame_source import FrameSource, WebVideo
from rag.agents.runtime.trace import Watch, imagined_details, place_line, run_json
from rag.errors import FileProblem, ReasonerError, RoleUnknown, UsageError
from rag.reasoners.protocol import Reasoner
from rag.reasoners.roles.material import Memory
from rag.reasoners.roles.searching import (
    IMAGINE_QUERIES,
    SEARCH_STEP,
    ImaginedQueries,
    ImagineRequest,
    SearchObservation,
    SearchStep,
    SearchStepRequest,
)
from rag.reasoners.roles.watching import Consensus
from rag.rendering.shapes import plain
from rag.rendering.terminal import excerpt
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
) -> RacloRun:
    """Find the video, and the moment where a key moment is given.

    Errors of web and reasoner are in the result. Raises `UsageError` for cues that are none of the nine
    sets, and for stored frames without a library.

    `second`: the other judge of the consensus; None: the first judges again, with frames between those it
    saw. `watch`: called with each step.
    """
    if settings.frames == "stored" and frame_source.library is None:
        raise UsageError("stored frame embeddings need a library that holds the web's videos")
    cues = cues_of(memory)
    memory = only_cues(memory, cues)
    context = AgentContext(web, reasoner, frame_source, counter="turn", watch=watch)
    return _RacloRun(context, settings, second, memory).run(cues)


class _RacloRun:
    """One memory."""

    def __init__(
        self, context: AgentContext, settings: RacloSettings, second: Reasoner | None, memory: Memory
    ) -> None:
        self._context, self._trace, self._settings = context, context.trace, settings
        self._second, self._memory = second, memory
        self._candidates: list[CandidateVideo] = []
        self._observed: list[SearchObservation] = []
        self._results: list[tuple[str, Sequence[SearchResult]]] = []
        """The query and the results of each search, in the order of `_observed`."""

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
        found: Found = []
        for turn in range(1, self._settings.turns + 1):
            self._trace.round = turn
            chosen = self._turn()
            if chosen is None:
                break
            found = self._open_chosen(chosen)
            if found or self._context.stopped():
                break
        return found, [one.query for one in self._observed]

    def _turn(self) -> Sequence[int] | None:
        """Search as long as the model wants to and may; the numbers of the results that it wants opened, and
        None where there is nothing to search for."""
        if not (self._settings.abduction and self._settings.react):
            return self._search_all()
        left = self._settings.queries
        while not self._context.stopped():
            try:
                step = self._step(left)
            except RoleUnknown:
                return self._search_all()
            except ReasonerError as error:
                self._context.fail(error, "the next search")
                # Without a choice, all results in their order; without results, the cues once.
                known = self._observed or self._context.stopped()
                return self._every_result() if known else self._search_all(by_cues=True)
            tried = {one.query.casefold() for one in self._observed}
            queries = [query for query in step.queries if query.casefold() not in tried][:left]
            if not queries:
                return step.open if self._observed else self._search_all(by_cues=True)
            for query in queries:
                self._observe(query)
            left -= len(queries)
        return ()

    def _search_all(self, *, by_cues: bool = False) -> Sequence[int] | None:
        """All searches of this turn at once, none of them made before; every result is to be opened."""
        queries = self._recall([one.query for one in self._observed], by_cues)
        for query in queries:
            if not self._context.stopped():
                self._observe(query)
        return self._every_result() if queries else None

    def _every_result(self) -> Sequence[int]:
        return range(sum(len(results) for _, results in self._results))

    def _step(self, left: int) -> SearchStep:
        closed, urls = self._context.closed, self._settings.urls
        request = SearchStepRequest(self._memory, tuple(self._observed), closed, left, urls)
        step = self._context.reasoner.run(SEARCH_STEP, request)
        details = [f"search for: {query}" for query in step.queries]
        self._trace.add("think", step.thought or "opens results", step, details=details)
        return step

    def _observe(self, query: str) -> None:
        page = self._context.search_videos(query, self._settings.results)
        results = () if page is None else tuple(page.results)
        if page is not None:
            self._context.add_search(query, page)
        self._observed.append(SearchObservation(query, results, failed=page is None))
        self._results.append((query, results))

    def _recall(self, tried: Sequence[str], by_cues: bool) -> tuple[str, ...]:
        """The queries of this turn, none of them tried before."""
        reasoner, plainly = self._context.reasoner, replace(self._settings, abduction=False)
        try:
            recalled = recall(reasoner, self._memory, tried, plainly if by_cues else self._settings)
        except ReasonerError as error:
            self._context.fail(error, "the searches")
            # Without hypotheses, the cues themselves are the queries, once.
            if self._context.stopped() or tried:
                return ()
            recalled = recall(reasoner, self._memory, tried, plainly)
        if recalled.queries:
            details = [*imagined_details(recalled), *(f"search for: {query}" for query in recalled.queries)]
            text = recalled.thought or "; ".join(recalled.queries)
            self._trace.add("think", text, recalled, details=details)
        return recalled.queries

    def _open_chosen(self, chosen: Sequence[int]) -> Found:
        """Of each search, the first `urls` of the chosen results that can be downloaded and are new."""
        numbered = [(query, result) for query, results in self._results for result in results]
        wanted = [numbered[number] for number in dict.fromkeys(chosen) if 0 <= number < len(numbered)]
        return [
            taken
            for query, _ in self._results
            for taken in self._open(query, [result for own, result in wanted if own == query])
        ]

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
                self._trace.add("verify", text, consensus, details=_verdict_details(consensus), **place)
            except (ReasonerError, FileProblem) as error:
                self._context.fail(error, f"verifying {title}")
        if self._memory.key_moment and not self._context.stopped():
            try:
                moment = locate_moment(reasoner, self._memory, video, self._settings)
                candidate = replace(candidate, moment=moment)
                where, details = "no frame of it can be shown", list[str]()
                if moment is not None:
                    details = [f"{clock(moment.start)}-{clock(moment.end)}, {moment.reason}"]
                    by = f"one of {moment.frames} frames" if moment.frames else "by words alone"
                    where = f"at {moment.time:.1f} s, {by}"
                text = f"{candidate.title}: {where}"
                self._trace.add("localize", text, moment, details=details, url=candidate.url)
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


def _verdict_details(consensus: Consensus) -> list[str]:
    """What the judges said."""
    return [
        f"{name} judge: {'yes' if verdict.video_match else 'no'}, {verdict.reason}"
        for name, verdict in (("first", consensus.first), ("second", consensus.second))
        if verdict is not None
    ]


def result_lines(run: RacloRun, width: int) -> Iterator[str]:
    """The video and the moment, or that there is none."""
    answer = run.answer
    if answer is None:
        yield f"nothing found ({run.failure})"
        return
    if not run.matched:
        yield f"a guess, {answer.doubt}:"
    yield visible(excerpt(answer.title or answer.url, width))
    if answer.moment is None:
        yield visible(answer.url)
        return
    moment = answer.moment
    yield place_line(answer.url, moment.start, moment.end)
    by = "" if moment.frames else ", by words alone"
    yield f"at {clock(moment.time)}, in {clock(moment.start)}-{clock(moment.end)}{by}"


def result_json(run: RacloRun) -> dict[str, Any]:
    """`rag.agent.raclo/1`; clock times are in `timings` and `usage` alone."""
    fields = "memory cues matched queries turns searches failure failures tokens usage timings"
    candidates = [_candidate_json(one) for one in run.candidates]
    answer = None if run.chosen is None else candidates[run.chosen]
    return run_json("rag.agent.raclo/1", run, fields, answer=answer, candidates=candidates)


def _candidate_json(one: CandidateVideo) -> dict[str, Any]:
    shape = plain(one)
    verdicts = shape.pop("consensus") or {"first": None, "second": None}
    return {**shape, "accepted": one.accepted, "fit": one.fit, **verdicts}
