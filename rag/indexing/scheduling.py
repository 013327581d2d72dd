"""Which worker indexes which content; a pure state machine.

Longest first. A content whose worker died, or is over its time limit, is given to another worker, up to
`ATTEMPTS` times.
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
        self._failures: Counter[str] = Counter()

    @property
    def left(self) -> int:
        """How many contents are neither finished nor given up."""
        return len(self._waiting) + len(self._running)

    @property
    def running(self) -> int:
        """How many workers have a content in work."""
        return len(self._running)

    def next(self, worker: Worker, now: float) -> str | None:
        """What an idle worker does now; None where nothing waits."""
        if not self._waiting:
            return None
        _, name = heapq.heappop(self._waiting)
        self._running[worker] = _Attempt(name, now)
        return name

    def finish(self, worker: Worker) -> str:
        """A worker has staged its content, which is given back."""
        return self._running.pop(worker).name

    def lose(self, worker: Worker) -> str | None:
        """A worker is gone. Its content waits again; given back is one that has failed too often."""
        attempt = self._running.pop(worker, None)
        if attempt is None:
            return None
        self._failures[attempt.name] += 1
        if self._failures[attempt.name] >= ATTEMPTS:
            return attempt.name
        heapq.heappush(self._waiting, (-self._lengths[attempt.name], attempt.name))
        return None

    def late(self, now: float) -> list[Worker]:
        """Workers that are over the time limit of their content."""
        return [w for w, attempt in self._running.items() if now - attempt.begun > self._limit(attempt.name)]

    def _limit(self, name: str) -> float:
        return max(LEAST_SECONDS, self._timeout * self._lengths[name])
