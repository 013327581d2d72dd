"""The steps of a run, recorded while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag.records import Answer, Usage
from rag.rendering.shapes import plain
from rag.web import Web

SEARCHES = ("search_videos", "search")


@dataclass(frozen=True, slots=True)
class Entry:
    """What is shown beside a step: a label and what belongs to it."""

    label: str
    text: str
    cut: bool = True
    """Whether a terminal shows no more of it than fits on a line."""


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a run. It holds no clock times: equal runs have equal steps."""

    number: int
    """From 1."""
    kind: str
    """`search`, `failure`, `web` (a call of the web), `result` (the last line of a trace), and the kinds
    of the agent."""
    text: str
    """One line for people."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """JSON values."""
    counter: str = ""
    """What the agent's loop counts: `turn`, `loop`; empty for an agent without one."""
    round: int = 0
    """Iteration of the loop, from 1; 0 outside of it."""
    details: Sequence[Entry] | None = field(default=(), compare=False)
    """What is shown beside the text, to people; None: the step is for the trace alone."""

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
    """Names of all errors met, those of later successful calls included."""
    searches: int
    """Calls of the search engines, retries included."""
    usage: Usage
    timings: Mapping[str, float] = field(default_factory=dict, compare=False)
    steps: tuple[Step, ...] = ()

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens."""
        return self.usage.prompt_tokens + self.usage.completion_tokens


class RunTrace:
    """The steps and failures of one run, and the calls of its web from here on.

    `counter`: the name of the agent's loop, whose iteration is `round`.
    """

    def __init__(self, web: Web | None = None, watch: Watch | None = None, *, counter: str = "") -> None:
        self.steps: list[Step] = []
        self.failures: list[str] = []
        """Names of the errors met, of web and reasoner, in order."""
        self.round = 0
        self._counter, self._watch = counter, watch
        self._events = web.trace if web is not None else None
        self._first = self._recorded = len(web.trace.events) if web is not None else 0

    @property
    def searches(self) -> int:
        """Calls of the search engines, retries included."""
        events = self._events.events[self._first :] if self._events is not None else ()
        return sum(event.operation in SEARCHES for event in events)

    def add(
        self, kind: str, text: str, record: Any = None, *, details: Sequence[Entry] | None = (), **data: Any
    ) -> None:
        """Record a step and pass it to the watcher. `record`: a dataclass or model whose fields are data."""
        number, line = len(self.steps) + 1, " ".join(text.split())
        fields = {**plain(record or {}), **plain(data)}
        step = Step(number, kind, line, fields, self._counter, self.round, details)
        self.steps.append(step)
        if self._watch is not None:
            self._watch(step)

    def add_web_calls(self) -> None:
        """The calls of the web since the last time, a step each."""
        if self._events is None:
            return
        events = self._events.events
        for event in events[self._recorded :]:
            self.add("web", f"{event.operation} {event.asked}: {event.outcome}", details=None, **event.line())
        self._recorded = len(events)

    def add_failure(self, error: Exception, what: str) -> None:
        """An error, after the calls that led to it. `what`: the operation that failed."""
        self.add_web_calls()
        name = type(error).__name__
        self.failures.append(name)
        self.add("failure", f"{what}: {name}: {error}", error=name)


def record_answer(trace: RunTrace, answer: Answer) -> None:
    """The step of an answer."""
    data = {"choice": answer.choice, "confidence": answer.confidence, "explanation": answer.explanation}
    why = [Entry("why:", answer.explanation)] if answer.explanation else []
    trace.add("answer", answer.text, details=why, **data)
