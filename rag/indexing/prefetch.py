"""Run an iterator ahead of its consumer, in a thread, with a bounded queue."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")


class Prefetcher(Generic[T]):
    """Iterates over `source` in a thread, at most `depth` items ahead; an error in it is raised here.

    Decoding runs while the encoder works, in bounded memory. Leaving the `with`
    block stops the thread, wherever the source is.
    """

    def __init__(self, source: Iterator[T], depth: int) -> None:
        self._source = source
        self._items: queue.Queue[T | _End] = queue.Queue(maxsize=depth)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="prefetch", daemon=True)

    def __enter__(self) -> Prefetcher[T]:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        while self._thread.is_alive():
            try:
                self._items.get(timeout=0.05)
            except queue.Empty:
                continue
        self._thread.join()

    def __iter__(self) -> Iterator[T]:
        while True:
            item = self._items.get()
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            yield item

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            for item in self._source:
                if self._stop.is_set():
                    break
                self._put(item)
        except BaseException as caught:
            error = caught
        finally:
            close = getattr(self._source, "close", None)
            if close is not None:
                close()
            self._put(_End(error))

    def _put(self, item: T | _End) -> None:
        while not self._stop.is_set():
            try:
                self._items.put(item, timeout=0.1)
            except queue.Full:
                continue
            return


class _End:
    def __init__(self, error: BaseException | None) -> None:
        self.error = error
