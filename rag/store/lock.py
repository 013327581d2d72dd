"""One writer at a time.

The system drops a lock when its process dies, so a crash leaves none behind; the note beside it only says who
holds it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.outputs import atomic_write_text
from corpora.platforms import take_lock
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
