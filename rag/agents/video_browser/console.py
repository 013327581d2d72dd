"""A browsing run in words: lines for people while it works, and JSON. Pure; colour is the command line's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rag.agents.video_browser.records import BrowserStep, BrowseRun
from rag.rendering.shapes import answer_shape, plain
from rag.rendering.terminal import clock, excerpt, visible

QUIET = ("web",)
"""Calls of the web are told in the trace alone."""


def step_lines(step: BrowserStep, width: int) -> Iterator[str]:
    """What happened and why, in a few lines no wider than `width`; a problem is told whole."""
    if step.kind in QUIET:
        return
    label = "problem:" if step.kind == "failure" else f"{step.kind}:"
    if step.kind == "failure":
        # Whole: what to do next stands at its end.
        yield f"  {label} {visible(step.text)}"
        return
    yield f"{label} {excerpt(step.text, width - 12)}"
    data = step.data
    if step.kind == "plan":
        for part in data["sub_questions"]:
            found = f" = {part['finding']}" if part["finding"] else ""
            yield f"  {part['status']}: {excerpt(part['text'] + found, width - 14)}"
        if data["leads"]:
            yield f"  leads: {excerpt(', '.join(data['leads']), width - 12)}"
    elif step.kind == "search":
        for result in data["results"][:3]:
            yield f"  {excerpt(result['title'], width - 4)}"
    elif step.kind == "select":
        for result in data["chosen"]:
            yield f"  {excerpt(result['title'], width - 4)}"
    elif step.kind == "watch":
        for window in data.get("windows", ()):
            span = f"{clock(window['start'])}-{clock(window['end'])}"
            yield f"  {span}  {excerpt(window['reason'], width - 18)}"
    elif step.kind == "answer":
        yield f"  {visible(excerpt(data['explanation'], width - 4))}"


def run_json(run: BrowseRun) -> dict[str, Any]:
    """`rag.agent.video-browser/1`, without clock times but those of `answer`."""
    shape = answer_shape(run.answer)
    told: Mapping[str, Any] = {
        "failure": run.failure,
        "failures": run.failures,
        "sub_questions": [part.model_dump() for part in run.sub_questions],
        "watched": run.watched,
        "loops": run.loops,
        "searches": run.searches,
        "tokens": run.tokens,
        "sparse_image_tokens": run.sparse_image_tokens,
        "context": run.context,
    }
    return {**shape, "schema": "rag.agent.video-browser/1", **plain(dict(told))}
