"""One writer at a time, and a way to know that there are no readers.

The system drops a lock when its process dies, so a crash leaves none behind; the note beside it only says who
holds it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import weakref
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.outputs import atomic_write_text
from corpora.platforms import SHARES_LOCKS, lock_alone, lock_shared, take_lock
from rag.errors import LibraryBusy
from rag.store.error_mapping import write_errors

if TYPE_CHECKING:
    from filelock import FileLock


class WriterLock:
    """Held from `acquire` to `release`. Raises `LibraryBusy`, naming the holder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._note = path.with_suffix(".json")
        self._held: FileLock | None = None

    def acquire(self) -> None:
        """Take the lock, or raise where another process has it."""
        with write_errors(self._path.parent):
            held = take_lock(self._path)
            if held is None:
                who, folder = self._holder(), self._path.parent
                raise LibraryBusy(f"{folder}: {who} is writing to this library; wait for it or stop it")
            note = {
                "pid": os.getpid(),
                "host": socket.gethostname(),
                "start": datetime.now(UTC).isoformat(timespec="seconds"),
            }
            try:
                atomic_write_text(self._note, json.dumps(note))
            except BaseException:
                held.release()
                raise
        self._held = held

    def _holder(self) -> str:
        try:
            note = json.loads(self._note.read_bytes())
            return f"process {note['pid']} on {note['host']} (since {note['start']})"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"

    def release(self) -> None:
        """The file of the lock stays: removing it would let two writers hold two files of one name."""
        if self._held is not None:
            with contextlib.suppress(OSError):
                self._note.unlink()
            self._held.release()
            self._held = None

    def __enter__(self) -> WriterLock:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class ReaderMark:
    """Held shared while a reader is open. Never waits, and never fails: it is only a courtesy to cleaning."""

    def __init__(self, path: Path) -> None:
        self.release: Callable[[], object] = lambda: None
        try:
            handle = os.open(path, os.O_RDONLY)
        except OSError:
            return
        if not lock_shared(handle):
            os.close(handle)
            return
        # A reader that is only forgotten gives its mark back too.
        self.release = weakref.finalize(self, os.close, handle)


def no_readers(path: Path) -> bool:
    """True when no reader holds its mark now, so that old versions can go at once."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        return SHARES_LOCKS and lock_alone(handle)
    finally:
        os.close(handle)
