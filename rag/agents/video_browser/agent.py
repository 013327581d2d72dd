"""Video-Browser: planner, watcher and analyst over a web of videos (Video-Browser, section 4).

    S_plan = P(Q);   q_t = P(s_t, H_t);   E_t, o_t = W(V_ret, q_t);   A = A(Q, union of E_t)

Each loop plans, searches, filters results by their metadata, and watches the selected videos; it ends when
every sub-task is solved or after T_max loops. An error of the web loses a video or a query, an error of
the reasoner a step. Every loop is bounded: a run ends with an answer, or with the name of the error that
prevented one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from corpora.records import Passage, clock
from rag.agents.runtime.context import AgentContext
from rag.agents.runtime.frame_source import FrameSource, WebVideo
from rag.agents.runtime.trace import Watch, run_json
from rag.agents.video_browser.records import MAIN, BrowserMemory, BrowserSettings, BrowseRun
from rag.agents.video_browser.watcher import (
    filter_results,
    metadata_passage,
    observation,
    scan,
    summarize,
    whole_window,
    zoom,
)
from rag.answering import answer_of, answer_reading
from rag.citations import cite
from rag.errors import FileProblem, ReasonerError, ReasonerUnreachable
from rag.reasoners.embedded import EmbeddedReasoner
from rag.reasoners.protocol import Reasoner
from rag.reasoners.roles.answers import ANSWER_UNAIDED
from rag.reasoners.roles.questions import ANCHOR_EVENT, REWRITE_QUESTION, AnchorEvent, RewrittenQuestion
from rag.reasoners.roles.reading import Reading, ReadPassage
from rag.reasoners.roles.searching import PLAN, Plan, PlanRequest, TriedQuery
from rag.reasoners.wrappers import part_of
from rag.records import Answer, Question, Usage
from rag.rendering.shapes import answer_shape
from rag.web import PageEntry, SearchResult, Web

REPLACEMENTS = 2
"""How often in one loop videos that failed are replaced by others of the same results."""
ANSWER_ROLES = ("answer_choice", "answer_open", "answer_unaided")
UNAIDED = ("tool-free", "text-search")
"""Paradigms without a video: the model may answer from what it knows (section 5.2)."""
NO_ANSWER = "Nothing that was found answers the question."
PAGE_CHARACTERS = 4000
"""Characters of a page that are read."""


def run_video_browser(
    question: Question,
    web: Web,
    reasoner: Reasoner,
    frame_source: FrameSource,
    settings: BrowserSettings = MAIN,
    *,
    must_choose: bool = False,
    watch: Watch | None = None,
) -> BrowseRun:
    """Answer a question from a web. Errors of web, files and reasoner are in the result, all of them in
    `failures`.

    `must_choose`: one of the options is taken even without evidence. `watch`: called with each step.
    """
    context = AgentContext(web, reasoner, frame_source, counter="loop", watch=watch)
    must_choose = must_choose and bool(question.options)
    return _BrowserRun(context, settings, BrowserMemory(question), must_choose).run()


class _BrowserRun:
    """One question."""

    def __init__(
        self, context: AgentContext, settings: BrowserSettings, memory: BrowserMemory, must_choose: bool
    ) -> None:
        self._context, self._trace, self._settings = context, context.trace, settings
        self._memory, self._must_choose = memory, must_choose

    def run(self) -> BrowseRun:
        started = time.perf_counter()
        if self._settings.paradigm != "tool-free":
            self._browse()
        self._trace.round = 0
        searched = time.perf_counter()
        answer, failure = self._answer()
        timings = {"search": searched - started, "answer": time.perf_counter() - searched}
        return self._result(answer, failure, timings)

    # The loop

    def _browse(self) -> None:
        for loop in range(1, self._settings.max_steps + 1):
            self._trace.round = loop
            queries = self._plan()
            if queries is None:
                return
            results = self._search(queries)
            if self._settings.paradigm == "text-search":
                self._read(queries, results)
            else:
                self._watch_some(results)
            if self._context.stopped():
                return

    def _plan(self) -> tuple[str, ...] | None:
        """q_t; None ends the loop: all is solved, or there is no query."""
        memory, loop, settings = self._memory, self._trace.round, self._settings
        request = PlanRequest(
            question=memory.question,
            sub_questions=memory.sub_questions,
            tried=tuple(memory.tried),
            known=tuple(memory.known),
            step=loop,
            max_steps=settings.max_steps,
            max_queries=settings.queries,
        )
        try:
            plan = self._context.reasoner.run(PLAN, request)
        except ReasonerError as error:
            self._context.fail(error, "the plan")
            # Without a plan the question itself is the query, once.
            return (memory.question.text,) if loop == 1 and not self._context.stopped() else None
        memory.sub_questions = plan.sub_questions
        memory.focus = "" if plan.focus is None else plan.sub_questions[plan.focus].text
        if loop > 1 and plan.search_queries:
            # A sub-question such as "look at the other one" is understood with its query alone.
            memory.focus = f"{memory.focus} {plan.search_queries[0]}".strip()
        solved = sum(part.status == "solved" for part in plan.sub_questions)
        queries = "; ".join(plan.search_queries) or "nothing"
        text = f"{solved} of {len(plan.sub_questions)} sub-questions solved; searching for: {queries}"
        data = plan.model_dump(exclude={"search_queries"})
        self._trace.add("plan", text, details=_plan_details(plan), queries=plan.search_queries, **data)
        if plan.solved or not plan.search_queries:
            return (memory.question.text,) if loop == 1 else None
        return plan.search_queries[: settings.queries]

    def _search(self, queries: Sequence[str]) -> list[SearchResult]:
        """V_ret: new results, best ranks of every query first, then those of earlier loops that were not
        watched."""
        memory = self._memory
        found: list[list[SearchResult]] = []
        for query in queries:
            page = self._context.search_videos(query, self._settings.results)
            if page is None:
                memory.tried.append(TriedQuery(query, 0))
                continue
            new = [result for result in page.results if result.url not in memory.seen]
            memory.seen.update((result.url, result) for result in new)
            memory.tried.append(TriedQuery(query, len(new)))
            found.append(new)
            self._context.add_search(query, page, f", {len(new)} new")
        rounds = max((len(results) for results in found), default=0)
        fresh = [results[at] for at in range(rounds) for results in found if at < len(results)]
        left = [result for url, result in memory.seen.items() if url not in memory.spent]
        return [*fresh, *(result for result in left if result not in fresh)]

    def _watch_some(self, results: Sequence[SearchResult]) -> None:
        """At most K videos; one that cannot be downloaded is replaced, a bounded number of times."""
        left, wanted = list(results), self._settings.videos
        for _ in range(1 + REPLACEMENTS):
            pool = left[: max(self._settings.results * self._settings.queries, wanted)]
            if not pool or wanted < 1 or self._context.stopped():
                return
            chosen = self._select(pool, wanted)
            # A reasoner may select fewer videos; only those that failed are replaced.
            wanted = 0
            for result in chosen:
                left.remove(result)
                if self._context.stopped():
                    return
                wanted += not self._watch_one(result)

    def _select(self, results: Sequence[SearchResult], count: int) -> list[SearchResult]:
        if self._settings.paradigm != "pyramidal":
            return list(results[:count])
        try:
            chosen, reason = filter_results(
                self._context.reasoner, self._memory, results, count, self._settings
            )
        except ReasonerError as error:
            self._context.fail(error, "the choice among results")
            return [] if self._context.stopped() else list(results[:count])
        self._trace.add(
            "select",
            f"{len(chosen)} of {len(results)} results worth watching",
            details=[f"- {result.title}" for result in chosen],
            reason=reason,
            chosen=[{"url": result.url, "title": result.title} for result in chosen],
        )
        return chosen

    def _watch_one(self, result: SearchResult) -> bool:
        """Whether the video was watched, relevant or not."""
        self._memory.spent.add(result.url)
        video = self._context.fetch_new(result, "reject", transcript=self._settings.transcript)
        if video is None:
            return False
        try:
            self._perceive(video)
        except (FileProblem, ReasonerError) as error:
            self._context.fail(error, result.title or result.url)
            return False
        return True

    def _perceive(self, video: WebVideo) -> None:
        """Watch a video as the paradigm does. Raises `FileProblem` or `ReasonerError`."""
        settings, memory, trace = self._settings, self._memory, self._trace
        title, url = video.result.title, video.result.url
        if settings.paradigm == "direct":
            memory.evidence.append(whole_window(video, settings.whole_frames, settings))
            trace.add("watch", f"{title}: looked at whole", url=url)
        elif settings.paradigm == "summarization":
            summary = summarize(self._context.reasoner, memory.question, video, settings)
            caption = summary.passage.text
            if caption.strip():
                memory.passages.append(summary)
            trace.add("summary", f"{title}: {caption or 'nothing to report'}", url=url)
        elif not settings.localize:
            whole = whole_window(video, settings.whole_frames, settings, rate=settings.zoom_rate)
            memory.evidence.append(whole)
            trace.add("watch", f"{title}: taken whole", url=url)
        else:
            self._pyramid(video)

    def _pyramid(self, video: WebVideo) -> None:
        found = scan(self._context.reasoner, self._memory, video, self._settings)
        read = [zoom(found, window, self._settings) for window in found.windows]
        seen = observation(found, self._settings)
        self._memory.known.append(seen)
        self._memory.evidence.extend(read)
        spans = ", ".join(f"{window.start:.0f}-{window.end:.0f} s" for window in found.windows)
        self._trace.add(
            "reject" if seen.status == "rejected" else "watch",
            f"{seen.title}: {seen.status}" + (f", {spans}" if spans else f" ({seen.summary})"),
            details=[f"{clock(one.start)}-{clock(one.end)} {one.reason}" for one in found.windows],
            url=seen.url,
            status=seen.status,
            summary=seen.summary,
            confidence=found.located.confidence,
            frames=len(found.sparse.times),
            windows=found.windows,
        )

    def _read(self, queries: Sequence[str], results: Sequence[SearchResult]) -> None:
        """Read the best pages of text for the queries, and what the results say of videos."""
        context, memory, settings = self._context, self._memory, self._settings
        found: dict[str, None] = {}
        for query in queries:
            context.searches += 1
            search = partial(context.web.search, query, page_size=settings.pages)
            page = context.attempt(search, f"the search for pages {query!r}")
            found |= dict.fromkeys(result.url for result in page.results) if page is not None else {}
        read = []
        for url in list(found)[: settings.pages]:
            text = context.attempt(partial(context.web.open, url), url)
            if text is not None:
                held = text.content if isinstance(text, PageEntry) else text.description
                passage = Passage(text.id, url, text.title, held[:PAGE_CHARACTERS])
                read.append(ReadPassage(passage, url, 1.0, None))
        read += map(metadata_passage, results[: settings.results])
        memory.passages.extend(page for page in read if page not in memory.passages)
        self._trace.add("pages", f"{len(read)} pages and results read", urls=[page.path for page in read])

    # The analyst: from the accumulated evidence to the answer (equation 4)

    def _answer(self) -> tuple[Answer, str]:
        """The answer, and the name of the error that prevented one, or an empty name."""
        memory, reasoner = self._memory, self._context.reasoner
        try:
            asked, rewritten, anchor = self._asked()
            reading = Reading(
                question=asked,
                rewritten=rewritten,
                anchor=anchor,
                windows=tuple(memory.evidence),
                passages=tuple(memory.passages),
                must_choose=self._must_choose,
            )
            unaided = self._settings.paradigm in UNAIDED and not reading.question.options
            reply = reasoner.run(ANSWER_UNAIDED, reading) if unaided else answer_reading(reasoner, reading)
        except ReasonerError as error:
            self._context.fail(error, "the answer")
            empty = Answer(memory.question, None, NO_ANSWER, 0.0, str(error), False)
            return empty, type(error).__name__
        answer = answer_of(memory.question, reply, cite(reading, reply), no_answer=NO_ANSWER)
        self._trace.add_answer(answer)
        return answer, ""

    def _asked(self) -> tuple[Question, RewrittenQuestion, AnchorEvent]:
        """The question for the analyst, with its rewriting and its anchor event.

        The embedded analyst gets the last sub-question, to which the others lead. Any other analyst gets the
        whole question, as in the paper, and no call is made. Where rewriting fails, also because only the
        answer's own share of a budget is left, the words of the sub-question are used. Raises
        `ReasonerUnreachable`, since no later call can succeed.
        """
        question, parts = self._memory.question, self._memory.sub_questions
        asked = replace(question, text=parts[-1].text) if len(parts) > 1 else question
        rewritten, anchor = RewrittenQuestion(visual_query=asked.text), AnchorEvent(description=asked.text)

        if part_of(self._context.reasoner, "analyst").name != EmbeddedReasoner.name:
            return question, rewritten, anchor
        try:
            rewritten = self._context.reasoner.run(REWRITE_QUESTION, asked)
            anchor = self._context.reasoner.run(ANCHOR_EVENT, asked)
        except ReasonerUnreachable:
            raise
        except ReasonerError as error:
            self._context.fail(error, "the rewriting of the question")
        return asked, rewritten, anchor

    def _result(self, answer: Answer, failure: str, timings: Mapping[str, float]) -> BrowseRun:
        memory, outcome = self._memory, self._context.outcome()
        usage: Usage = outcome["usage"]
        prompts = (usage.by_role.get(role, {}).get("last_prompt_tokens", 0) for role in ANSWER_ROLES)
        return BrowseRun(
            answer=replace(answer, usage=usage, timings=timings),
            failure=failure,
            sub_questions=memory.sub_questions,
            watched=tuple(memory.known),
            evidence=tuple(memory.evidence),
            loops=max((step.round for step in self._trace.steps), default=0),
            sparse_image_tokens=int(usage.by_role.get("locate", {}).get("image_tokens", 0)),
            context=int(max(prompts)),
            **outcome,
        )


def _plan_details(plan: Plan) -> list[str]:
    """The sub-questions with what was found, and what leads on."""
    parts = [
        f"{part.status}: {part.text}" + (f" = {part.finding}" if part.finding else "")
        for part in plan.sub_questions
    ]
    return [*parts, *([f"leads: {', '.join(plan.leads)}"] if plan.leads else [])]


def result_json(run: BrowseRun) -> dict[str, Any]:
    """`rag.agent.video-browser/1`; clock times are those of the answer."""
    fields = "failure failures sub_questions watched loops searches tokens sparse_image_tokens context"
    return {**answer_shape(run.answer), **run_json("rag.agent.video-browser/1", run, fields)}
