"""What an agent's command shows while it works: lines on stderr, in colour for people; and a trace file."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TextIO, TypeVar

from corpora.outputs import TRACE, TRACE_SCHEMA, OverwritePolicy, open_output
from rag._cli.output import echo_stderr, stderr_width
from rag.errors import RagError

if TYPE_CHECKING:
    from rich.console import Console

BRIGHT = {"plan:": "bold cyan", "look": "bold", "shown:": "bold cyan"}
COLORS = {"belief": "blue", "confirmed:": "green", "missing:": "yellow", "problem:": "red"}


class Display(Protocol):
    """A context manager that is told lines."""

    def say(self, line: str) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_display() -> Display:
    """In colour, with a mark that moves while the agent thinks, where a person watches; else plain lines."""
    return ColorDisplay() if sys.stderr.isatty() else PlainDisplay()


class PlainDisplay:
    def say(self, line: str) -> None:
        echo_stderr(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class ColorDisplay:
    """Lines by rich; what comes from files is text to it, never markup."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console

        self._console = console or Console(stderr=True, highlight=False)
        self._status = self._console.status("thinking")

    def say(self, line: str) -> None:
        from rich.text import Text

        words = line.split(maxsplit=1)
        style = COLORS.get(words[0], "") if line.startswith("  ") and words else ""
        style = style or (BRIGHT.get(words[0], "") if words else "")
        self._console.print(Text(line, style=style), soft_wrap=True)

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()


class StepFile:
    """JSON lines, each on the disk's care as soon as it is written; nothing at all without a path.

    The first line has the schema as well, by which the file is recognized. Raises `UsageError` for a file
    that must not be replaced (`corpora.outputs`), `RagError` where it cannot be written.
    """

    def __init__(self, path: Path | None, policy: OverwritePolicy | None = None) -> None:
        self._path = path
        self._policy = policy or OverwritePolicy()
        self._begun = False
        self._stream: TextIO | None = None

    def __enter__(self) -> Self:
        if self._path is not None:
            try:
                self._stream = open_output(self._path, TRACE, self._policy)
            except OSError as error:
                raise self._lost(error) from error
        return self

    def write(self, step: Mapping[str, Any]) -> None:
        if self._stream is not None:
            shape = dict(step) if self._begun else {**step, "schema": TRACE_SCHEMA}
            self._begun = True
            try:
                self._stream.write(json.dumps(shape, ensure_ascii=True, allow_nan=False) + "\n")
                self._stream.flush()
            except OSError as error:
                raise self._lost(error) from error

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            # What could not be written was told of when it was tried; closing tries it again.
            with contextlib.suppress(OSError):
                self._stream.close()

    def _lost(self, error: OSError) -> RagError:
        return RagError(f"{self._path}: cannot be written: {(error.strerror or str(error)).lower()}")


class Told(Protocol):
    """A step of an agent."""

    def line(self) -> dict[str, Any]: ...


Step = TypeVar("Step", bound=Told)


def telling(
    steps: StepFile, say: Callable[[str], None], lines: Callable[[Step, int], Iterator[str]]
) -> Callable[[Step], None]:
    """Writes each step into the trace, and says it in `lines` no wider than the terminal."""

    def watch(step: Step) -> None:
        steps.write(step.line())
        for line in lines(step, stderr_width()):
            say(line)

    return watch


def without_clock(shape: dict[str, Any]) -> dict[str, Any]:
    """A result without the seconds that it took, so that equal runs write equal traces. Takes them out of
    `shape` itself: `timings`, and those of `usage`."""
    shape.pop("timings")
    for spent in (shape["usage"], *shape["usage"]["by_role"].values()):
        spent.pop("seconds", None)
    return shape
