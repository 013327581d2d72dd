"""What was asked of a web, call by call: one JSON line each, without clock times, so that runs compare."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from corpora.errors import file_error
from corpora.outputs import TRACE_SCHEMA, OverwritePolicy, open_output

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
    fault: str = ""
    """The injected faults of this call, joined by `+`; empty where there were none."""
    delay: float = 0.0
    """Seconds that the web took by its faults: slept where the web runs in real time, else only counted."""
    bytes: int = 0
    """Transferred by a download, a cut one included; nothing where the cache had it."""

    def line(self) -> dict[str, Any]:
        """As JSON has it: what is empty is left out."""
        return {key: value for key, value in asdict(self).items() if value not in ("", (), None, 0, 0.0)}


class WebTrace:
    """The calls of one web in order; also a JSONL file where one is named, written line by line.

    The first line has the schema as well. Raises `UsageError` for a file that no trace may replace
    (`corpora.outputs`), `RagError` where it cannot be written.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, policy: OverwritePolicy | None = None
    ) -> None:
        self._events: list[WebEvent] = []
        self._lock = threading.Lock()
        self._path = None if path is None else Path(path)
        if self._path is not None:
            with _map_errors(self._path):
                open_output(self._path, policy or OverwritePolicy()).close()

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
            if self._path is not None:
                schema = {"schema": TRACE_SCHEMA} if event.number == 1 else {}
                with _map_errors(self._path), self._path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(event.line() | schema) + "\n")
        return event

    def count(self, *operations: Operation) -> int:
        """Calls of these kinds; of all kinds where none is named."""
        return sum(1 for event in self.events if not operations or event.operation in operations)


@contextmanager
def _map_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise file_error(path, error) from error
