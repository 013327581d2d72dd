"""The writer's lock of a library on an object store: one object that is only ever written conditionally.

It is made by a conditional create and kept up by compare-and-swap on its ETag, from a thread. Its age is
judged by the clock of the store, as its time of change against that of an object written now: a machine whose
own clock is wrong neither loses its lease nor takes one from another.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import uuid
from datetime import UTC, datetime
from typing import Any

from corpora.objects import ObjectStore, Refused, StoreError
from rag.errors import LibraryBusy

log = logging.getLogger(__name__)

LEASE = "writer.lease"
CLOCK = "writer.clock"
"""An empty object that is written to read the store's clock."""


class Lease:
    """Held from `acquire` to `release`. Raises `LibraryBusy`, naming the holder, and `StoreError`."""

    seconds = 60.0
    """A lease that was not renewed for this long, by the store's clock, may be taken over."""
    beat = 15.0
    """Seconds between two renewals."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._note: dict[str, Any] = {
            "token": uuid.uuid4().hex,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "start": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        self.unsettled = False
        """Whether commits of the holder before may still arrive, or one of this holder that failed. It is
        written with the lease, for the next holder."""
        self._etag = ""
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def acquire(self) -> None:
        """Take the lease: a new one, one that was given back, or one that was not renewed in time."""
        try:
            self._etag = self._store.create(LEASE, self._content())
        except Refused:
            self._etag = self._take_over()
        self._thread = threading.Thread(target=self._keep_up, name="rag-writer-lease", daemon=True)
        self._thread.start()

    def _content(self, *, held: bool = True) -> bytes:
        return json.dumps({**self._note, "held": held, "unsettled": self.unsettled}).encode()

    def _take_over(self) -> str:
        found = self._store.read(LEASE)
        if found is None:
            raise LibraryBusy(
                f"{self._store.url}: its writer's lease has just gone; run the same command again"
            )
        note, meta = _parsed(found[0]), found[1]
        if note.get("token") == self._note["token"]:
            return meta.etag  # The answer to the first try was lost, and the client sent it again.
        held = note.get("held", True)
        if held:
            age = (self._now() - meta.modified).total_seconds()
            if age < self.seconds:
                raise LibraryBusy(
                    f"{self._store.url}: {_holder(note)} is writing to this library; wait for it or stop it; "
                    f"if it was killed, its lease ends in {self.seconds - age:.0f} s"
                )
        try:
            self.unsettled = held or note.get("unsettled", False)
            return self._replaced(self._content(), meta.etag)
        except Refused as error:
            raise LibraryBusy(
                f"{self._store.url}: {_holder(self._held())} has just begun to write to this library; "
                "wait for it or stop it"
            ) from error

    def _now(self) -> datetime:
        self._store.put(CLOCK, b"")
        found = self._store.head(CLOCK)
        if found is None:
            raise StoreError(f"{self._store.url}: {CLOCK} is gone as soon as it is written; check the store")
        return found.modified

    def _held(self) -> dict[str, Any]:
        found = self._store.read(LEASE)
        return {} if found is None else _parsed(found[0])

    def _replaced(self, content: bytes, etag: str) -> str:
        """The new ETag, also where the store did it and its answer was lost. Raises `Refused`."""
        try:
            return self._store.replace(LEASE, content, etag)
        except Refused:
            found = self._store.read(LEASE)
            if found is None or _parsed(found[0]).get("token") != self._note["token"]:
                raise
            return found[1].etag

    def _keep_up(self) -> None:
        beats = 0
        while not self._ended.wait(self.beat):
            beats += 1
            self._note["beat"] = beats  # Another content has another ETag.
            try:
                self._etag = self._replaced(self._content(), self._etag)
            except Refused:
                return  # `require` says so.
            except StoreError as error:
                log.warning("the writer's lease is not renewed: %s", error)

    def require(self) -> None:
        """Raises `LibraryBusy` where another writer has taken over, as after a long pause of this one.

        Asks the store, whatever this machine's clock and thread say.
        """
        note = self._held()
        if note.get("token") != self._note["token"]:
            who = f"{_holder(note)} has" if note else "it is gone, and another writer may have"
            raise LibraryBusy(
                f"{self._store.url}: this process did not renew its lease in time, and {who} taken over; "
                "nothing more was written; run the same command again"
            )

    def release(self) -> None:
        """Give it back; the object stays, for a delete has no condition. Nothing where it was lost."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            try:
                self._replaced(self._content(held=False), self._etag)
            except Refused:
                return  # another writer's now
            except StoreError as error:
                log.warning("the writer's lease is not given back and ends by itself: %s", error)


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        note = json.loads(content)
    except ValueError:
        return {}
    return note if isinstance(note, dict) else {}


def _holder(note: dict[str, Any]) -> str:
    if not {"pid", "host", "start"} <= note.keys():
        return "another process"
    return f"process {note['pid']} on {note['host']} (since {note['start']})"
