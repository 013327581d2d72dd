"""Locks of files, and what else modules of several packages ask the system for; of Linux and macOS."""

from __future__ import annotations

import fcntl
import os
import select
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import FileLock

LOOK = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
"""Flags of `os.open` to read a file as it is, where opening what only has its name must not block."""


def take_lock(path: Path) -> FileLock | None:
    """The lock of a file, which is made where it is missing, until it is released or the process ends.

    None where another holder has it. Raises OSError.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return None
    return lock


def lock_alone(handle: int) -> bool:
    """Have an open file alone until it is closed; False where others have or share it."""
    return _flock(handle, fcntl.LOCK_EX)


def _flock(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class SharedMark:
    """Held shared by each of several processes, so that another one knows whether there is any (`is_marked`).

    It never waits, and never fails: where it cannot be held it is not.
    """

    def __init__(self, path: Path) -> None:
        self.release: Callable[[], object] = lambda: None
        try:
            handle = os.open(path, os.O_RDONLY)
        except OSError:
            return
        if not _flock(handle, fcntl.LOCK_SH):
            os.close(handle)
            return
        # One that is only forgotten is released too.
        self.release = weakref.finalize(self, os.close, handle)


def is_marked(path: Path) -> bool:
    """Whether a process holds a `SharedMark` of a file, or may. Raises OSError."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        return not lock_alone(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, where the folder can be opened. Raises OSError."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # may be written in, but not listed
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def readable(handle: int, seconds: float) -> bool:
    """Whether something, or the end, can be read from a pipe within `seconds`."""
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    return bool(poller.poll(max(0, round(seconds * 1000))))
