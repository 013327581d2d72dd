"""A run of Video-Browser as JSON and as blocks of a page. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from localization.sampling import midpoints
from rag.agents.runtime.page import Block, Entry, FrameStrip, Span
from rag.agents.runtime.view import run_json
from rag.agents.video_browser.records import BrowseRun
from rag.reasoners.roles.locate import LocatedWindow
from rag.reasoners.roles.plan import Plan
from rag.reasoners.roles.reading import ReadWindow
from rag.rendering.shapes import answer_shape
from rag.rendering.terminal import clock

FRAMES_OF_WINDOW = 4
MOST_WINDOWS = 24
"""Windows with frames on a page; more would make a file of tens of megabytes."""


def plan_details(plan: Plan) -> list[Block]:
    """The sub-questions with what was found, and what leads on."""
    parts = [
        Entry(f"{part.status}:", part.text + (f" = {part.finding}" if part.finding else ""))
        for part in plan.sub_questions
    ]
    return [*parts, *([Entry("leads:", ", ".join(plan.leads))] if plan.leads else [])]


def window_details(windows: Sequence[LocatedWindow]) -> list[Block]:
    """The windows that a look proposes."""
    return [Entry(f"{clock(window.start)}-{clock(window.end)} ", window.reason) for window in windows]


def result_json(run: BrowseRun) -> dict[str, Any]:
    """`rag.agent.video-browser/1`; clock times are those of the answer."""
    fields = "failure failures sub_questions watched loops searches tokens sparse_image_tokens context"
    return {**answer_shape(run.answer), **run_json("rag.agent.video-browser/1", run, fields)}


def result_blocks(run: BrowseRun) -> Iterator[Block]:
    """The result on a page, with the windows that the analyst read."""
    answer = run.answer
    label = f"({answer.choice}) " if answer.choice else ""
    yield Span(f"{label}{answer.text}", "strong")
    yield answer.explanation
    if run.failure:
        yield Span(f"The run ended without an answer: {run.failure}", "bad")
    yield Span(f"confidence {answer.confidence:.2f}; {run.context} tokens in the last prompt", "quiet")
    for read in run.evidence[:MOST_WINDOWS]:
        yield from _window(read)
    if (left := len(run.evidence) - MOST_WINDOWS) > 0:
        yield Span(f"and {left} more windows", "quiet")


def _window(read: ReadWindow) -> Iterator[Block]:
    window = read.window
    yield Entry(f"{clock(window.start)}-{clock(window.end)}", f"{read.title} {read.path}")
    yield from (Span(f"{text.kind}: {text.text}", "quiet") for text in read.texts)
    seen = read.frames is not None or (read.frame_vectors is not None and len(read.frame_vectors) > 0)
    yield FrameStrip(
        source=read.path,
        times=midpoints(window.start, window.end, FRAMES_OF_WINDOW).tolist(),
        title=read.title,
        note="" if seen else "The reasoner saw no frame of this window.",
    )
