"""Several files decoded at once, each by a `MediaReader` of its own, while one thread encodes and writes.

That thread does one step of each file in turn (a clip), in an order that depends on the files alone. The
decoders run ahead of it, each within the bound of `rag.indexing.clips.prefetched`.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import TypeVar

from corpora.settings import ReadingSettings, VideoSettings
from corpora.video.reader import MediaReader
from indexers.devices import device_of
from rag.errors import FileProblem

MOST_DECODERS = 4
"""Beside a GPU, unless `video.decoders` says otherwise."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def decoder_count(settings: VideoSettings, backend: str) -> int:
    """How many files are decoded at once, for an image encoder of this backend; "" without one.

    Beside an encoder on the processor one: its frame threads and the encoder share the cores.
    """
    if settings.decoders:
        return settings.decoders
    if device_of(backend) == "cpu":
        return 1
    return max(1, min(MOST_DECODERS, (os.cpu_count() or 1) // 2))


@contextmanager
def open_readers(
    settings: VideoSettings, backend: str, limits: ReadingSettings
) -> Iterator[list[MediaReader]]:
    """`decoder_count` readers; each starts its subprocess at its first file."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                MediaReader(
                    settings.decoder, settings.stall_seconds, limits=limits, audio_track=settings.audio_track
                )
            )
            for _ in range(decoder_count(settings, backend))
        ]


def interleave(
    items: Iterable[Item],
    readers: Sequence[MediaReader],
    begin: Callable[[Item, MediaReader], Generator[None, None, Result]],
) -> Generator[tuple[Item, Result | FileProblem], None, None]:
    """One step of each of `len(readers)` items in turn; yields an item with its result as soon as it is done.

    `begin`: the steps of an item with a reader that no other item uses meanwhile. A `FileProblem` ends its
    item alone, as the result; any other error ends all. Closing the generator closes the items in progress.
    An item is taken when a reader is free for it.
    """
    waiting, free = iter(items), deque(readers)
    running: deque[tuple[Item, MediaReader, Generator[None, None, Result]]] = deque()
    try:
        while True:
            for item in islice(waiting, len(free)):
                reader = free.popleft()
                running.append((item, reader, begin(item, reader)))
            if not running:
                return
            item, reader, steps = running[0]
            try:
                next(steps)
                running.rotate(-1)
                continue
            except StopIteration as end:
                result: Result | FileProblem = end.value
            except FileProblem as problem:
                result = problem
            running.popleft()
            free.append(reader)
            yield item, result
    finally:
        for _, _, steps in running:
            steps.close()
