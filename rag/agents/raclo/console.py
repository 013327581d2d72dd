"""A run of RACLO in words: lines for people while it works, and JSON. Pure; colour is the command line's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rag.agents.raclo.records import CandidateVideo, RacloRun, RacloStep
from rag.rendering.shapes import plain
from rag.rendering.terminal import clock, excerpt, visible

SCHEMA = "rag.agent.raclo/1"
QUIET = ("web",)
"""Calls of the web are told in the trace alone."""
LABELS = {"think": "recall:"}


def step_lines(step: RacloStep, width: int) -> Iterator[str]:
    """What happened and why, in a few lines no wider than `width`; a problem is told whole."""
    if step.kind in QUIET:
        return
    if step.kind == "failure":
        # Whole: what to do next stands at its end.
        yield f"  problem: {visible(step.text)}"
        return
    label = LABELS.get(step.kind, f"{step.kind}:")
    inner = "  " if step.kind == "take" else ""
    yield f"{inner}{label} {excerpt(step.text, width - 14)}"
    data = step.data
    if step.kind == "think":
        for at, guess in enumerate(data["hypotheses"]):
            mark = "*" if at == data["chosen"] else " "
            yield f" {mark} {guess['kind']}: {excerpt(guess['guess'], width - 16)}"
        for query in data["queries"]:
            yield f"   search for: {excerpt(query, width - 16)}"
    elif step.kind == "verify":
        for name in ("first", "second"):
            verdict = data[name]
            if verdict is not None:
                said = "yes" if verdict["video_match"] else "no"
                yield f"   {name} judge: {said}, {excerpt(verdict['reason'], width - 24)}"
    elif step.kind == "localize" and "time" in data:
        span = f"{clock(data['start'])}-{clock(data['end'])}"
        yield f"   {span}, {excerpt(data['reason'], width - 22)}"


def result_lines(run: RacloRun, width: int) -> Iterator[str]:
    """The video and the moment, or that there is none."""
    answer = run.answer
    if answer is None:
        yield f"nothing found ({run.failure})"
        return
    if not run.matched:
        yield f"a guess, {answer.doubt}:"
    yield visible(excerpt(answer.title or answer.url, width))
    yield visible(answer.url)
    if answer.moment is not None:
        moment = answer.moment
        by = "" if moment.frames else ", by words alone"
        yield f"at {clock(moment.time)}, in {clock(moment.start)}-{clock(moment.end)}{by}"


def run_json(run: RacloRun) -> dict[str, Any]:
    """`rag.agent.raclo/1`; clock times stand in `timings` and `usage` alone."""
    told = {
        "schema": SCHEMA,
        "memory": run.memory,
        "cues": run.cues,
        "matched": run.matched,
        "answer": None if run.answer is None else _candidate(run.answer),
        "candidates": [_candidate(one) for one in run.candidates],
        "queries": run.queries,
        "turns": run.turns,
        "searches": run.searches,
        "failure": run.failure,
        "failures": run.failures,
        "tokens": run.tokens,
        "usage": run.usage,
        "timings": run.timings,
    }
    return dict(plain(told))


def _candidate(one: CandidateVideo) -> dict[str, Any]:
    consensus = one.consensus
    return {
        "url": one.url,
        "title": one.title,
        "video_id": one.video_id,
        "duration": one.duration,
        "query": one.query,
        "rank": one.rank,
        "accepted": one.accepted,
        "fit": one.fit,
        "first": None if consensus is None else consensus.first.model_dump(),
        "second": None if consensus is None or consensus.second is None else consensus.second.model_dump(),
        "moment": one.moment,
    }
