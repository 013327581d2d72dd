"""One writer at a time.

The system drops a lock when its process dies, so a crash leaves none behind; the note beside it only says who
holds it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from corpora.outputs import atomic_write_text
from corpora.platforms import take_lock
from rag.errors import LibraryBusy
from rag.store.error_mapping import write_errors


@contextmanager
def writer_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which is made. Raises `LibraryBusy`, naming the holder."""
    note = path.with_suffix(".json")
    with write_errors(path.parent):
        held = take_lock(path)
        if held is None:
            raise LibraryBusy(
                f"{path.parent}: {_holder(note)} is writing to this library; wait for it or stop it"
            )
    start = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        with write_errors(path.parent):
            about = {"pid": os.getpid(), "host": socket.gethostname(), "start": start}
            atomic_write_text(note, json.dumps(about))
        yield
    finally:
        with contextlib.suppress(OSError):
            note.unlink()
        # The file of the lock stays: removing it would let two writers hold two files of one name.
        held.release()


def _holder(note: Path) -> str:
    try:
        about = json.loads(note.read_bytes())
        return f"process {about['pid']} on {about['host']} (since {about['start']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
