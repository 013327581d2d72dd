"""A run of VideoDetective for the terminal, as JSON and as a page. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from corpora.escaping import visible
from rag.agents.runtime.trace import RunTrace, Step
from rag.agents.runtime.view import (
    Bars,
    Block,
    Card,
    FrameStrip,
    Page,
    Section,
    Span,
    Table,
    entry,
    token_line,
)
from rag.agents.video_detective.records import DetectiveResult, Look, Pack, Planned, Selected
from rag.rendering.shapes import answer_shape, plain
from rag.rendering.terminal import clock, counted, duration, excerpt

BLOCKS = "▁▂▃▄▅▆▇█"
POLICIES = {
    "anchor": "anchor of",
    "retry": "next best for",
    "neighbour": "neighbour, for",
    "gap": "widest gap",
}
LONGEST_LINE = 100
"""Columns."""
LABELS = {"plan": "plan:", "look": "look", "show": "shown:"}
LEGEND = "Belief over the time of the video: red is the segment of the look, orange those seen before."
FRAMES_OF_LOOK = 3
"""On the page, of the nine frames of a look; all would make a file of tens of megabytes."""


def belief_bar(belief: Sequence[float], starts: Sequence[float], duration: float, width: int) -> str:
    """Belief over the time of the video in `width` characters, the lowest ▁ and the highest █.

    Each character shows the greatest belief of the segments that overlap its share of the time.
    """
    if not belief or width < 1 or duration <= 0:
        return ""
    low, high = min(belief), max(belief)
    ends = [*starts[1:], duration]
    cells = []
    for cell in range(width):
        begin, end = cell * duration / width, (cell + 1) * duration / width
        inside = [b for b, s, e in zip(belief, starts, ends, strict=True) if s < end and e > begin]
        share = (max(inside) - low) / (high - low) if inside and high > low else 0.0
        cells.append(BLOCKS[round(share * (len(BLOCKS) - 1))])
    return "".join(cells)


def _bar_width(width: int) -> int:
    """Columns of a belief bar; a line that is not cut has one of usual width."""
    return max(10, min(width, LONGEST_LINE) - len("  belief "))


def _plan_details(plan: Mapping[str, Any], width: int) -> Iterator[str]:
    for facet, anchor in zip(plan["facets"], plan["anchors"], strict=True):
        parts = (", ".join(facet["keywords"]), " / ".join(facet["queries"]))
        searched = excerpt("; ".join(part for part in parts if part), width - 24)
        yield f"  {facet['name']:<9} {searched} -> {clock(plan['segments'][anchor])}"
    yield from (f"  problem: {visible(problem)}" for problem in plan["problems"])


def _look_details(look: Mapping[str, Any], width: int) -> Iterator[str]:
    if look["words"] is not None:
        yield entry(f"  {look['words']['kind']}:", look["words"]["text"], width)
    if look["missing"]:
        yield entry("  missing:", ", ".join(look["missing"]), width)
    if look["confirmed"]:
        yield f"  confirmed: {', '.join(look['confirmed'])}"
    if look["problem"]:
        yield f"  problem: {visible(look['problem'])}"


def _selected_details(selected: Mapping[str, Any], width: int) -> Iterator[str]:
    if selected["fallback"]:
        yield f"  sampled uniformly, {selected['fallback']}"
    for pack in selected["packs"]:
        if pack["chosen"]:
            words = f"  {excerpt(pack['words']['text'], width - 20)}" if pack["words"] is not None else ""
            yield f"  {clock(pack['start'])}-{clock(pack['end'])}{words}"


def record_step(trace: RunTrace, record: Planned | Look | Selected, plan: Planned) -> None:
    """Add the step of a record: `plan`, `look` or `show`."""
    data = record_json(record)
    kind = data.pop("step")
    match record:
        case Planned():
            parts = f"{counted(len(record.starts), 'segment')} of {duration(record.duration)}"
            text = f"{counted(len(record.facets), 'facet')}, {parts}, at most {counted(record.steps, 'look')}"
        case Look():
            why = " ".join([POLICIES[record.policy], ", ".join(record.facets)]).strip()
            where = f"{clock(record.start)}-{clock(record.end)}"
            text = f"{record.step}/{plan.steps} {where}, {why}, score {record.score:.2f}"
        case Selected():
            frames = sum(len(pack.times) for pack in record.packs)
            text = f"{counted(frames, 'frame')} in {counted(len(record.packs), 'segment')}"
    trace.add(kind, text, **data)


def record_json(record: Planned | Look | Selected) -> dict[str, Any]:
    """One line of a trace: `step` is `plan`, `look` or `show`."""
    shape: dict[str, Any]
    match record:
        case Planned():
            shape = {
                "step": "plan",
                "facets": record.facets,
                "anchors": record.anchors,
                "timeline": record.timeline,
                "segments": [round(start, 3) for start in record.starts],
                "duration": round(record.duration, 3),
                "belief": record.belief,
                "steps": record.steps,
                "problems": record.problems,
            }
        case Look():
            times = {"start": round(record.start, 3), "end": round(record.end, 3)}
            shape = {**plain(record), "step": "look", "look": record.step, **times}
        case Selected():
            packs = [_pack_json(pack) for pack in record.packs]
            shape = {"step": "show", "fallback": record.fallback, "packs": packs}
    return dict(plain(shape))


def result_json(run: DetectiveResult, token_count_method: str = "") -> dict[str, Any]:
    """`rag.agent.video-detective/1`: the answer as of `rag ask`, with plan, looks and what was shown.

    `token_count_method`: how the tokens of `usage` were counted, where no model reported them.
    """
    answer = {key: value for key, value in answer_shape(run.answer).items() if key != "schema"}
    return {
        "schema": "rag.agent.video-detective/1",
        "video": {"path": run.path, "video_id": run.video_id},
        **answer,
        "tokens_counted_as": token_count_method,
        "plan": record_json(run.plan),
        "looks": [record_json(look) for look in run.looks],
        "shown": record_json(run.selected),
        "settings": plain(run.answer.details["settings"]),
    }


def result_step(run: DetectiveResult) -> Step:
    """The last line of a trace."""
    answer = answer_shape(run.answer)
    data = {key: answer[key] for key in ("answer", "citations", "options", "usage")}
    return Step(len(run.looks) + 3, "answer", run.answer.text, data, flat=True)


def result_page(run: DetectiveResult, token_count_method: str = "") -> Page:
    """The result as an HTML page."""
    question = run.answer.question.text
    video = Span(f"{run.path}, {clock(run.plan.duration)}", "quiet")
    return Page(
        title=question,
        heading=question,
        sections=(
            Section("", [video, _answer(run, token_count_method)]),
            Section("Plan", _plan_blocks(run.plan)),
            Section("Looks", [Span(LEGEND, "quiet"), *_look_cards(run)]),
            Section("Evidence of the answer", [*_selected_blocks(run)]),
        ),
    )


def _pack_json(pack: Pack) -> dict[str, Any]:
    times = {"start": round(pack.start, 3), "end": round(pack.end, 3)}
    shape: dict[str, Any] = {**plain(pack), **times, "times": [round(time, 3) for time in pack.times]}
    return {"segment": shape.pop("node"), **shape}


def _answer(run: DetectiveResult, token_count_method: str) -> Card:
    answer, usage = run.answer, run.answer.usage
    label = f"({answer.choice}) " if answer.choice else ""
    options = Table([(option.label, option.text, f"{option.score:.2f}") for option in answer.options])
    tokens = usage.prompt_tokens + usage.completion_tokens
    facts = (
        f"{counted(len(run.looks), 'look')}, {counted(len(run.frame_times), 'frame')} shown; "
        f"{counted(tokens, 'token')}, of them {usage.image_tokens} for images"
    )
    head: list[Block] = [Span(f"{label}{answer.text}", "strong"), answer.explanation]
    middle: list[Block] = [options] if answer.options else []
    return Card([*head, *middle, token_line(facts, token_count_method)], "answer")


def _plan_blocks(plan: Planned) -> list[Block]:
    rows = [
        (facet.name, ", ".join(facet.keywords), " / ".join(facet.queries), clock(plan.starts[anchor]))
        for facet, anchor in zip(plan.facets, plan.anchors, strict=True)
    ]
    table = Table(rows, ("facet", "keywords", "events", "anchor"))
    return [table, Bars(plan.belief, plan.starts, plan.duration), *plan.problems]


def _look_cards(run: DetectiveResult) -> Iterator[Card]:
    seen: frozenset[int] = frozenset()
    for look in run.looks:
        facets = f" of {', '.join(look.facets)}" if look.facets else ""
        head = f"{look.step}. {clock(look.start)}-{clock(look.end)}"
        blocks: list[Block] = [
            (Span(head, "strong"), " ", Span(f"{look.policy}{facets}, score {look.score:.2f}", "quiet"))
        ]
        blocks += [f"{look.words.kind}: {look.words.text}"] if look.words is not None else []
        blocks += [Span(f"missing: {', '.join(look.missing)}", "quiet")] if look.missing else []
        blocks += [f"confirmed: {', '.join(look.confirmed)}"] if look.confirmed else []
        blocks += [Span(look.problem, "bad")] if look.problem else []
        step = max(1, len(look.times) // FRAMES_OF_LOOK)
        blocks.append(FrameStrip(run.path, look.times[step // 2 :: step][:FRAMES_OF_LOOK]))
        blocks.append(Bars(look.belief, run.plan.starts, run.plan.duration, look.node, seen))
        seen |= {look.node}
        yield Card(blocks)


def _selected_blocks(run: DetectiveResult) -> Iterator[Block]:
    if run.selected.fallback:
        yield f"Frames were sampled uniformly: {run.selected.fallback}."
    for pack in run.selected.packs:
        why = f" belief {pack.belief:.2f}{'' if pack.chosen else ', fills a free place'}"
        head = (Span(f"{clock(pack.start)}-{clock(pack.end)}", "strong"), Span(why, "quiet"))
        words = [f"{pack.words.kind}: {pack.words.text}"] if pack.words is not None else []
        yield Card([head, *words, FrameStrip(run.path, pack.times)])


class DetectiveView:
    """How a run is shown, step by step: the belief bar of a look needs the segments of the plan."""

    result_json = staticmethod(result_json)
    result_page = staticmethod(result_page)
    result_step = staticmethod(result_step)

    def __init__(self) -> None:
        self._plan: Mapping[str, Any] = {}

    def step_lines(self, step: Step, width: int) -> Iterator[str]:
        """Console lines of a step."""
        data = step.data
        yield f"{LABELS[step.kind]} {step.text}"
        if step.kind == "plan":
            self._plan = data
            yield from _plan_details(data, width)
        elif step.kind == "look":
            yield from _look_details(data, width)
        else:
            yield from _selected_details(data, width)
        if "belief" in data:
            starts, length = self._plan["segments"], self._plan["duration"]
            yield f"  belief {belief_bar(data['belief'], starts, length, _bar_width(width))}"
