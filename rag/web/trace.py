"""What was asked of a web, call by call: one JSON line each, without clock times, so that runs compare."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from corpora.errors import file_error
from corpora.outputs import DEFAULT_POLICY, OverwritePolicy, check_output, replace_file

Operation = Literal["search_videos", "search", "open", "transcript", "download"]


@dataclass(frozen=True, slots=True)
class WebEvent:
    """One call."""

    number: int
    """From 1, in the order of the calls' ends."""
    operation: Operation
    asked: str
    """The query, or the address."""
    page: int | None = None
    """Of results; None for what is no search."""
    outcome: str = "ok"
    """`ok`, or the name of the error that was raised."""
    results: tuple[str, ...] = ()
    """Addresses of the results, best first."""
    bytes: int = 0
    """Of a download."""

    def line(self) -> dict[str, Any]:
        """As JSON has it: what is empty is left out."""
        return {key: value for key, value in asdict(self).items() if value not in ("", (), None, 0)}


class TraceFile:
    """A JSON Lines file that grows while a run goes on; its first line has the schema as well.

    Made with the first line, or by `make`: a run that is refused before leaves an old trace as it is. Raises
    `UsageError` for a file that no trace may replace (`corpora.outputs`), `RagError` where it cannot be
    written.
    """

    def __init__(self, path: str | os.PathLike[str], policy: OverwritePolicy = DEFAULT_POLICY) -> None:
        self._path, self._policy = Path(path), policy
        self._head: dict[str, str] | None = None
        """What the next line has as well; None before the file is made."""
        check_output(path, policy)

    def make(self) -> None:
        """Make it, without a line."""
        try:
            with replace_file(self._path, self._policy):
                pass
        except OSError as error:
            raise file_error(self._path, error) from error
        self._head = {"schema": "rag.trace/1"}

    def write(self, line: Mapping[str, Any]) -> None:
        """Add one line."""
        if self._head is None:
            self.make()
        text = json.dumps({**line, **(self._head or {})}, allow_nan=False)
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{text}\n")
        except OSError as error:
            raise file_error(self._path, error) from error
        self._head = {}


class WebTrace:
    """The calls of one web in order; also a `TraceFile` where one is named, made at once."""

    def __init__(
        self, path: str | os.PathLike[str] | None = None, policy: OverwritePolicy = DEFAULT_POLICY
    ) -> None:
        self._events: list[WebEvent] = []
        self._lock = threading.Lock()
        self._file = None if path is None else TraceFile(path, policy)
        if self._file is not None:
            self._file.make()

    @property
    def events(self) -> tuple[WebEvent, ...]:
        """Requests so far, oldest first."""
        with self._lock:
            return tuple(self._events)

    def add(self, operation: Operation, asked: str, **fields: Any) -> WebEvent:
        """Write down one call; `fields` are those of `WebEvent`."""
        with self._lock:
            event = WebEvent(len(self._events) + 1, operation, asked, **fields)
            self._events.append(event)
            if self._file is not None:
                self._file.write(event.line())
        return event
