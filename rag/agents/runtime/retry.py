"""Calls to a web that may fail: repeated where that can help, and given up by name where it cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rag.errors import DownloadTruncated, RateLimited, WebTimeout

PASSING = (RateLimited, WebTimeout, DownloadTruncated)
"""What may be gone at the next try."""
LONGEST_WAIT = 30.0
"""Seconds between two tries at most, whatever a web asks for."""
FIRST_WAIT = 1.0

Answered = TypeVar("Answered")


class RetryPolicy:
    """Tries each call at most `attempts` times.

    `wait`: sleeps so many seconds; None on a web whose delays are only counted, where waiting is as idle.
    """

    def __init__(self, attempts: int, wait: Callable[[float], None] | None = None) -> None:
        self._attempts = attempts
        self._wait = wait

    def call(self, ask: Callable[[], Answered]) -> Answered:
        """The answer. Raises the last `WebError`."""
        for attempt in range(1, self._attempts):
            try:
                return ask()
            except PASSING as error:
                if self._wait is not None:
                    self._wait(_seconds(error, attempt))
        return ask()


def _seconds(error: Exception, attempt: int) -> float:
    """What the web asks for, else a second doubled with every try."""
    wanted = getattr(error, "retry_after", None)
    seconds = float(wanted) if isinstance(wanted, int | float) else FIRST_WAIT * 2.0 ** (attempt - 1)
    return min(LONGEST_WAIT, max(0.0, seconds))
