"""How a run is shown, of every agent alike: its steps as lines of a terminal, its result as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from corpora.escaping import visible
from rag.agents.runtime.trace import Entry, Step
from rag.reasoners.roles.searching import ImaginedQueries
from rag.rendering.shapes import plain
from rag.rendering.terminal import excerpt

LABELS = {
    "absent": "N/A:",
    "failure": "  problem:",
    "shot": "shown:",
    "show": "shown:",
    "take": "  take:",
    "think": "recall:",
}
"""How a kind of step is named on a terminal, where not by itself."""


def step_lines(step: Step, width: int) -> Iterator[str]:
    """Lines of a step, no wider than `width`; what is not to be cut, as the advice of an error, may be."""
    if step.details is None:
        return
    label = LABELS.get(step.kind, f"{step.kind}:")
    yield entry_line(Entry(label, step.text, cut=step.kind != "failure"), width)
    yield from (f"  {entry_line(entry, width - 2)}" for entry in step.details)


def entry_line(one: Entry, width: int) -> str:
    """A label and as much of its text as fits, or all of it where it is not to be cut."""
    text = excerpt(one.text, width - len(one.label) - 1) if one.cut else visible(one.text)
    return f"{one.label} {text}"


def run_json(schema: str, run: object, fields: str, **made: Any) -> dict[str, Any]:
    """The JSON of a run: `schema`, `made`, and the named fields of the run."""
    held = {name: getattr(run, name) for name in fields.split()}
    return dict(plain({"schema": schema, **made, **held}))


def result_step(steps: Sequence[Step], shape: dict[str, Any]) -> Step:
    """The last line of a trace: the JSON result without clock times (`timings`, and `seconds` of `usage`),
    which are taken out of `shape` itself."""
    shape.pop("timings")
    for row in (shape["usage"], *shape["usage"]["by_role"].values()):
        row.pop("seconds", None)
    return Step(len(steps) + 1, "result", steps[-1].text, shape, steps[-1].counter)


def guesses(imagined: ImaginedQueries) -> list[Entry]:
    """What was imagined; the guess that was chosen is marked."""
    return [
        Entry(f"{'* ' if at == imagined.chosen else ''}{one.kind}:", one.guess)
        for at, one in enumerate(imagined.hypotheses)
    ]
