"""A run of Video-Browser for the terminal, as JSON and as a page. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from localization.sampling import midpoints
from rag.agents.runtime import trace
from rag.agents.runtime.trace import Step
from rag.agents.runtime.view import (
    Block,
    Card,
    FrameStrip,
    Page,
    Section,
    Span,
    Table,
    console_view,
    entry,
    run_json,
    steps_section,
    title_lines,
    token_line,
)
from rag.agents.video_browser.records import BrowseRun
from rag.reasoners.roles.reading import ReadWindow
from rag.rendering.shapes import answer_shape
from rag.rendering.terminal import clock, counted_each, excerpt

FRAMES_OF_WINDOW = 4
MOST_WINDOWS = 24
"""Windows with frames on a page; more would make a file of tens of megabytes."""


def _details(step: Step, width: int) -> Iterator[str]:
    data = step.data
    if step.kind == "plan":
        for part in data["sub_questions"]:
            found = f" = {part['finding']}" if part["finding"] else ""
            yield entry(f"  {part['status']}:", part["text"] + found, width)
        if data["leads"]:
            yield entry("  leads:", ", ".join(data["leads"]), width)
    elif step.kind == "search":
        yield from title_lines(data["results"][:3], width)
    elif step.kind == "select":
        yield from title_lines(data["chosen"], width)
    elif step.kind == "watch":
        for window in data.get("windows", ()):
            span = f"{clock(window['start'])}-{clock(window['end'])}"
            yield f"  {span}  {excerpt(window['reason'], width - 18)}"
    elif step.kind == "answer":
        yield entry(" ", data["explanation"], width)


step_lines = console_view({}, _details)


def result_json(run: BrowseRun) -> dict[str, Any]:
    """`rag.agent.video-browser/1`; clock times are those of the answer."""
    fields = "failure failures sub_questions watched loops searches tokens sparse_image_tokens context"
    return {**answer_shape(run.answer), **run_json("rag.agent.video-browser/1", run, fields)}


def result_step(run: BrowseRun) -> Step:
    """The last line of a trace."""
    text = run.answer.text
    return trace.result_step(run.steps, text, result_json(run), counter="loop")


def result_page(run: BrowseRun, token_count_method: str = "") -> Page:
    """The result as an HTML page."""
    plan = [(part.text, " ", Span(f"{part.status} {part.finding}", "quiet")) for part in run.sub_questions]
    windows: list[Block] = [_window(read) for read in run.evidence[:MOST_WINDOWS]]
    left = len(run.evidence) - MOST_WINDOWS
    windows += [Span(f"and {left} more windows", "quiet")] if left > 0 else []
    return Page(
        title=run.answer.question.text,
        heading=run.answer.question.text,
        sections=(
            Section("", [_answer(run, token_count_method)]),
            Section("Plan", plan),
            steps_section(run.steps, _step_blocks),
            Section("Evidence of the analyst", windows),
        ),
    )


def _answer(run: BrowseRun, token_count_method: str) -> Card:
    answer = run.answer
    label = f"({answer.choice}) " if answer.choice else ""
    blocks: list[Block] = [Span(f"{label}{answer.text}", "strong"), answer.explanation]
    if run.failure:
        blocks.append(Span(f"The run ended without an answer: {run.failure}", "bad"))
    counts = counted_each(loop=run.loops, search=run.searches, video=len(run.watched), token=run.tokens)
    facts = f"confidence {answer.confidence:.2f}; {counts}, {run.context} of them in the last prompt"
    return Card([*blocks, token_line(facts, token_count_method)], "answer")


def _step_blocks(step: Step) -> list[Block]:
    data = step.data
    if step.kind == "plan":
        return [Span(str(data["thought"]), "quiet")]
    if step.kind == "select":
        titles = "; ".join(str(result["title"]) for result in data["chosen"])
        return [Span(f"{data['reason']} {titles}", "quiet")]
    if step.kind == "watch" and data.get("windows"):
        windows = data["windows"]
        return [Table([(f"{clock(one['start'])}-{clock(one['end'])}", one["reason"]) for one in windows])]
    return []


def _window(read: ReadWindow) -> Card:
    window = read.window
    span = f" {clock(window.start)}-{clock(window.end)} "
    seen = read.frames is not None or (read.frame_vectors is not None and len(read.frame_vectors) > 0)
    strip = FrameStrip(
        source=read.path,
        times=midpoints(window.start, window.end, FRAMES_OF_WINDOW).tolist(),
        title=read.title,
        note="" if seen else "The reasoner saw no frame of this window.",
    )
    texts = [Span(f"{text.kind}: {text.text}", "quiet") for text in read.texts]
    return Card([(Span(read.title, "strong"), span, Span(read.path, "quiet")), *texts, strip])
