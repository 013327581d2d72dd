"""Telling a true pause from a false time: damaged files hold times that leap ahead and come back."""

from __future__ import annotations

from typing import Generic, TypeVar

LEAP = 10.0
"""Seconds; a step ahead that is longer is believed only if the next time does not go back again."""
JUMP = 3600.0
"""Seconds; a step ahead that is longer is a lie."""

T = TypeVar("T")


class LeapFilter(Generic[T]):
    """Items pass in their order; one that leaps ahead waits for the next one to confirm it."""

    def __init__(self, last: float | None = None) -> None:
        self._last = last
        self._waiting: tuple[float, T] | None = None
        self.dropped: list[float] = []
        """Times of items that were left out, until the caller clears them."""

    def push(self, time: float, item: T) -> list[tuple[float, T]]:
        """The items that are now known to be true, with their times."""
        passed: list[tuple[float, T]] = []
        if self._waiting is not None:
            if time >= self._waiting[0] - LEAP:
                passed += self.finish()
            else:
                self.dropped.append(self._waiting[0])
                self._waiting = None
        step = 0.0 if self._last is None else time - self._last
        if step > JUMP:
            self.dropped.append(time)
        elif step > LEAP:
            self._waiting = time, item
        else:
            self._last = time if self._last is None else max(self._last, time)
            passed.append((time, item))
        return passed

    def finish(self) -> list[tuple[float, T]]:
        """What still waits: a last item has nothing to contradict it."""
        if self._waiting is None:
            return []
        passed, self._waiting = [self._waiting], None
        self._last = passed[0][0]
        return passed
