"""An investigation in words: lines for people, and JSON for a trace. Pure; colour is the command line's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rag.agents.video_detective.records import (
    DetectiveResult,
    Look,
    Pack,
    Planned,
    Selected,
)
from rag.reasoners.roles import Facet
from rag.rendering.shapes import answer_shape, plain
from rag.rendering.terminal import clock, counted, duration, excerpt, visible

BLOCKS = "▁▂▃▄▅▆▇█"
WHY = {
    "anchor": "anchor of",
    "retry": "next best for",
    "neighbour": "neighbour, for",
    "gap": "widest gap",
}


def strip(belief: Sequence[float], starts: Sequence[float], duration: float, width: int) -> str:
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
        held = [b for b, s, e in zip(belief, starts, ends, strict=True) if s < end and e > begin]
        share = (max(held) - low) / (high - low) if held and high > low else 0.0
        cells.append(BLOCKS[round(share * (len(BLOCKS) - 1))])
    return "".join(cells)


def plan_lines(plan: Planned, width: int) -> Iterator[str]:
    parts = f"{counted(len(plan.starts), 'segment')} of {duration(plan.duration)}"
    yield f"plan: {counted(len(plan.facets), 'facet')}, {parts}, at most {counted(plan.steps, 'look')}"
    for facet, anchor in zip(plan.facets, plan.anchors, strict=True):
        yield f"  {facet.name:<9} {excerpt(_facet_words(facet), width - 24)} -> {clock(plan.starts[anchor])}"
    for problem in plan.problems:
        yield f"  problem: {visible(problem)}"
    yield from _belief_line(plan, plan.belief, width)


def look_lines(plan: Planned, look: Look, width: int) -> Iterator[str]:
    """Where was looked and why, what was found, and the belief after it."""
    why = " ".join([WHY[look.policy], ", ".join(look.facets)]).strip()
    where = f"{clock(look.start)}-{clock(look.end)}"
    yield f"look {look.step}/{plan.steps}  {where}  {why}  score {look.score:.2f}"
    if look.words is not None:
        yield f"  {look.words.kind}: {excerpt(look.words.text, width - 12)}"
    if look.missing:
        yield f"  missing: {excerpt(', '.join(look.missing), width - 12)}"
    if look.confirmed:
        yield f"  confirmed: {', '.join(look.confirmed)}"
    if look.problem:
        yield f"  problem: {visible(look.problem)}"
    yield from _belief_line(plan, look.belief, width)


def selected_lines(selected: Selected, width: int) -> Iterator[str]:
    chosen = [pack for pack in selected.packs if pack.chosen]
    frames = sum(len(pack.times) for pack in selected.packs)
    yield f"shown: {counted(frames, 'frame')} in {counted(len(selected.packs), 'segment')}"
    if selected.fallback:
        yield f"  spread evenly, {selected.fallback}"
    for pack in chosen:
        words = f"  {excerpt(pack.words.text, width - 20)}" if pack.words is not None else ""
        yield f"  {clock(pack.start)}-{clock(pack.end)}{words}"


def step_json(step: Planned | Look | Selected) -> dict[str, Any]:
    """One line of a trace: `step` is `plan`, `look` or `show`."""
    match step:
        case Planned():
            return {
                "step": "plan",
                "facets": [asdict(facet) for facet in step.facets],
                "anchors": list(step.anchors),
                "timeline": [event.model_dump() for event in step.timeline],
                "segments": [round(start, 3) for start in step.starts],
                "duration": round(step.duration, 3),
                "belief": list(step.belief),
                "steps": step.steps,
                "problems": list(step.problems),
            }
        case Look():
            shape = plain(step)
            return {
                **shape,
                "step": "look",
                "look": step.step,
                "start": round(step.start, 3),
                "end": round(step.end, 3),
            }
        case Selected():
            return {
                "step": "show",
                "fallback": step.fallback,
                "packs": [_pack_json(pack) for pack in step.packs],
            }


def answer_json(found: DetectiveResult, token_count_method: str = "") -> dict[str, Any]:
    """`rag.agent.video-detective/1`: the answer as of `rag ask`, with plan, looks and what was shown.

    `token_count_method`: how the tokens of `usage` were counted, where no model measured them.
    """
    answer = answer_shape(found.answer)
    del answer["schema"]
    return {
        "schema": "rag.agent.video-detective/1",
        "video": {"path": found.path, "video_id": found.video_id},
        **answer,
        "tokens_counted_as": token_count_method,
        "plan": step_json(found.plan),
        "looks": [step_json(look) for look in found.looks],
        "shown": step_json(found.selected),
        "settings": plain(found.answer.details["settings"]),
    }


def _pack_json(pack: Pack) -> dict[str, Any]:
    return {
        "segment": pack.node,
        "start": round(pack.start, 3),
        "end": round(pack.end, 3),
        "times": [round(time, 3) for time in pack.times],
        "words": None if pack.words is None else plain(pack.words),
        "belief": pack.belief,
        "chosen": pack.chosen,
    }


def _facet_words(facet: Facet) -> str:
    return "; ".join(part for part in (", ".join(facet.keywords), " / ".join(facet.queries)) if part)


def _belief_line(plan: Planned, belief: Sequence[float], width: int) -> Iterator[str]:
    yield f"  belief {strip(belief, plan.starts, plan.duration, max(10, width - 9))}"
