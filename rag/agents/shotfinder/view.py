"""How a run of ShotFinder is shown, by pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from corpora.escaping import visible
from corpora.records import clock
from rag.agents.runtime.trace import Entry
from rag.agents.runtime.view import entry_line, run_json
from rag.agents.shotfinder.records import FoundShot, ShotRun
from rag.rendering.terminal import excerpt

MARKS: Mapping[bool | None, str] = {True: "confirmed:", False: "missing:", None: "unmeasured:"}


def shot_details(found: FoundShot) -> list[Entry]:
    """Why a shot was taken: the reason and its checks."""
    reason = [Entry("reason:", found.reason)] if found.reason else []
    return [*reason, *_checks(found)]


def result_lines(run: ShotRun, width: int) -> Iterator[str]:
    """The shot, or N/A."""
    found = run.shot
    if found is None:
        yield f"N/A: {visible(run.absence)}"
        return
    yield visible(excerpt(found.title or found.url, width))
    yield f"  {visible(found.url)}"
    yield f"  {clock(found.start)}-{clock(found.end)}, the frame at {clock(found.frame)}"
    score = Entry(f"score {found.score:.2f};", found.reason)
    yield f"  {entry_line(score, width - 2)}"
    yield from (f"  {entry_line(one, width - 2)}" for one in _checks(found))


def result_json(run: ShotRun) -> dict[str, Any]:
    """`rag.agent.shotfinder/1`, without steps; clock times are in `timings` and `usage.seconds` alone."""
    fields = "shot absence queries looks failure failures searches tokens usage timings"
    constraints = run.request.constraints.options()
    asked = {"description": run.request.description, "constraints": constraints}
    return run_json("rag.agent.shotfinder/1", run, fields, **asked)


def _checks(found: FoundShot) -> list[Entry]:
    return [
        Entry(
            MARKS[check.holds], f"{check.kind}: {check.wanted}" + (f" ({check.found})" if check.found else "")
        )
        for check in found.checks
    ]
