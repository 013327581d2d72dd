"""Signs that the reading of a file goes on.

The subprocess that reads files (`corpora.video.worker`) tells its parent; elsewhere nobody listens.
"""

from __future__ import annotations

from collections.abc import Callable

_listeners: list[Callable[[], object]] = []


def beat() -> None:
    """Call it after every step of a library, as each packet or frame: a file without a sign for
    `video.stall_seconds` is given up. May raise, to end the reading."""
    for listener in _listeners:
        listener()


def on_beat(listener: Callable[[], object]) -> None:
    """Have `listener` called at each sign from now on, in this process."""
    _listeners.append(listener)
