"""A search for a shot in words: lines for people while it goes on, and JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from rag.agents.shotfinder.records import FoundShot, ShotRun, ShotStep
from rag.rendering.shapes import plain
from rag.rendering.terminal import clock, excerpt, visible

NOT_LOOKED = "not looked at: no frame of it can be shown, and measurements alone speak for it"
QUIET = ("web",)
"""Calls of the web are told in the trace alone."""
LABELS = {"absent": "N/A:", "shot": "shown:"}


def step_lines(step: ShotStep, width: int) -> Iterator[str]:
    """What happened and why, in a few lines no wider than `width`."""
    if step.kind in QUIET:
        return
    if step.kind == "failure":
        # Whole: what to do next stands at its end.
        yield f"  problem: {visible(step.text)}"
        return
    label = LABELS.get(step.kind, f"{step.kind}:")
    yield f"{label} {visible(excerpt(step.text, width - 12))}"
    data = step.data
    if step.kind == "imagine":
        for guess in data.get("hypotheses", ()):
            yield f"  {guess['kind']}: {visible(excerpt(guess['guess'], width - 16))}"
    elif step.kind == "search":
        for result in data["results"][:3]:
            yield f"  {visible(excerpt(result['title'], width - 4))}"
    elif step.kind == "look":
        yield f"  {visible(excerpt(data['reason'], width - 4))}"
        yield from _checks(data["checks"], width)


def result_lines(run: ShotRun, width: int) -> Iterator[str]:
    """The shot, or N/A, in a few lines."""
    found = run.shot
    if found is None:
        yield f"N/A: {visible(run.absence)}"
        return
    yield visible(excerpt(found.title or found.url, width))
    yield f"  {visible(found.url)}"
    yield f"  {clock(found.start)}-{clock(found.end)}, the frame at {clock(found.frame)}"
    if found.looked:
        yield f"  score {found.score:.2f}; {visible(excerpt(found.reason, width - 16))}"
    else:
        yield f"  {NOT_LOOKED}"
    yield from _checks([asdict(check) for check in found.checks], width)


def run_json(run: ShotRun) -> dict[str, Any]:
    """`rag.agent.shotfinder/1`, without steps; clock times under `timings` and `usage.seconds` alone."""
    told: Mapping[str, Any] = {
        "schema": "rag.agent.shotfinder/1",
        "description": run.request.description,
        "constraints": run.request.constraints.options(),
        "shot": _shot(run.shot),
        "absence": run.absence,
        "queries": run.queries,
        "looks": [{**asdict(look), "found": _shot(look.found)} for look in run.looks],
        "failure": run.failure,
        "failures": run.failures,
        "searches": run.searches,
        "tokens": run.tokens,
        "usage": asdict(run.usage),
        "timings": dict(run.timings),
    }
    return dict(plain(dict(told)))


def _shot(found: FoundShot | None) -> dict[str, Any] | None:
    return None if found is None else asdict(found)


def _checks(checks: Any, width: int) -> Iterator[str]:
    for check in checks:
        mark = {True: "confirmed:", False: "missing:", None: "unmeasured:"}[check["holds"]]
        found = f" ({check['found']})" if check["found"] else ""
        yield f"  {mark} {visible(excerpt(check['kind'] + ': ' + check['wanted'] + found, width - 16))}"
