"""How a run of VideoDetective is shown, by pure functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from corpora.records import clock
from rag.agents.runtime.trace import Entry
from rag.agents.video_detective.records import DetectiveResult, Look, Planned, Selected
from rag.rendering.shapes import answer_shape, plain

POLICIES = {
    "anchor": "anchor of",
    "retry": "next best for",
    "neighbour": "neighbour, for",
    "gap": "widest gap",
}


def plan_details(plan: Planned) -> Iterator[Entry]:
    """What is looked for, and where it is looked for first."""
    for facet, anchor in zip(plan.facets, plan.anchors, strict=True):
        parts = (", ".join(facet.keywords), " / ".join(facet.queries))
        yield Entry(f"{facet.name:<9} {clock(plan.starts[anchor])}", "; ".join(filter(None, parts)))
    yield from (Entry("problem:", problem, cut=False) for problem in plan.problems)


def look_details(look: Look) -> Iterator[Entry]:
    """What a look found."""
    if look.words is not None:
        yield Entry(f"{look.words.kind}:", look.words.text)
    for label, facets in (("missing:", look.missing), ("confirmed:", look.confirmed)):
        if facets:
            yield Entry(label, ", ".join(facets))
    if look.problem:
        yield Entry("problem:", look.problem, cut=False)


def selected_details(selected: Selected) -> Iterator[Entry]:
    """What the answer is based on."""
    if selected.fallback:
        yield Entry("sampled uniformly,", selected.fallback)
    for pack in selected.packs:
        label, words = f"{clock(pack.start)}-{clock(pack.end)}", pack.words
        fills = "" if pack.chosen else "fills a free place"
        yield Entry(label, fills if words is None else words.text)


def result_json(run: DetectiveResult) -> dict[str, Any]:
    """`rag.agent.video-detective/1`: the answer as of `rag ask`, with plan, looks and what was shown."""
    return {
        **answer_shape(run.answer),
        "schema": "rag.agent.video-detective/1",
        "video": {"path": run.path, "video_id": run.video_id},
        "plan": plain(run.plan),
        "looks": plain(run.looks),
        "shown": plain(run.selected),
    }
