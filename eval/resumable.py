"""Files that outlive a killed run: written whole, or appended to by one run at a time and taken up again."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from rag.errors import RagError, UsageError

SHOWN = 3
"""Differences that are listed; the others are counted."""


@contextlib.contextmanager
def map_os_errors(folder: Path) -> Iterator[None]:
    """A disk that is full or gone becomes a `RagError` of one line; what was answered stays answered."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RagError(f"{error.filename or folder}: {reason}; the same command goes on from here") from error


def open_locked(path: Path, said: Path) -> TextIO:
    """The file, to append to; made where it is missing. The lock goes when the process does.

    Two runs on one file would mix: raises `UsageError`, which names `said`, where another one holds it.
    """
    import fcntl

    stream = path.open("a", encoding="utf-8", newline="\n")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        stream.close()
        raise UsageError(f"{said}: another run is writing it") from error
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
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted(there.keys() | here.keys()):
            name = f"{where}.{key}" if where else key
            yield from differences(name, there.get(key), here.get(key))
    elif there != here:
        yield f"{where} was {json.dumps(there)}, is {json.dumps(here)}"


def first_few(found: Iterable[str]) -> str:
    """The first differences in one line, the others counted; empty where there are none."""
    listed = list(found)
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return f"{'; '.join(listed[:SHOWN])}{more}"
