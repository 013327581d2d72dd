"""A run of ShotFinder for the terminal, as JSON and as a page. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from corpora.escaping import visible
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
    Tone,
    console_view,
    entry,
    run_json,
    steps_section,
    title_lines,
    token_line,
)
from rag.agents.shotfinder.constraints import Check
from rag.agents.shotfinder.localizer import NO_FRAME
from rag.agents.shotfinder.records import FoundShot, Look, ShotRun
from rag.rendering.terminal import clock, counted, counted_each, excerpt

FRAMES_OF_SHOT = 5
NOT_LOOKED = "not looked at: no frame of it can be shown; chosen by measurements alone"
MARKS: Mapping[bool | None, tuple[str, Tone]] = {
    True: ("confirmed:", "good"),
    False: ("missing:", "bad"),
    None: ("unmeasured:", "quiet"),
}


def _details(step: Step, width: int) -> Iterator[str]:
    data = step.data
    if step.kind == "imagine":
        for guess in data.get("hypotheses", ()):
            yield entry(f"  {guess['kind']}:", guess["guess"], width)
    elif step.kind == "search":
        yield from title_lines(data["results"][:3], width)
    elif step.kind == "look":
        yield entry(" ", data["reason"], width)
        yield from _check_lines([Check(**check) for check in data["checks"]], width)


_lines = console_view({"absent": "N/A:", "shot": "shown:"}, _details)


def step_lines(step: Step, width: int) -> Iterator[str]:
    """A step to its lines. That no frame can be shown is said once, before them and in the result."""
    if step.kind != "absent" or step.data["reason"] != NO_FRAME:
        yield from _lines(step, width)


def result_lines(run: ShotRun, width: int) -> Iterator[str]:
    """The shot, or N/A."""
    found = run.shot
    if found is None:
        yield f"N/A: {visible(run.absence)}"
        return
    yield visible(excerpt(found.title or found.url, width))
    yield f"  {visible(found.url)}"
    yield f"  {clock(found.start)}-{clock(found.end)}, the frame at {clock(found.frame)}"
    yield entry(f"  score {found.score:.2f};", found.reason, width) if found.looked else f"  {NOT_LOOKED}"
    yield from _check_lines(found.checks, width)


def result_json(run: ShotRun) -> dict[str, Any]:
    """`rag.agent.shotfinder/1`, without steps; clock times are in `timings` and `usage.seconds` alone."""
    fields = "shot absence queries looks failure failures searches tokens usage timings"
    constraints = run.request.constraints.options()
    asked = {"description": run.request.description, "constraints": constraints}
    return run_json("rag.agent.shotfinder/1", run, fields, **asked)


def result_step(run: ShotRun) -> Step:
    """The last line of a trace."""
    text = "N/A" if run.shot is None else run.shot.title
    return trace.result_step(run.steps, text, result_json(run))


def result_page(run: ShotRun, token_count_method: str = "") -> Page:
    """The result as an HTML page."""
    wanted = [Span(f"{name}: {value}", "quiet") for name, value in run.request.constraints.options().items()]
    looks = [_look(each, chosen=each.found is not None and each.found == run.shot) for each in run.looks]
    return Page(
        title=run.request.description[:80],
        heading=run.request.description,
        sections=(
            Section("", [*wanted, _result(run, token_count_method)]),
            Section("Candidates", looks),
            steps_section(run.steps, _step_blocks),
        ),
    )


def _check_lines(checks: Sequence[Check], width: int) -> Iterator[str]:
    for check in checks:
        found = f" ({check.found})" if check.found else ""
        yield entry(f"  {MARKS[check.holds][0]}", f"{check.kind}: {check.wanted}{found}", width)


def _result(run: ShotRun, token_count_method: str) -> Card:
    found = run.shot
    facts = counted_each(search=run.searches, video=len(run.looks), token=run.tokens)
    cost = token_line(facts, token_count_method)
    if found is None:
        return Card([f"N/A: {run.absence}", cost], "guess")
    blocks: list[Block] = [(Span(found.title, "strong"), f" {_span(found)}")]
    blocks += [] if found.looked else [Span(NOT_LOOKED, "bad")]
    return Card([*blocks, Span(found.url, "quiet"), *_evidence(found), cost], "answer")


def _look(each: Look, *, chosen: bool) -> Card:
    head = (Span(each.title, "strong"), " ", Span(f"{each.url}, by “{each.query}”", "quiet"))
    found = each.found
    if found is None:
        return Card([head, f"N/A: {each.reason}"])
    score = f"{_span(found)} score {found.score:.2f}, {counted(each.frames, 'frame')}. {found.reason}"
    # The frames of the result are shown once.
    rest = [Span("This is the shot shown above.", "strong")] if chosen else _evidence(found)
    return Card([head, score, *rest])


def _evidence(found: FoundShot) -> list[Block]:
    """Checks and frames of a shot."""
    blocks: list[Block] = [
        Span(f"{check.kind}: wanted {check.wanted}, {check.found or 'not measured'}", MARKS[check.holds][1])
        for check in found.checks
    ]
    times = sorted({*midpoints(found.start, found.end, FRAMES_OF_SHOT).tolist(), round(found.frame, 6)})
    marked = found.frame if found.looked else None
    return [*blocks, FrameStrip(found.url, times, found.title, marked, "the frame that decided")]


def _step_blocks(step: Step) -> list[Block]:
    thought = step.data.get("thought", "")
    return [Span(str(thought), "quiet")] if thought else []


def _span(found: FoundShot) -> str:
    return f"{clock(found.start)}-{clock(found.end)}" + ("" if found.measured else " (not measured)")
