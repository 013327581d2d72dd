"""What happens in a run of an agent over a web, told as it happens: steps, failures, calls of the web."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from rag.web import Web

SEARCHING = ("search_videos", "search")

Step = TypeVar("Step")
MakeStep = Callable[[int, str, str, Mapping[str, Any]], Step]


class RunTrace(Generic[Step]):
    """The steps of one run, from the first call that its web sees.

    `make`: a step out of its number from 1, its kind, one line for people and the same as JSON values.
    `watch` is told of each.
    """

    def __init__(self, web: Web, make: MakeStep[Step], watch: Callable[[Step], None] | None = None) -> None:
        self.steps: list[Step] = []
        self.failures: list[str] = []
        """Names of what went wrong on the way, web and mind, in order."""
        self._make, self._watch = make, watch
        self._trace = web.trace
        self._told = self._began = len(web.trace.events)

    @property
    def searches(self) -> int:
        """Calls of the search engines, repeated ones included."""
        events = self._trace.events[self._began :]
        return sum(event.operation in SEARCHING for event in events)

    def tell(self, kind: str, text: str, **data: Any) -> None:
        step = self._make(len(self.steps) + 1, kind, " ".join(text.split()), data)
        self.steps.append(step)
        if self._watch is not None:
            self._watch(step)

    def tell_web(self) -> None:
        """What was asked of the web since the last time."""
        events = self._trace.events
        for event in events[self._told :]:
            self.tell("web", f"{event.operation} {event.asked}: {event.outcome}", **event.line())
        self._told = len(events)

    def failed(self, error: Exception, what: str) -> None:
        """An error, after the calls that led to it."""
        self.tell_web()
        name = type(error).__name__
        self.failures.append(name)
        self.tell("failure", f"{what}: {name}: {error}", error=name)
