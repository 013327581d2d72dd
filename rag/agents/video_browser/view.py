"""How a run of Video-Browser is shown, by pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from corpora.records import clock
from rag.agents.runtime.trace import Entry
from rag.agents.runtime.view import run_json
from rag.agents.video_browser.records import BrowseRun
from rag.reasoners.roles.searching import Plan
from rag.reasoners.roles.watching import LocatedWindow
from rag.rendering.shapes import answer_shape


def plan_details(plan: Plan) -> list[Entry]:
    """The sub-questions with what was found, and what leads on."""
    parts = [
        Entry(f"{part.status}:", part.text + (f" = {part.finding}" if part.finding else ""))
        for part in plan.sub_questions
    ]
    return [*parts, *([Entry("leads:", ", ".join(plan.leads))] if plan.leads else [])]


def window_details(windows: Sequence[LocatedWindow]) -> list[Entry]:
    """The windows that a look proposes."""
    return [Entry(f"{clock(window.start)}-{clock(window.end)} ", window.reason) for window in windows]


def result_json(run: BrowseRun) -> dict[str, Any]:
    """`rag.agent.video-browser/1`; clock times are those of the answer."""
    fields = "failure failures sub_questions watched loops searches tokens sparse_image_tokens context"
    return {**answer_shape(run.answer), **run_json("rag.agent.video-browser/1", run, fields)}
