"""Video-Browser: planner, watcher and analyst over a web of videos (Video-Browser, section 4).

    S_plan = P(Q);   q_t = P(s_t, H_t);   E_t, o_t = W(V_ret, q_t);   A = A(Q, union of E_t)

Each loop plans, searches, filters results by their metadata, and watches the
chosen videos; it ends when every sub-task is solved or after T_max loops. An
error of the web costs a video or a query, an error of the mind a step; neither
is ever taken for knowledge. Every loop is bounded, so every run ends: with an
answer, or with the name of what kept it from one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property, partial

from rag.agents.runtime.frame_source import FrameSource, WebVideo, fetch_video
from rag.agents.runtime.retry import RetryPolicy
from rag.agents.video_browser.analyst import NO_ANSWER, analyse
from rag.agents.video_browser.paradigms import look_at_whole, read_pages, summarize
from rag.agents.video_browser.records import BrowserMemory, BrowseRun
from rag.agents.video_browser.settings import MAIN, BrowserSettings
from rag.agents.video_browser.trace import BrowserTrace, Watch, browse_run
from rag.agents.video_browser.watcher import (
    filter_results,
    observation,
    scan,
    whole_window,
    zoom,
)
from rag.errors import BudgetSpent, FileProblem, ReasonerError, ReasonerUnreachable, UsageError, WebError
from rag.reasoners.roles import PLAN, PlanRequest, Reasoner, TriedQuery
from rag.records import Answer, Question
from rag.web import SearchResult, Web

FATAL = (BudgetSpent, ReasonerUnreachable)
"""After these no other call to the mind for searching makes sense."""
REPLACEMENTS = 2
"""How often in one loop videos that failed are replaced by others of the same results."""


def browse(
    question: Question,
    web: Web,
    reasoner: Reasoner,
    frame_source: FrameSource,
    settings: BrowserSettings = MAIN,
    *,
    watch: Watch | None = None,
    wait: Callable[[float], None] | None = None,
) -> BrowseRun:
    """Answer a question from a web. Errors of web, files and mind are in the result, all of them in
    `failures`, and never raised; a `UsageError` is, for settings that the eyes are not made for.

    `watch` is told of every step as it happens. `wait` sleeps between repeated calls; None does not.
    `reasoner`: as `token_counting.counted` gives it, so that what no language model counts is counted.
    """
    return VideoBrowser(web, reasoner, frame_source, settings, watch=watch, wait=wait).run(question)


class VideoBrowser:
    """One run; made anew for each question."""

    def __init__(
        self,
        web: Web,
        reasoner: Reasoner,
        frame_source: FrameSource,
        settings: BrowserSettings = MAIN,
        *,
        watch: Watch | None = None,
        wait: Callable[[float], None] | None = None,
    ) -> None:
        if settings.sparse == "stored" and settings.paradigm == "pyramidal" and frame_source.library is None:
            raise UsageError(
                "stored frame vectors need a library that holds the web's videos; or look at frames"
            )
        self._web, self._mind, self._eyes, self._settings = web, reasoner, frame_source, settings
        self._patience = RetryPolicy(settings.attempts, wait)
        self._diary = BrowserTrace(web, watch)
        self._over = False
        """The mind cannot be asked for anything but the answer any more."""

    def run(self, question: Question) -> BrowseRun:
        self._mind.usage()
        memory = BrowserMemory(question)
        timings = {"search": 0.0, "answer": 0.0}
        started = time.perf_counter()
        if self._settings.paradigm != "tool-free":
            self._browse(memory)
        self._diary.loop = 0
        timings["search"] = time.perf_counter() - started
        started = time.perf_counter()
        answer, failure = self._answer(memory)
        timings["answer"] = time.perf_counter() - started
        usage = self._mind.usage()
        return browse_run(memory, self._diary, answer, failure, self._settings, usage, timings)

    # The loop

    def _browse(self, memory: BrowserMemory) -> None:
        for loop in range(1, self._settings.max_steps + 1):
            self._diary.loop = loop
            queries = self._plan(memory)
            if queries is None:
                return
            results = self._search(memory, queries)
            if self._settings.paradigm == "text-search":
                self._read(memory, queries, results)
            else:
                self._watch_some(memory, results)
            if self._stopped():
                return

    def _plan(self, memory: BrowserMemory) -> tuple[str, ...] | None:
        """q_t; None ends the loop: all is solved, or nobody can say what to search for."""
        request = PlanRequest(
            question=memory.question,
            sub_questions=memory.sub_questions,
            tried=tuple(memory.tried),
            known=tuple(memory.known),
            step=self._diary.loop,
            max_steps=self._settings.max_steps,
            max_queries=self._settings.queries,
        )
        try:
            plan = self._mind.run(PLAN, request)
        except ReasonerError as error:
            self._failed(error, "the plan")
            # Without any plan the question itself is what can be searched for, once.
            fallback = self._diary.loop == 1 and not self._stopped()
            return (memory.question.text,) if fallback else None
        memory.sub_questions = plan.sub_questions
        memory.focus = "" if plan.focus is None else plan.sub_questions[plan.focus].text
        if self._diary.loop > 1 and plan.search_queries:
            # "Look at the other one" says nothing by itself; the lead stands in the query.
            memory.focus = f"{memory.focus} {plan.search_queries[0]}".strip()
        self._diary.tell_plan(plan)
        if plan.solved or not plan.search_queries:
            return (memory.question.text,) if self._diary.loop == 1 else None
        return plan.search_queries[: self._settings.queries]

    def _search(self, memory: BrowserMemory, queries: Sequence[str]) -> list[SearchResult]:
        """V_ret: results not met before, query by query in turn, best ranks first."""
        found: list[list[SearchResult]] = []
        for query in queries:
            try:
                page = self._patience.call(
                    partial(self._web.search_videos, query, page_size=self._settings.results)
                )
            except WebError as error:
                self._failed(error, f"the search {query!r}")
                memory.tried.append(TriedQuery(query, 0))
                continue
            self._diary.tell_web()
            new = [result for result in page.results if result.url not in memory.seen]
            memory.seen.update((result.url, result) for result in new)
            memory.tried.append(TriedQuery(query, len(new)))
            found.append(new)
            shown = [{"url": result.url, "title": result.title} for result in page.results]
            self._diary.tell(
                "search", f"{query}: {len(page.results)} results, {len(new)} new", query=query, results=shown
            )
        rounds = max((len(results) for results in found), default=0)
        fresh = [results[at] for at in range(rounds) for results in found if at < len(results)]
        left = [result for url, result in memory.seen.items() if url not in memory.spent]
        # What earlier loops found and nobody watched stays a candidate, behind what is new.
        return [*fresh, *(result for result in left if result not in fresh)]

    def _watch_some(self, memory: BrowserMemory, results: Sequence[SearchResult]) -> None:
        """At most K videos of the results; one that cannot be had is replaced, a bounded number of times."""
        left, wanted = list(results), self._settings.videos
        for _ in range(1 + REPLACEMENTS):
            pool = left[: max(self._settings.results * self._settings.queries, wanted)]
            if not pool or wanted < 1 or self._stopped():
                return
            chosen = self._choose(memory, pool, wanted)
            # Fewer than wanted may be chosen: the rest is beside the point. Only what failed is made up for.
            wanted = 0
            for result in chosen:
                left.remove(result)
                if self._stopped():
                    return
                wanted += not self._watch_one(memory, result)

    def _choose(
        self, memory: BrowserMemory, results: Sequence[SearchResult], count: int
    ) -> list[SearchResult]:
        if self._settings.paradigm != "pyramidal":
            return list(results[:count])
        try:
            chosen, reason = filter_results(self._mind, memory, results, count, self._settings)
        except ReasonerError as error:
            self._failed(error, "the choice among results")
            return [] if self._stopped() else list(results[:count])
        self._diary.tell(
            "select",
            f"{len(chosen)} of {len(results)} results worth watching",
            reason=reason,
            chosen=[{"url": result.url, "title": result.title} for result in chosen],
        )
        return chosen

    def _watch_one(self, memory: BrowserMemory, result: SearchResult) -> bool:
        """Whether the video was watched, relevant or not."""
        memory.spent.add(result.url)
        try:
            sight = fetch_video(
                self._web,
                result,
                self._eyes,
                self._patience,
                words=self._settings.transcript,
                missed=lambda error: self._failed(error, f"the transcript of {result.title or result.url}"),
            )
            self._diary.tell_web()
            if sight.video_id in memory.contents:
                self._diary.tell(
                    "reject", f"{result.title}: the same file as one already watched", url=result.url
                )
                return False
            self._perceive(memory, sight)
            memory.contents.add(sight.video_id)
        except (WebError, FileProblem, ReasonerError) as error:
            self._failed(error, result.title or result.url)
            return False
        return True

    def _perceive(self, memory: BrowserMemory, sight: WebVideo) -> None:
        """What the paradigm makes of a video. Raises `WebError`, `FileProblem` or `ReasonerError`."""
        settings = self._settings
        if settings.paradigm == "direct":
            memory.evidence.append(look_at_whole(sight, settings))
            self._diary.tell("watch", f"{sight.result.title}: looked at whole", url=sight.result.url)
        elif settings.paradigm == "summarization":
            summary = summarize(self._mind, memory, sight, settings)
            told = summary.passage.text
            if told.strip():
                memory.summaries.append(summary)
            self._diary.tell(
                "summary", f"{sight.result.title}: {told or 'nothing to tell'}", url=sight.result.url
            )
        elif not settings.localize:
            memory.evidence.append(
                whole_window(sight, settings.whole_frames, settings, rate=settings.zoom_rate)
            )
            self._diary.tell("watch", f"{sight.result.title}: taken whole", url=sight.result.url)
        else:
            self._pyramid(memory, sight)

    def _pyramid(self, memory: BrowserMemory, sight: WebVideo) -> None:
        glimpse = scan(self._scan_reasoner, memory, sight, self._settings)
        read = [zoom(glimpse, window, self._settings) for window in glimpse.windows]
        seen = observation(glimpse, self._settings)
        memory.known.append(seen)
        memory.evidence.extend(read)
        windows = [
            {"start": window.start, "end": window.end, "reason": window.reason} for window in glimpse.windows
        ]
        spans = ", ".join(f"{window.start:.0f}-{window.end:.0f} s" for window in glimpse.windows)
        kind = "reject" if seen.status == "rejected" else "watch"
        self._diary.tell(
            kind,
            f"{seen.title}: {seen.status}" + (f", {spans}" if spans else f" ({seen.summary})"),
            url=seen.url,
            status=seen.status,
            summary=seen.summary,
            confidence=glimpse.located.confidence,
            frames=len(glimpse.sparse.times),
            windows=windows,
        )

    @cached_property
    def _scan_reasoner(self) -> Reasoner:
        """Who goes over the sparse frames: where stored vectors stand in for a look, one who reads them."""
        library = self._eyes.library
        if self._settings.sparse != "stored" or not self._mind.reads_pixels or library is None:
            return self._mind
        from rag.reasoners.embedded import EmbeddedReasoner

        return EmbeddedReasoner(library.engine.text_encoder, library.engine.tower)

    def _read(self, memory: BrowserMemory, queries: Sequence[str], results: Sequence[SearchResult]) -> None:
        pages = read_pages(self._web, self._patience, queries, results, self._settings, missed=self._failed)
        memory.summaries.extend(page for page in pages if page not in memory.summaries)
        self._diary.tell_web()
        self._diary.tell("pages", f"{len(pages)} pages and results read", urls=[page.url for page in pages])

    def _stopped(self) -> bool:
        return self._over

    # The end

    def _answer(self, memory: BrowserMemory) -> tuple[Answer, str]:
        """The answer, and the name of what kept the run from one, or an empty name."""
        try:
            answer = analyse(self._mind, memory, missed=self._failed)
        except ReasonerError as error:
            self._failed(error, "the answer")
            empty = Answer(memory.question, None, NO_ANSWER, 0.0, str(error), False)
            return empty, type(error).__name__
        self._diary.tell(
            "answer",
            answer.text,
            choice=answer.choice,
            confidence=answer.confidence,
            explanation=answer.explanation,
        )
        return answer, ""

    def _failed(self, error: Exception, what: str) -> None:
        self._over = self._over or isinstance(error, FATAL)
        self._diary.failed(error, what)
