"""Where words go: data to stdout, talk to stderr, every line of it safe to show."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

__all__ = ["is_json", "print_json", "print_lines", "talk", "width"]


def is_json(flag: bool | None) -> bool:
    """The flag, where it was given; else JSON unless a person watches stdout."""
    return flag if flag is not None else not sys.stdout.isatty()


def print_json(shape: Mapping[str, Any]) -> None:
    """One JSON document on stdout: one line, or indented where a person watches."""
    from rag.rendering.shapes import to_json

    _write(sys.stdout, [to_json(shape, indent=2 if sys.stdout.isatty() else None)])


def print_lines(lines: Iterable[str]) -> None:
    """Text for people on stdout."""
    _write(sys.stdout, lines)


def talk(line: str) -> None:
    """One line on stderr; control characters and undecodable bytes show themselves."""
    from rag.rendering.terminal import visible

    _write(sys.stderr, [visible(line)])


def width() -> int:
    """Columns to write in: the terminal's, within what is pleasant to read."""
    return min(100, max(40, shutil.get_terminal_size((80, 24)).columns))


def _write(stream: TextIO, lines: Iterable[str]) -> None:
    """Characters that the encoding lacks are escaped; a reader that has gone ends nothing but the talk."""
    encoding = stream.encoding or "utf-8"
    try:
        for line in lines:
            stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        stream.flush()
    except BrokenPipeError:
        # What is still buffered goes nowhere, and Python's own flush at exit stays quiet.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
