"""The steps of a run, recorded while it goes on, and how a run is shown: lines of a terminal, and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from corpora.escaping import visible
from rag.reasoners.roles.searching import ImaginedQueries
from rag.records import Answer, Usage, lead, rounded_down, window_name
from rag.rendering.shapes import plain
from rag.rendering.terminal import excerpt


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a run. It holds no clock times: equal runs have equal steps."""

    number: int
    """Counted from 1."""
    kind: str
    """`search`, `failure`, `result` (the last line of a trace), and the kinds of the agent."""
    text: str
    """One line for people."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """JSON values."""
    counter: str = ""
    """What the agent's loop counts: `turn`, `loop`; empty for an agent without one."""
    round: int = 0
    """Iteration of the loop, from 1; 0 outside of it."""
    details: Sequence[str] | None = field(default=(), compare=False)
    """Lines shown below the text, to people; None: the step is for the trace alone."""

    def line(self) -> dict[str, Any]:
        """The JSON object of the trace."""
        head = {"number": self.number} | ({self.counter: self.round} if self.counter else {})
        return {**head, "kind": self.kind, "text": self.text, "data": dict(self.data)}


Watch = Callable[[Step], None]
"""Called with each step as soon as it is recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebRun:
    """What every run of an agent over a web hands back."""

    failure: str
    """Empty, or the name of the error that kept the run from a result: `NothingFound`, `BudgetSpent`, ..."""
    failures: tuple[str, ...]
    """Names of all errors met, in order."""
    searches: int
    """Calls of the search engines."""
    usage: Usage
    timings: Mapping[str, float] = field(default_factory=dict, compare=False)
    steps: tuple[Step, ...] = ()

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens."""
        return self.usage.prompt_tokens + self.usage.completion_tokens


class RunTrace:
    """The steps and failures of one run. `counter`: the name of the agent's loop, whose iteration is
    `round`."""

    def __init__(self, watch: Watch | None = None, *, counter: str = "") -> None:
        self.steps: list[Step] = []
        self.failures: list[str] = []
        """Names of the errors met, of web and reasoner, in order."""
        self.round = 0
        self._counter, self._watch = counter, watch

    def add(
        self, kind: str, text: str, record: Any = None, *, details: Sequence[str] | None = (), **data: Any
    ) -> None:
        """Record a step and pass it to the watcher. `record`: a dataclass or model whose fields are data."""
        number, line = len(self.steps) + 1, " ".join(text.split())
        fields = {**plain(record or {}), **plain(data)}
        step = Step(number, kind, line, fields, self._counter, self.round, details)
        self.steps.append(step)
        if self._watch is not None:
            self._watch(step)

    def add_failure(self, error: Exception, what: str) -> None:
        """An error. `what`: the operation that failed."""
        name = type(error).__name__
        self.failures.append(name)
        self.add("failure", f"{what}: {name}: {error}", error=name)

    def add_answer(self, answer: Answer) -> None:
        """The step of an answer."""
        data = {"choice": answer.choice, "confidence": answer.confidence, "explanation": answer.explanation}
        why = [f"why: {answer.explanation}"] if answer.explanation else []
        sure = [f"confidence {rounded_down(answer.confidence):.2f}"] if answer.matched else []
        self.add("answer", f"{lead(answer.verdict)}{answer.text}", details=[*sure, *why], **data)


LABELS = {"absent": "N/A", "failure": "problem", "shot": "shown", "show": "shown", "think": "recall"}
"""How a kind of step is named on a terminal, where not by itself."""


def step_lines(step: Step, width: int) -> Iterator[str]:
    """Lines of a step, no wider than `width`, but for a problem: what to do about it is at its end."""
    if step.details is None:
        return
    yield shown_line(f"{LABELS.get(step.kind, step.kind)}: {step.text}", width)
    yield from (f"  {shown_line(detail, width - 2)}" for detail in step.details)


def shown_line(text: str, width: int) -> str:
    """Cut a text to the width of a line; a problem is shown whole."""
    return visible(text) if text.startswith("problem:") else excerpt(text, width)


def place_line(url: str, start: float, end: float) -> str:
    """A window as `rag show` takes it, where the address is the path of a file; else the address."""
    return visible(window_name(url, start, end) if url.startswith("/") else url)


def imagined_details(imagined: ImaginedQueries) -> list[str]:
    """What was imagined; the guess that was chosen is marked."""
    return [
        f"{'* ' if at == imagined.chosen else ''}{one.kind}: {one.guess}"
        for at, one in enumerate(imagined.hypotheses)
    ]


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
