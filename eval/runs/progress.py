"""Who looks on while a benchmark makes its data, before there is a query: films drawn, then videos indexed.

A benchmark makes its data inside properties that take no watcher, so the watcher is found here by whoever
draws or indexes; nobody looks on unless `watched` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

Made = Callable[[str], None]
"""Told of each step in words: `drew 3 of 48 films`, `indexing video 2 of 48`."""

_WATCH: ContextVar[Made | None] = ContextVar("made", default=None)


@contextmanager
def watched(made: Made) -> Iterator[None]:
    """Within it, what is drawn or indexed is told to `made`."""
    token = _WATCH.set(made)
    try:
        yield
    finally:
        _WATCH.reset(token)


@dataclass
class Counted:
    """A `Progress` of drawing and of indexing, both: tells of each file, and of what they note nothing."""

    told: Callable[[int, int], str]
    made: Made
    files: int = 0
    total: int = 0

    def start(self, total_seconds: float, total_files: int) -> None:  # noqa: ARG002 (the protocol's)
        self.files, self.total = 0, total_files

    def file(self, path: str) -> None:  # noqa: ARG002 (the protocol's)
        self.files += 1
        self.made(self.told(self.files, self.total))

    def advance(self, seconds: float) -> None: ...
    def note(self, line: str) -> None: ...
    def done(self) -> None: ...


def drawing() -> Counted | None:
    """To hand to what draws films; None where nobody looks on. A file is told when it is drawn."""
    return _counted(lambda done, total: f"drew {done} of {total} films")


def indexing() -> Counted | None:
    """To hand to `Library.index`; None where nobody looks on. A file is told when its turn comes."""
    return _counted(lambda at, total: f"indexing file {at} of {total}")


def _counted(told: Callable[[int, int], str]) -> Counted | None:
    made = _WATCH.get()
    return None if made is None else Counted(told, made)
