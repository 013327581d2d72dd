"""Interrupts of a run (Ctrl-C, and SIGTERM where the command line makes it one): never amid a few writes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_Handler = Callable[[int, FrameType | None], object] | signal.Handlers


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let an interrupt wait until the end of what is done in it. An error in it is raised instead, and a
    second interrupt ends the process."""
    seen: list[int] = []

    def wait(number: int, _: FrameType | None) -> None:
        if seen:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        seen.append(number)

    with _handled_by(wait):
        yield
    if seen:
        raise KeyboardInterrupt


@contextmanager
def ended_by_interrupts() -> Iterator[None]:
    """What is done after an interrupt: another one ends the process at once."""
    with _handled_by(signal.SIG_DFL):
        yield


@contextmanager
def _handled_by(handler: _Handler) -> Iterator[None]:
    """Handle the signals that would raise `KeyboardInterrupt`; a handler of somebody else stays."""
    found = [s for s in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(s) is signal.default_int_handler]
    if threading.current_thread() is not threading.main_thread():
        found = []  # no interrupt is raised in another thread
    try:
        for number in found:
            signal.signal(number, handler)
        yield
    finally:
        for number in found:
            signal.signal(number, signal.default_int_handler)
