"""What happens in a browsing run, told as it happens; and at the end what came of it and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from rag.agents.runtime.trace import RunTrace
from rag.agents.video_browser.records import BrowserMemory, BrowserStep, BrowseRun
from rag.agents.video_browser.settings import BrowserSettings
from rag.reasoners.roles import Plan
from rag.records import Answer, Usage
from rag.web import Web

Watch = Callable[[BrowserStep], None]
ANSWERING = ("answer_choice", "answer_open")


class BrowserTrace(RunTrace[BrowserStep]):
    """The steps of one browsing run, each with the search loop that it belongs to."""

    def __init__(self, web: Web, watch: Watch | None = None) -> None:
        super().__init__(web, lambda number, *told: BrowserStep(number, self.loop, *told), watch)
        self.loop = 0
        """The search loop that is under way; 0 before and after them."""

    @property
    def loops(self) -> int:
        return max((step.loop for step in self.steps), default=0)

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


def browse_run(
    memory: BrowserMemory,
    diary: BrowserTrace,
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
