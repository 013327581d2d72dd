"""Output: results to stdout, messages to stderr, with control characters escaped."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from corpora.errors import os_reason
from rag.errors import RagError, UsageError

UNCUT = 1_000_000
"""Columns where the output is no terminal."""
LOOK_SECONDS = 1.0
"""Between two looks at whether the server of a job is there."""
GRACE_SECONDS = 5.0
"""That an interrupted job has; the library survives its end at any moment."""


def is_json(flag: bool | None) -> bool:
    """The flag, where it was given; else JSON unless stdout is a terminal."""
    return flag if flag is not None else not sys.stdout.isatty()


def print_json(shape: Mapping[str, Any]) -> None:
    """One JSON document on stdout: one line, or indented on a terminal."""
    from rag.rendering.shapes import to_json

    _write(sys.stdout, [to_json(shape, indent=2 if sys.stdout.isatty() else None)])


def print_lines(lines: Iterable[str]) -> None:
    """Lines of text on stdout."""
    _write(sys.stdout, lines)


def print_bytes(data: bytes) -> None:
    """A file on stdout, as it is."""
    with _writing(sys.stdout):
        sys.stdout.buffer.write(data)


def echo_stderr(line: str) -> None:
    """One line on stderr; control characters and undecodable bytes are escaped."""
    from corpora.escaping import visible

    _write(sys.stderr, [visible(line)])


def is_confirmed(what: str, nothing: str) -> bool:
    """Ask on the terminal whether to go on; `what`: is done then, `nothing`: that it was not done.

    Raises `UsageError` where there is no terminal.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{what}; {nothing}; add --yes to continue")
    sys.stderr.write(f"{what[0].upper()}{what[1:]}. Continue? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def run_as_job() -> None:
    """Let SIGINT interrupt this process, which a child of one in the background ignores.

    It is interrupted when the server that started it is killed, too: nobody could stop it any more.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def end_with(server: int) -> None:
        while os.getppid() == server:
            time.sleep(LOOK_SECONDS)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(GRACE_SECONDS)
        os._exit(130)

    threading.Thread(target=end_with, args=[os.getppid()], name="rag-job-server", daemon=True).start()


def print_event(name: str, **fields: Any) -> None:
    """One event as a line of JSON on stderr, for the server that runs the command as a child process."""
    from rag.rendering.shapes import to_json

    _write(sys.stderr, [to_json({"event": name, **fields})])


def width() -> int:
    """Columns to write in: the terminal's, between 40 and 100."""
    return min(100, max(40, shutil.get_terminal_size((80, 24)).columns))


def line_width() -> int:
    """Return `width` where stdout is a terminal; output to a pipe or a file is not cut."""
    return width() if sys.stdout.isatty() else UNCUT


def stderr_width() -> int:
    """The same for stderr."""
    return width() if sys.stderr.isatty() else UNCUT


def _write(stream: TextIO, lines: Iterable[str]) -> None:
    """Characters that the encoding lacks are escaped."""
    encoding = stream.encoding or "utf-8"
    with _writing(stream):
        for line in lines:
            stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")


@contextmanager
def _writing(stream: TextIO) -> Iterator[None]:
    """Flush what is written; a closed pipe is no error."""
    try:
        yield
        stream.flush()
    except OSError as error:
        # What is still buffered is dropped, so that Python's own flush at exit raises nothing.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        if stream is sys.stdout and not isinstance(error, BrokenPipeError):
            raise RagError(f"the output cannot be written: {os_reason(error)}") from error


def open_standard_streams() -> None:
    """Open those of stdin, stdout and stderr that the caller closed, on the null device.

    Else the next file that is opened, perhaps one of the library, gets the free descriptor, and output
    goes into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            stream = os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False)
            setattr(sys, name, stream)
