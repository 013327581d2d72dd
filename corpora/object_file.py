"""An object read as a file, by ranges: the blocks that a decoder asks for."""

from __future__ import annotations

import io
import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from corpora.errors import UnreadableFile, reason_of
from corpora.objects import ObjectStore, StoredObject, StoreError, locate

if TYPE_CHECKING:
    from corpora.settings import StorageSettings

BLOCK = 4 * 2**20
"""Bytes that are read at once."""
KEPT_BLOCKS = 8


class ObjectFiles:
    """Opens objects. Not to be shared between threads."""

    def __init__(self, storage: StorageSettings | None) -> None:
        """`storage`: None where only files are opened."""
        self.storage = storage
        self.failure = ""
        """Why a read failed since this was emptied: libraries may take an error for the end of a file."""
        # A file is opened again for each of its facts.
        self.block = lru_cache(KEPT_BLOCKS)(_block)

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


def _block(store: ObjectStore, found: StoredObject, number: int) -> bytes:
    """A block of that state of an object. Raises `StoreError`."""
    start = number * BLOCK
    length = min(BLOCK, found.size - start)
    data = store.read_range(found.key, start, length, found.etag)
    if len(data) != length:
        raise StoreError(f"{len(data):,} bytes of {length:,} came")
    return data


class ObjectFile(io.RawIOBase):
    """One state of an object; reading raises `UnreadableFile` once the object is another."""

    def __init__(self, address: str, store: ObjectStore, found: StoredObject, files: ObjectFiles) -> None:
        self.name = address
        self.found = found
        self._store = store
        self._files = files
        self._at = 0

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
        try:
            block = self._files.block(self._store, self.found, number)
        except StoreError as error:
            self._files.failure = reason_of(error, self.name)
            raise UnreadableFile(self._files.failure) from error
        part = block[offset : offset + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)
