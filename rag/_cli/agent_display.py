"""Lines on stderr while an agent works, in colour on a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from rag._cli.output import echo_stderr

if TYPE_CHECKING:
    from rich.console import Console

BRIGHT = {"plan:": "bold cyan", "look": "bold", "shown:": "bold cyan"}
COLORS = {"belief": "blue", "confirmed:": "green", "missing:": "yellow", "problem:": "red"}


class Display(Protocol):
    """A context manager that shows lines."""

    def say(self, line: str) -> None:
        """Print one line."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_display() -> Display:
    """In colour, with a moving mark while the agent works, on a terminal; else plain lines."""
    return ColorDisplay() if sys.stderr.isatty() else PlainDisplay()


class PlainDisplay:
    """Lines on stderr, without color."""

    def say(self, line: str) -> None:
        """Print one line on stderr."""
        echo_stderr(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class ColorDisplay:
    """Lines by rich; text from files is never markup."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console

        self._console = console or Console(stderr=True, highlight=False)
        self._status = self._console.status("working")

    def say(self, line: str) -> None:
        """Print one line on stderr, in color."""
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
