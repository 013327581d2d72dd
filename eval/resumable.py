"""Files that outlive a killed run: JSON lines that one process appends to, and a later one resumes."""

from __future__ import annotations

import contextlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self, TextIO

from corpora.errors import file_error, os_reason
from corpora.platforms import lock_alone
from rag.errors import RagError, UsageError

SHOWN = 3
"""Differences that are listed; the others are counted."""


@contextlib.contextmanager
def map_os_errors(named: Path) -> Iterator[None]:
    """A disk that is full or gone becomes a `RagError` of one line; what was answered stays answered."""
    try:
        yield
    except OSError as error:
        reason = os_reason(error)
        raise RagError(f"{error.filename or named}: {reason}; run it again to continue") from error


def open_locked(path: Path, said: Path) -> TextIO:
    """The file, to append to; made where it is missing. The lock goes when the process does.

    Two runs on one file would mix: raises `UsageError`, which names `said`, where another one holds it.
    """
    stream = path.open("a", encoding="utf-8", newline="\n")
    if not lock_alone(stream.fileno()):
        stream.close()
        raise UsageError(f"{said}: another run is writing it")
    return stream


def whole_lines(path: Path) -> bytes:
    """The file up to its last line end; empty where there is no file."""
    data = path.read_bytes() if path.exists() else b""
    return data[: data.rfind(b"\n") + 1]


def truncate_partial_line(path: Path) -> None:
    """Cuts off half a line, left by a process that died while writing: its question is asked again."""
    kept = len(whole_lines(path))
    if path.exists() and path.stat().st_size > kept:
        os.truncate(path, kept)


def differences(where: str, there: Any, here: Any) -> Iterator[str]:
    """`key.inner was 1, is 2` for every place in which two JSON values differ; `where` names the root."""
    there, here = _opened(there), _opened(here)
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted(there.keys() | here.keys()):
            name = f"{where}.{key}" if where else key
            yield from differences(name, there.get(key), here.get(key))
    elif there != here:
        yield f"{where} was {json.dumps(there)}, is {json.dumps(here)}"


def _opened(value: Any) -> Any:
    """A JSON object kept as text (a reasoner's fingerprint), as the object; anything else as it is."""
    if not (isinstance(value, str) and value.startswith("{")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def first_few(found: Iterable[str]) -> str:
    """The first differences in one line, the others counted; empty where there are none."""
    listed = list(found)
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return f"{'; '.join(listed[:SHOWN])}{more}"


class LineWriter(ABC):
    """JSON lines appended to `path` under a lock, resumed after the last whole line; a context manager.

    `named`: the file or folder that messages name.
    """

    kind: ClassVar[str] = "file"
    to_replace: ClassVar[str] = "delete this one to start over"

    def __init__(self, path: Path, named: Path) -> None:
        self._path, self._named = path, named
        self._stream: TextIO | None = None

    @abstractmethod
    def _claim(self) -> None:
        """Raises `UsageError` where the file must not be written."""

    @abstractmethod
    def _resume(self) -> None:
        """Start the locked file, or read what is there. Raises `UsageError` where it was made otherwise."""

    def __enter__(self) -> Self:
        """Raises `UsageError` if what is there was made otherwise, or another process writes it."""
        try:
            self._claim()
            self._stream = open_locked(self._path, self._named)
            self._resume()
        except OSError as error:
            self.__exit__()
            raise file_error(error.filename or self._named, error) from error
        except UsageError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            # Each line was flushed on its own: what cannot be written now was reported before.
            with contextlib.suppress(OSError):
                self._stream.close()

    def _append(self, line: str) -> None:
        """Write a line with its end, whole, to the disk's care before this returns.

        Raises `RagError` where the disk does not take it.
        """
        if self._stream is None:
            raise ValueError(f"{self._named} is not open")
        with map_os_errors(self._named):
            self._stream.write(line)
            self._stream.flush()

    def _require_same(self, changes: Iterable[str]) -> None:
        if changed := first_few(changes):
            self._refuse(f"it was made otherwise: {changed}")

    def _refuse(self, why: str) -> NoReturn:
        raise UsageError(f"{self._named}: {why}; name another {self.kind}, or {self.to_replace}")
