"""How a run of RACLO is shown, by pure functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from corpora.escaping import visible
from corpora.records import clock
from rag.agents.raclo.records import CandidateVideo, Moment, RacloRun
from rag.agents.runtime.trace import Entry
from rag.agents.runtime.view import run_json
from rag.reasoners.roles.watching import Consensus
from rag.rendering.shapes import plain
from rag.rendering.terminal import excerpt


def verdict_details(consensus: Consensus) -> list[Entry]:
    """What the judges said."""
    return [
        Entry(f"{name} judge:", f"{'yes' if verdict.video_match else 'no'}, {verdict.reason}")
        for name, verdict in (("first", consensus.first), ("second", consensus.second))
        if verdict is not None
    ]


def moment_details(moment: Moment) -> list[Entry]:
    """Where the moment is, and why."""
    return [Entry(f"{clock(moment.start)}-{clock(moment.end)},", moment.reason)]


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


def result_json(run: RacloRun) -> dict[str, Any]:
    """`rag.agent.raclo/1`; clock times are in `timings` and `usage` alone."""
    fields = "memory cues matched queries turns searches failure failures tokens usage timings"
    candidates = [_candidate_json(one) for one in run.candidates]
    answer = None if run.chosen is None else candidates[run.chosen]
    return run_json("rag.agent.raclo/1", run, fields, answer=answer, candidates=candidates)


def _candidate_json(one: CandidateVideo) -> dict[str, Any]:
    shape = plain(one)
    verdicts = shape.pop("consensus") or {"first": None, "second": None}
    return {**shape, "accepted": one.accepted, "fit": one.fit, **verdicts}
