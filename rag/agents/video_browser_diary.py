"""What happens in a browsing run, told as it happens; and at the end what came of it and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from rag.agents.video_browser_records import BrowserMemory, BrowserStep, BrowseRun
from rag.agents.video_browser_settings import BrowserSettings
from rag.reasoners.roles import Plan
from rag.records import Answer, Usage
from rag.web import Web

__all__ = ["Diary", "Watch", "browse_run"]

Watch = Callable[[BrowserStep], None]
ANSWERING = ("answer_choice", "answer_open")
SEARCHING = ("search_videos", "search")


class Diary:
    """The steps of one run, from the first call that its web sees. `watch` is told of each."""

    def __init__(self, web: Web, watch: Watch | None = None) -> None:
        self.steps: list[BrowserStep] = []
        self.failures: list[str] = []
        """Names of what went wrong on the way, web and mind, in order."""
        self.loop = 0
        """The search loop that is under way; 0 before and after them."""
        self._watch = watch
        self._trace = web.trace
        self._told = self._began = len(web.trace.events)

    @property
    def loops(self) -> int:
        return max((step.loop for step in self.steps), default=0)

    @property
    def searches(self) -> int:
        events = self._trace.events[self._began :]
        return sum(event.operation in SEARCHING for event in events)

    def tell(self, kind: str, text: str, **data: Any) -> None:
        step = BrowserStep(len(self.steps) + 1, self.loop, kind, " ".join(text.split()), data)
        self.steps.append(step)
        if self._watch is not None:
            self._watch(step)

    def tell_plan(self, plan: Plan) -> None:
        parts = [part.model_dump() for part in plan.sub_questions]
        solved = sum(part.status == "solved" for part in plan.sub_questions)
        self.tell(
            "plan",
            f"{solved} of {len(parts)} sub-questions solved; searching for: "
            + ("; ".join(plan.search_queries) or "nothing"),
            thought=plan.thought,
            sub_questions=parts,
            focus=plan.focus,
            leads=list(plan.leads),
            queries=list(plan.search_queries),
        )

    def tell_web(self) -> None:
        """What was asked of the web since the last time."""
        events = self._trace.events
        for event in events[self._told :]:
            self.tell("web", f"{event.operation} {event.asked}: {event.outcome}", **event.line())
        self._told = len(events)

    def failed(self, error: Exception, what: str) -> None:
        """An error, after the calls that led to it."""
        self.tell_web()
        name = type(error).__name__
        self.failures.append(name)
        self.tell("failure", f"{what}: {name}: {error}", error=name)


def browse_run(
    memory: BrowserMemory,
    diary: Diary,
    answer: Answer,
    failure: str,
    settings: BrowserSettings,
    usage: Usage,
    timings: Mapping[str, float],
) -> BrowseRun:
    """All of it together. Where stored vectors stood in for a look, that look cost nothing."""
    sparse = int(usage.by_role.get("locate", {}).get("image_tokens", 0))
    skipped = sparse if settings.sparse == "stored" else 0
    prompts = (usage.by_role.get(role, {}).get("last_prompt_tokens", 0) for role in ANSWERING)
    return BrowseRun(
        answer=replace(answer, usage=usage, timings=timings),
        failure=failure,
        failures=tuple(diary.failures),
        sub_questions=memory.sub_questions,
        watched=tuple(memory.known),
        evidence=tuple(memory.evidence),
        loops=diary.loops,
        searches=diary.searches,
        tokens=usage.prompt_tokens + usage.completion_tokens - skipped,
        sparse_image_tokens=sparse - skipped,
        context=int(max(prompts)),
        steps=tuple(diary.steps),
    )
