"""The library of a server: opened once it is there, renewed when it changes, closed after its last reader."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rag.errors import LibraryNotFound
from rag.library import Library
from rag.settings import Settings
from rag.store.layout import Layout, find_library

log = logging.getLogger(__name__)

WATCHED = ("meta", "videos", "files")
"""Tables of which every change of the library makes a new version."""
LOOK_SECONDS = 1.0
"""Between two looks at the versions on disk."""
RENEW_SECONDS = 30.0
"""Least time for which one snapshot is used while a writer works."""

Version = tuple[int, ...]


@dataclass
class _Opened:
    library: Library
    version: Version
    since: float
    readers: int = 0
    retired: bool = False
    failed: Version | None = None
    """A newer version that did not open."""


class LibrarySession:
    """Leases of the newest library in a folder; safe to share between threads.

    A change on disk is taken up by opening the library once more: who reads the old snapshot goes on
    reading it, and the last one to return it closes it. Models that are loaded are handed over.
    """

    def __init__(self, settings: Settings, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.folder: Path = find_library(library=settings.library)
        self._settings = settings.model_copy(update={"library": self.folder})
        self._clock = clock
        self._lock = threading.Lock()
        self._opened: _Opened | None = None
        self._looked = -LOOK_SECONDS

    @contextmanager
    def lease(self) -> Iterator[Library]:
        """The library, which stays open to the end of the block.

        Raises `LibraryNotFound` where there is none yet, else as `Library.open` does.
        """
        with self._lock:
            opened = self._newest()
            opened.readers += 1
        try:
            yield opened.library
        finally:
            with self._lock:
                opened.readers -= 1
                if opened.retired and not opened.readers:
                    opened.library.close()

    def refresh(self) -> None:
        """Take up what was indexed or removed, for the leases from now on."""
        with self._lock:
            if self._opened is not None:
                self._opened.since = self._looked = -RENEW_SECONDS

    @property
    def version(self) -> str:
        """Changes when something was indexed or removed; empty without a library."""
        return f"{max(_versions(self.folder), default=0):x}"

    def close(self) -> None:
        """Close the library, as soon as its last lease has ended."""
        with self._lock:
            self._retire()

    def _newest(self) -> _Opened:
        now = self._clock()
        opened = self._opened
        if opened is not None and (now - self._looked < LOOK_SECONDS or now - opened.since < RENEW_SECONDS):
            return opened
        self._looked = now
        found = _versions(self.folder)
        if opened is not None and opened.version == found:
            return opened
        library: Library | None
        if opened is None:
            library = Library.open(settings=self._settings)
        elif (library := self._reopened(opened, found)) is None:
            return opened
        self._retire()
        self._opened = _Opened(library, found, now)
        return self._opened

    def _reopened(self, opened: _Opened, found: Version) -> Library | None:
        """The library once more; None where it does not open: the old snapshot is then kept."""
        try:
            return opened.library.reopen()
        except LibraryNotFound:
            raise
        except Exception as error:
            if opened.failed != found:
                log.error(
                    "%s: its newest state does not open, the one before is used: %s", self.folder, error
                )
            opened.failed = found
            return None

    def _retire(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.retired = True
            if not opened.readers:
                opened.library.close()


def _versions(folder: Path) -> Version:
    """When a version was last added to each of the watched tables, in ns; empty without a library."""
    layout = Layout(folder)
    try:
        return tuple(os.stat(layout.table(name) / "_versions").st_mtime_ns for name in WATCHED)
    except OSError:
        return ()
