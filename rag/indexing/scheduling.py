"""Which worker indexes which content, and when one is given to another worker too; a pure state machine.

Longest first. A content whose worker died, or is over its time limit, is given to another worker, up to
`ATTEMPTS` times. With nothing left to begin, an idle worker takes a second attempt at what takes far longer
than the pace of the run; whichever ends first counts, for staging takes a content once.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

ATTEMPTS = 3
LEAST_SECONDS = 600.0
"""No content has a shorter time limit: models are loaded, disks are slow."""
STRAGGLER = 3.0
"""Times the pace of the run after which a content gets a second attempt."""

Worker = TypeVar("Worker", bound=Hashable)


@dataclass(frozen=True, slots=True)
class _Attempt:
    name: str
    begun: float


class Scheduler(Generic[Worker]):
    """Hands out contents by name. All times are seconds on one clock of the caller."""

    def __init__(self, lengths: Mapping[str, float], *, timeout: float) -> None:
        """`lengths`: seconds of media by content. `timeout`: most times its length that one may take."""
        self._lengths = dict(lengths)
        self._timeout = timeout
        self._waiting = [(-length, name) for name, length in lengths.items()]
        heapq.heapify(self._waiting)
        self._running: dict[Worker, _Attempt] = {}
        self._left = set(lengths)
        self._failures: Counter[str] = Counter()
        self._spent = 0.0
        self._finished = 0.0

    @property
    def left(self) -> int:
        """How many contents are neither finished nor given up."""
        return len(self._left)

    @property
    def running(self) -> int:
        """How many workers have a content in work."""
        return len(self._running)

    def next(self, worker: Worker, now: float) -> str | None:
        """What an idle worker does now; None where there is nothing for it."""
        name = self._begin() or self._straggler(now)
        if name is not None:
            self._running[worker] = _Attempt(name, now)
        return name

    def finish(self, worker: Worker, now: float) -> str | None:
        """A worker has staged its content, which is given back where it was the first to do so."""
        attempt = self._running.pop(worker)
        if attempt.name not in self._left:
            return None
        self._left.remove(attempt.name)
        self._spent += now - attempt.begun
        self._finished += self._lengths[attempt.name]
        return attempt.name

    def lose(self, worker: Worker) -> str | None:
        """A worker is gone. Its content waits again; given back is one that has failed too often."""
        attempt = self._running.pop(worker, None)
        if attempt is None or attempt.name not in self._left:
            return None
        self._failures[attempt.name] += 1
        if any(other.name == attempt.name for other in self._running.values()):
            return None
        if self._failures[attempt.name] >= ATTEMPTS:
            self._left.remove(attempt.name)
            return attempt.name
        heapq.heappush(self._waiting, (-self._lengths[attempt.name], attempt.name))
        return None

    def late(self, now: float) -> list[Worker]:
        """Workers that are over the time limit of their content."""
        return [w for w, attempt in self._running.items() if now - attempt.begun > self._limit(attempt.name)]

    def _limit(self, name: str) -> float:
        return max(LEAST_SECONDS, self._timeout * self._lengths[name])

    def _begin(self) -> str | None:
        while self._waiting:
            _, name = heapq.heappop(self._waiting)
            if name in self._left:
                return name
        return None

    def _straggler(self, now: float) -> str | None:
        if not self._finished:
            return None
        attempts = Counter(attempt.name for attempt in self._running.values())
        pace = STRAGGLER * self._spent / self._finished
        slow = [
            (attempt.begun, attempt.name)
            for attempt in self._running.values()
            if attempt.name in self._left
            and attempts[attempt.name] == 1
            and now - attempt.begun > pace * self._lengths[attempt.name]
        ]
        return min(slow)[1] if slow else None
