"""Retries of calls to a web."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

from rag.errors import DownloadTruncated, RateLimited, WebTimeout

TRANSIENT = (RateLimited, WebTimeout, DownloadTruncated)
"""Errors that a later attempt may not meet."""
LONGEST_WAIT = 30.0
"""Seconds between two attempts at most, whatever `retry_after` a web asks for."""
FIRST_WAIT = 1.0

Reply = TypeVar("Reply")


class RetryPolicy:
    """Makes each call at most `attempts` times; only `TRANSIENT` errors are retried.

    `sleep`: waits the given seconds before the next attempt; None does not wait, for a web whose delays
    are simulated. The wait is the error's `retry_after`, else it doubles from 1 s.
    """

    def __init__(self, attempts: int, sleep: Callable[[float], None] | None = None) -> None:
        self._retrying = Retrying(
            retry=retry_if_exception_type(TRANSIENT),
            stop=stop_after_attempt(attempts),
            wait=_seconds,
            sleep=sleep or (lambda _: None),
            reraise=True,
        )

    def call(self, request: Callable[[], Reply]) -> Reply:
        """The reply. Raises the last `WebError`."""
        return self._retrying.copy()(request)


def _seconds(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome is not None else None
    asked = getattr(error, "retry_after", None)
    doubled = FIRST_WAIT * 2.0 ** (state.attempt_number - 1)
    seconds = float(asked) if isinstance(asked, int | float) else doubled
    return min(LONGEST_WAIT, max(0.0, seconds))
