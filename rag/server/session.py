"""The library of a server: opened once it is there, renewed when it changes, closed after its last reader."""

from __future__ import annotations

import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from rag.errors import LibraryNotFound
from rag.server.problems import stopped_problem
from rag.store.finding import find_library
from rag.store.layout import Location, open_layout

if TYPE_CHECKING:
    from rag.library import Library
    from rag.server.health import LibraryItem
    from rag.settings import Settings

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""Between two looks for a library where there is none."""
RENEW_SECONDS = 30.0
"""Between two looks at the commits on disk, for which one snapshot is used."""


@dataclass
class _Opened:
    library: Library
    facts: LibraryItem
    version: str
    failed: str | None = None
    """A newer version that did not open."""


class LibrarySession:
    """Leases of the newest library in a folder; safe to share between threads.

    A change on disk is taken up by opening the library once more: who reads the old snapshot goes on
    reading it, and it is closed once nobody holds it. Models that are loaded are handed over. While one
    thread opens, the others are given the old snapshot.
    """

    def __init__(self, settings: Settings, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.folder: Location = find_library(library=settings.library, storage=settings.storage)
        self._settings = settings.model_copy(update={"library": os.fspath(self.folder)})
        self._clock = clock
        self._lock = threading.Lock()
        """Guards the fields below; held for moments."""
        self._opening = threading.Lock()
        """Held while the library is opened, which takes long."""
        self._opened: _Opened | None = None
        self._failure: Exception | None = None
        self._closed = False
        self._looked = -RENEW_SECONDS

    @contextmanager
    def lease(self) -> Iterator[Library]:
        """The library, which stays open to the end of the block.

        Raises `LibraryNotFound` where there is none yet, `Problem` after `close`, else as
        `Library.open` does.
        """
        opened = self._take()
        yield opened.library

    def look(self) -> tuple[LibraryItem | None, Exception | None]:
        """What is open, and why nothing is, without waiting; both None until a thread has opened it."""
        with self._lock:
            due = self._is_due()
        if due and not self._opening.locked():
            look = partial(self.refresh, now=False)
            if open_layout(self.folder).exists():
                threading.Thread(target=look, name="rag-server-library", daemon=True).start()
            else:
                look()
        with self._lock:
            return None if self._opened is None else self._opened.facts, self._failure

    def refresh(self, *, now: bool = True) -> None:
        """Take up what was indexed or removed; leases from now on have it. `now`: as of `_renew`."""
        try:
            with self._opening:
                self._renew(now=now)
        except Exception as error:
            log.debug("%s: not opened: %s", self.folder, error)

    def close(self) -> None:
        """Close the library, as soon as its last lease has ended; none is opened after."""
        with self._opening, self._lock:
            self._closed, self._opened = True, None

    def _take(self) -> _Opened:
        while True:
            with self._lock:
                opened = self._opened
                if opened is not None and not (self._is_due() and not self._opening.locked()):
                    return opened
            with self._opening:
                self._renew()

    def _is_due(self) -> bool:
        return self._clock() - self._looked >= (LOOK_SECONDS if self._opened is None else RENEW_SECONDS)

    def _renew(self, *, now: bool = False) -> None:
        """Open what is on disk, unless it is open; `now`: even if that was looked at a moment ago.

        The caller holds `_opening`.
        """
        with self._lock:
            if self._closed:
                raise stopped_problem()
            opened = self._opened
            if opened is not None and not (now or self._is_due()):
                return
        found = open_layout(self.folder).state()
        renewed, failure = None, None
        try:
            if opened is None or opened.version != found:
                renewed = self._open(opened, found)
        except Exception as error:
            failure = error
        with self._lock:
            self._looked, self._failure = self._clock(), failure
            if renewed is not None or isinstance(failure, LibraryNotFound):
                self._opened = renewed
        if failure is not None:
            raise failure

    def _open(self, opened: _Opened | None, found: str) -> _Opened | None:
        """The library, once more where it is `opened`; None where that fails: the old one is then kept."""
        from rag.library import Library
        from rag.server.health import facts_of

        try:
            library = Library.open(settings=self._settings) if opened is None else opened.library.reopen()
            try:
                renewed = _Opened(library, facts_of(library, self.folder, found), found)
            except Exception:
                library.close()
                raise
            weakref.finalize(renewed, library.close)
            return renewed
        except Exception as error:
            if opened is None or isinstance(error, LibraryNotFound):
                raise
            if opened.failed != found:
                log.error(
                    "%s: its newest state does not open, the one before is used: %s", self.folder, error
                )
            opened.failed = found
            return None
