"""Lance, imported without pandas, which takes as long as all else of it and 36 MB, and is not used."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any


def lance_module() -> Any:
    """The package `lance`, untyped: its own types are those of a part of it."""
    if "lance" in sys.modules:
        return sys.modules["lance"]
    with _without_pandas():
        return import_module("lance")


@contextmanager
def _without_pandas() -> Iterator[None]:
    """In this thread pandas cannot be imported now, unless it is already.

    PyArrow, which looks for it when it makes its first scalar, does without it, and imports it still when a
    table is to become a data frame.
    """
    refusal = _Refusal(threading.get_ident())
    sys.meta_path.insert(0, refusal)
    try:
        yield
    finally:
        sys.meta_path.remove(refusal)


class _Refusal:
    def __init__(self, thread: int) -> None:
        self._thread = thread

    def find_spec(self, name: str, *_: object) -> None:
        """Raise ModuleNotFoundError for pandas in one thread."""
        if name == "pandas" and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(name, name=name)
