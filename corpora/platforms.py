"""What POSIX has and Windows lacks, in one place. What Linux alone has is asked for where it is used.

Tests run on Linux. What is done instead on Windows is written from its documentation, and not tested there.
"""

from __future__ import annotations

import os
import select
import signal
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import FileLock
try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]  # Windows

LOOK = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
"""Flags of `os.open` to read a file as it is, where opening what only has its name must not block."""
KILL: signal.Signals = getattr(signal, "SIGKILL", signal.SIGTERM)
"""The signal that ends a process at once."""
POLL_SECONDS = 0.002
"""Between two looks at a pipe that cannot be waited for."""
SHARES_LOCKS = fcntl is not None
"""Whether several processes can share the lock of a file."""


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
    """Have an open file alone until it is closed; False where others have or share it. True on Windows."""
    return fcntl is None or _flock(handle, "LOCK_EX")


def _flock(handle: int, kind: str) -> bool:
    try:
        fcntl.flock(handle, getattr(fcntl, kind) | fcntl.LOCK_NB)
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
        if not (SHARES_LOCKS and _flock(handle, "LOCK_SH")):
            os.close(handle)
            return
        # One that is only forgotten is released too.
        self.release = weakref.finalize(self, os.close, handle)


def is_marked(path: Path) -> bool:
    """Whether a process holds a `SharedMark` of a file, or may, as on Windows. Raises OSError."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        return not (SHARES_LOCKS and lock_alone(handle))
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, where a folder can be opened. Raises OSError."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # may be written in, but not listed; any folder on Windows
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def has_no_inodes(folder: Path) -> bool:
    """Whether the file system of a folder can take no more files, however small. Raises OSError."""
    if not hasattr(os, "statvfs"):
        return False
    facts = os.statvfs(folder)
    return bool(facts.f_files and not facts.f_favail)


def readable(handle: int, seconds: float) -> bool:
    """Whether something, or the end, can be read from a pipe within `seconds`."""
    if hasattr(select, "poll"):
        poller = select.poll()
        poller.register(handle, select.POLLIN)
        return bool(poller.poll(max(0, round(seconds * 1000))))
    import _winapi
    import msvcrt

    until = time.monotonic() + seconds
    while True:
        try:
            pipe = msvcrt.get_osfhandle(handle)  # type: ignore[attr-defined]  # it is of Windows alone
            if _winapi.PeekNamedPipe(pipe, 0)[0]:  # type: ignore[attr-defined]  # it is of Windows alone
                return True
        except BrokenPipeError:
            return True
        if time.monotonic() >= until:
            return False
        time.sleep(POLL_SECONDS)


def read_into(handle: int, data: memoryview) -> int:
    """Fill some of `data` from a pipe; how many bytes, 0 at its end."""
    if hasattr(os, "readv"):
        return os.readv(handle, [data])
    read = os.read(handle, len(data))
    data[: len(read)] = read
    return len(read)


def yield_to_others(pid: int, niceness: int) -> None:
    """Lower the priority of a process. Raises OSError."""
    if hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, pid, niceness)
