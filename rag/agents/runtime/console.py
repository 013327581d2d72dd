"""Steps as lines for a terminal. Pure; colour is added by the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from rag.agents.runtime.trace import Step
from rag.rendering.terminal import excerpt, visible

TRACE_ONLY = ("web",)
"""Kinds of steps that are in the trace and not on the terminal."""

Details = Callable[[Step, int], Iterable[str]]
"""Further lines of a step, no wider than the given width."""


def console_view(labels: Mapping[str, str], details: Details) -> Callable[[Step, int], Iterator[str]]:
    """A step to its lines, no wider than the given width; a failure is not cut.

    `labels`: how a kind of step is named, where not by itself. `details`: what follows its first line.
    """

    def step_lines(step: Step, width: int) -> Iterator[str]:
        if step.kind in TRACE_ONLY:
            return
        if step.kind == "failure":
            # Not cut: its advice is at the end.
            yield f"  problem: {visible(step.text)}"
            return
        yield entry(labels.get(step.kind, f"{step.kind}:"), step.text, width)
        yield from details(step, width)

    return step_lines


def entry(label: str, text: str, width: int) -> str:
    """A label and as much of the text as fits."""
    return f"{label} {excerpt(text, width - len(label) - 1)}"


def title_lines(results: Iterable[Mapping[str, str]], width: int) -> Iterator[str]:
    """A line for the title of each search result."""
    yield from (f"  {excerpt(result['title'], width - 4)}" for result in results)
