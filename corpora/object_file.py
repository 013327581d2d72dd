"""An object read as a file, by ranges: what a decoder asks for, and no more than some blocks around it."""

from __future__ import annotations

import io
import os
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from corpora.errors import UnreadableFile, reason_of
from corpora.objects import ObjectStore, StoredObject, StoreError, locate

if TYPE_CHECKING:
    from corpora.settings import StorageSettings

BLOCK = 2**20
"""Bytes that are read at once where a reader jumps."""
MOST_BLOCKS = 8
"""Blocks that are read at once where it goes on: each request for twice as many as the one before."""
KEPT_BLOCKS = 32


class ObjectFiles:
    """Opens objects; keeps the blocks last read, since a file is opened again for each of its facts.

    Not to be shared between threads.
    """

    def __init__(self, storage: StorageSettings | None) -> None:
        """`storage`: None where only files are opened."""
        self.storage = storage
        self.failure = ""
        """Why a read failed since this was emptied: libraries may take an error for the end of a file."""
        self._blocks: OrderedDict[tuple[str, str, int], bytes] = OrderedDict()

    def open(self, address: str) -> ObjectFile:
        """The object in its present state. Raises `UnreadableFile`, with the reason alone."""
        assert self.storage is not None
        try:
            store, key = locate(address, self.storage)
            found = store.head(key)
        except StoreError as error:
            raise UnreadableFile(reason_of(error, address)) from error
        if found is None:
            raise UnreadableFile("no such object")
        return ObjectFile(address, store, found, self)

    def block(self, file: ObjectFile, number: int) -> bytes | None:
        """A block of that state of an object that was kept."""
        key = (file.name, file.state, number)
        if key in self._blocks:
            self._blocks.move_to_end(key)
        return self._blocks.get(key)

    def keep(self, file: ObjectFile, first: int, data: bytes) -> None:
        """Keep the blocks from number `first`."""
        for at in range(0, len(data), BLOCK):
            self._blocks[file.name, file.state, first + at // BLOCK] = data[at : at + BLOCK]
        while len(self._blocks) > KEPT_BLOCKS:
            self._blocks.popitem(last=False)


class ObjectFile(io.RawIOBase):
    """One state of an object; reading raises `UnreadableFile` once the object is another."""

    def __init__(self, address: str, store: ObjectStore, found: StoredObject, files: ObjectFiles) -> None:
        self.name = address
        self.found = found
        self.state = f"{found.etag} {found.modified_ns} {found.size}"
        self._store = store
        self._files = files
        self._at = 0
        self._following = 0
        """The block behind the last that was read."""
        self._run = 1

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """As of every file."""
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.found.size}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Up to the end of a block."""
        if not 0 <= self._at < self.found.size:
            return 0
        number, offset = divmod(self._at, BLOCK)
        part = self._block(number)[offset : offset + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)

    def _block(self, number: int) -> bytes:
        kept = self._files.block(self, number)
        if kept is not None:
            return kept
        self._run = min(2 * self._run, MOST_BLOCKS) if number == self._following else 1
        start = number * BLOCK
        length = min(self._run * BLOCK, self.found.size - start)
        try:
            data = self._store.read_range(self.found.key, start, length, self.found.etag)
            if len(data) != length:
                raise StoreError(f"{len(data):,} bytes of {length:,} came")
        except StoreError as error:
            self._files.failure = reason_of(error, self.name)
            raise UnreadableFile(self._files.failure) from error
        self._following = number + self._run
        self._files.keep(self, number, data)
        return data[:BLOCK]
