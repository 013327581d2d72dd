"""Progress of `rag eval run`: data rendered and indexed, then queries answered, with the time left."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Any, Self

from rag._cli.output import echo_stderr


class RunProgress:
    """A bar with the time left where a person watches, else a line every ten seconds.

    Until the first query is asked a line says that the data are being made, and how much of them is. The
    first answer opens what the others find open, so the time left is reckoned from the answers after it.
    """

    def __init__(self, preparing: str = "", interval: float = 10.0) -> None:
        self._preparing = preparing
        self._asking = threading.Event()
        self._interval = interval
        self._bar: Any = None
        self._task: Any = None
        self._label = ""
        self._made = ""
        self._total = self._done = 0
        self._first = self._said = time.monotonic()

    def __enter__(self) -> Self:
        threading.Thread(target=self._say_preparing, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._asking.set()
        if self._bar is not None:
            self._bar.stop()

    def _say_preparing(self) -> None:
        from rag.rendering.terminal import duration

        pause, started = self._interval, time.monotonic()
        while not self._asking.wait(pause):
            pause = min(2 * pause, 60.0)
            took = duration(time.monotonic() - started)
            made = f": {self._made}" if self._made else ""
            echo_stderr(f"{self._preparing}: the first use renders and indexes its data{made}; {took} so far")

    def made(self, step: str) -> None:
        """Of the data, before the first query: `drew 3 of 48 videos`."""
        self._made = step

    def start(self, label: str, total: int) -> None:
        """Begin a bar of `total` queries."""
        self._asking.set()
        self._label, self._total = label, total
        self._first = self._said = time.monotonic()
        if total and sys.stderr.isatty():
            self._bar = _rich_bar()
            self._task = self._bar.add_task(label, total=total)
            self._bar.start()

    def advance(self) -> None:
        """Count one query."""
        self._done += 1
        if self._done == 1:
            self._first = time.monotonic()
        if self._bar is not None:
            self._bar.advance(self._task)
        elif time.monotonic() - self._said >= self._interval:
            self._said = time.monotonic()
            echo_stderr(self.line())

    def line(self) -> str:
        """`localized, seed 0: 120 of 396, about 40 s left`; after one answer the time left is unknown."""
        from rag.rendering.terminal import duration

        line = f"{self._label}: {self._done} of {self._total}"
        if self._done < 2:
            return line
        took = time.monotonic() - self._first
        left = took * (self._total - self._done) / (self._done - 1)
        return f"{line}, about {duration(left)} left"


def _rich_bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
