"""Files that are made once and kept in a folder with a bound."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from corpora.outputs import atomic_file

MOST_BYTES = 4 * 2**30
IN_USE_SECONDS = 60.0
"""A file that was asked for within these is not removed: it may be on its way to a client."""


class DiskCache:
    """Files by name; safe to share between threads, and between servers of one user.

    A file is written beside its place and renamed. Once all take more than `most_bytes`, those that were
    asked for longest ago are removed.
    """

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._making: dict[str, threading.Lock] = {}

    def get(self, name: str, suffix: str, make: Callable[[Path], object]) -> Path:
        """The file of that name, which `make` writes where there is none.

        Two that ask for one name at once make it once. Raises what `make` raises, and OSError.
        """
        path = self._folder / (hashlib.blake2b(name.encode(), digest_size=16).hexdigest() + suffix)
        if self._touch(path):
            return path
        with self._lock:
            making = self._making.setdefault(path.name, threading.Lock())
        with making:
            if self._touch(path):
                return path
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                with atomic_file(path) as draft:
                    make(draft)
            finally:
                with self._lock:
                    self._making.pop(path.name, None)
        self._shrink()
        return path

    def _touch(self, path: Path) -> bool:
        """Whether it is there; if so, it was asked for now."""
        try:
            os.utime(path)
        except OSError:
            return False
        return True

    def _shrink(self) -> None:
        with self._lock:
            held = []
            for entry in os.scandir(self._folder):
                with contextlib.suppress(OSError):
                    facts = entry.stat()
                    held.append((facts.st_mtime, facts.st_size, entry.path))
            total, now = sum(size for _, size, _ in held), time.time()
            for asked, size, path in sorted(held):
                if total <= self._most_bytes or now - asked < IN_USE_SECONDS:
                    return
                with contextlib.suppress(OSError):
                    os.unlink(path)
                    total -= size


def cache_folder() -> Path:
    """Where clips and thumbnails are kept: below `$XDG_CACHE_HOME`."""
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root) / "rag" / "serve"
