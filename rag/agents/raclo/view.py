"""A run of RACLO for the terminal, as JSON and as a page. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from corpora.escaping import visible
from localization.sampling import midpoints
from rag.agents.raclo.records import CandidateVideo, RacloRun
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
    token_line,
)
from rag.rendering.shapes import plain
from rag.rendering.terminal import clock, counted_each, excerpt

FRAMES_OF_VIDEO = 6
FRAMES_OF_MOMENT = 4
CUES = {
    "global_impression": "the whole",
    "key_moment": "the moment",
    "before": "before",
    "after": "after",
    "auditory_memory": "audio",
}


def _details(step: Step, width: int) -> Iterator[str]:
    data = step.data
    if step.kind == "think":
        for index, guess in enumerate(data["hypotheses"]):
            mark = "*" if index == data["chosen"] else " "
            yield entry(f" {mark} {guess['kind']}:", guess["guess"], width)
        yield from (entry("   search for:", query, width) for query in data["queries"])
    elif step.kind == "verify":
        for name in ("first", "second"):
            if (verdict := data[name]) is not None:
                said = "yes" if verdict["video_match"] else "no"
                yield entry(f"   {name} judge: {said},", verdict["reason"], width)
    elif step.kind == "localize" and "time" in data:
        yield entry(f"   {clock(data['start'])}-{clock(data['end'])},", data["reason"], width)


step_lines = console_view({"think": "recall:", "take": "  take:"}, _details)


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


def result_step(run: RacloRun) -> Step:
    """The last line of a trace."""
    text = "nothing found" if run.answer is None else run.answer.title
    return trace.result_step(run.steps, text, result_json(run), counter="turn")


def result_page(run: RacloRun, token_count_method: str = "") -> Page:
    """The result as an HTML page."""
    memory = run.memory
    cues = [(label, text) for name, label in CUES.items() if (text := getattr(memory, name))]
    return Page(
        title=(memory.key_moment or memory.global_impression)[:80],
        heading="What is remembered",
        sections=(
            Section("", [Table(cues), _answer(run, token_count_method)]),
            Section(
                "Candidates",
                [_candidate(one, chosen=at == run.chosen) for at, one in enumerate(run.candidates)],
            ),
            steps_section(run.steps, _step_blocks),
        ),
    )


def _candidate_json(one: CandidateVideo) -> dict[str, Any]:
    shape = plain(one)
    verdicts = shape.pop("consensus") or {"first": None, "second": None}
    return {**shape, "accepted": one.accepted, "fit": one.fit, **verdicts}


def _answer(run: RacloRun, token_count_method: str) -> Card:
    answer = run.answer
    blocks: list[Block] = []
    if answer is None:
        blocks.append(("No video was found ", Span(run.failure, "bad")))
    else:
        at = "" if answer.moment is None else f" at {clock(answer.moment.time)}"
        doubt = "" if run.matched else f" a guess: {answer.doubt}"
        blocks += [(Span(answer.title, "strong"), at, Span(doubt, "quiet")), Span(answer.url, "quiet")]
        if answer.moment is not None:
            time = answer.moment.time
            blocks.append(FrameStrip(answer.url, [time], answer.title, time, "the moment"))
    counts = counted_each(search=run.searches, video=len(run.candidates), token=run.tokens)
    facts = f"cues {run.cues}; {counts}"
    return Card([*blocks, token_line(facts, token_count_method)], "answer" if run.matched else "guess")


def _candidate(one: CandidateVideo, *, chosen: bool) -> Card:
    head = Span(("the answer: " if chosen else "") + one.title, "strong")
    blocks: list[Block] = [(head, f" {clock(one.duration)} ", Span(f"{one.query}, rank {one.rank}", "quiet"))]
    if one.consensus is not None:
        said = Span("taken for the video", "good") if one.accepted else Span("rejected", "bad")
        blocks.append((said, f", fits by {one.fit:.2f}"))
        for verdict in (one.consensus.first, one.consensus.second):
            if verdict is not None:
                blocks.append(Span(f"{'yes' if verdict.video_match else 'no'}: {verdict.reason}", "quiet"))
    whole = midpoints(0.0, one.duration, FRAMES_OF_VIDEO).tolist()
    blocks.append(FrameStrip(one.url, whole, one.title))
    if one.moment is not None:
        moment = one.moment
        inside = midpoints(moment.start, moment.end, FRAMES_OF_MOMENT).tolist()
        times = sorted({*inside, moment.time})
        blocks.append((f"moment at {clock(moment.time)} ", Span(moment.reason, "quiet")))
        blocks.append(FrameStrip(one.url, times, one.title, moment.time, "the moment"))
    return Card(blocks)


def _step_blocks(step: Step) -> list[Block]:
    if step.kind != "think":
        return []
    guesses = "; ".join(f"{one['kind']}: {one['guess']}" for one in step.data["hypotheses"])
    return [Span(guesses, "quiet"), Span(f"searches: {'; '.join(step.data['queries'])}", "quiet")]
