"""Several questions at once, of which one computes: the others wait for a language model.

A worker thread answers each question inside `taking_turns`; what waits for something outside of this process
gives the turn to the next worker meanwhile, with `waiting`. So caches, stores, encoders and decoders are
used by one thread at a time, whatever they are made of, and what overlaps is the waiting.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag.records import Usage

if TYPE_CHECKING:
    from rag.reasoners.llm.usage import UsageCounter

_thread = threading.local()


@dataclass
class Turn:
    """One question in one thread."""

    lock: threading.Lock
    stopped: threading.Event
    queued: float = 0.0
    """Seconds for which it waited for others to compute, after what it waited for had come."""
    counted: dict[UsageCounter, dict[str, dict[str, float]]] = field(default_factory=dict)
    """By counter, and then by role."""
    read: list[Usage] = field(default_factory=list)
    """What was counted before, and read."""

    def spent(self) -> Usage:
        """All that was counted since the turn began, read by the solver or not."""
        from rag.reasoners.llm.usage import usage_of, usage_together

        return usage_together([*self.read, *map(usage_of, self.counted.values())])


class TurnStopped(BaseException):
    """The run ended in another thread: this question is given up."""


def current_turn() -> Turn | None:
    """The turn of this thread; None outside of `taking_turns`."""
    return getattr(_thread, "turn", None)


@contextmanager
def taking_turns(lock: threading.Lock, stopped: threading.Event) -> Iterator[Turn]:
    """Hold `lock`, shared by the workers, to the end of the block, but for the `waiting` in it.

    Once `stopped` is set, `waiting` raises `TurnStopped`.
    """
    with lock:
        turn = _thread.turn = Turn(lock, stopped)
        try:
            yield turn
        finally:
            _thread.turn = None


@contextmanager
def waiting() -> Iterator[None]:
    """Let others compute to the end of the block; nothing in a thread that takes no turns."""
    turn = current_turn()
    if turn is None:
        yield
        return
    if turn.stopped.is_set():
        raise TurnStopped
    turn.lock.release()
    try:
        yield
    finally:
        ready = time.perf_counter()
        turn.lock.acquire()
        turn.queued += time.perf_counter() - ready
    if turn.stopped.is_set():
        raise TurnStopped


def turn_clock() -> float:
    """`time.perf_counter` without the seconds for which this question waited for others to compute."""
    turn = current_turn()
    return time.perf_counter() - (0.0 if turn is None else turn.queued)
