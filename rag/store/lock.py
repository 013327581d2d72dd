"""One writer at a time, and a way to know that there are no readers.

The kernel drops an flock when its process dies, so a crash leaves no stale
lock; the note inside the file only says who holds it. Python opens files
non-inheritable, so a subprocess that is spawned never carries the lock on.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import weakref
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from corpora import UNSUPPORTED_PLATFORM
from rag.errors import LibraryBusy
from rag.store.error_mapping import write_errors

try:
    import fcntl
except ImportError as error:
    raise ImportError(UNSUPPORTED_PLATFORM) from error

NO_FLOCK = {errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.ENOLCK, errno.EINVAL}


class WriterLock:
    """Held from `acquire` to `release`. Raises `LibraryBusy`, naming the holder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1

    def acquire(self) -> None:
        """Take the lock, or raise where another process has it."""
        with write_errors(self._path.parent):
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            _lock_exclusive(fd)
        except BlockingIOError as error:
            holder = _holder(fd)
            os.close(fd)
            raise LibraryBusy(
                f"{self._path.parent}: {holder} is writing to this library; wait for it or stop it"
            ) from error
        except OSError:
            os.close(fd)
            raise
        note = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "start": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        try:
            with write_errors(self._path.parent):
                os.ftruncate(fd, 0)
                os.pwrite(fd, json.dumps(note).encode(), 0)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd

    def release(self) -> None:
        """The file stays: removing it would let two writers hold two files of one name."""
        if self._fd >= 0:
            os.ftruncate(self._fd, 0)
            # Explicit: a subprocess between its fork and its exec still holds a copy of the file.
            _unlock(self._fd)
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> WriterLock:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _lock_exclusive(fd: int) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        if error.errno not in NO_FLOCK:
            raise
        # Some network file systems know only record locks; those die with the process as well.
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except PermissionError as refused:
            raise BlockingIOError(refused.errno, refused.strerror) from refused


def _unlock(fd: int) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_UN)
    except OSError as error:
        if error.errno not in NO_FLOCK:
            raise
        fcntl.lockf(fd, fcntl.LOCK_UN)


def _holder(fd: int) -> str:
    try:
        note = json.loads(os.pread(fd, 4096, 0))
        return f"process {note['pid']} on {note['host']} (since {note['start']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


class ReaderMark:
    """Held shared while a reader is open. Never waits, and never fails: it is only a courtesy to cleaning."""

    def __init__(self, path: Path) -> None:
        self.release: Callable[[], object] = lambda: None
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            return
        # A reader that is only forgotten gives its mark back too.
        self.release = weakref.finalize(self, os.close, fd)


def no_readers(path: Path) -> bool:
    """True when no reader holds its mark now, so that old versions can go at once."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True
