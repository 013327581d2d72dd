"""What makes a file the same file at any path: a hash over its bytes."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

from corpora.errors import UnreadableFile, os_reason
from corpora.platforms import LOOK


def content_hash(path: str | os.PathLike[str]) -> str:
    """32 hex digits of blake2b over the bytes of the file.

    Raises `UnreadableFile` if the file cannot be read to its end or is no plain file.
    """
    with plain_file(path) as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


@contextmanager
def plain_file(path: str | os.PathLike[str]) -> Iterator[FileIO]:
    """A plain file, without a buffer; what is none is not waited for.

    Raises `UnreadableFile` for anything else, and where it cannot be read.
    """
    named = os.fspath(path)
    try:
        try:
            handle = os.open(path, LOOK)
        except ValueError as error:
            raise UnreadableFile(f"{named}: no file can have such a name") from error
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise UnreadableFile(f"{named}: not a plain file")
            with open(handle, "rb", buffering=0, closefd=False) as file:
                yield file
        finally:
            os.close(handle)
    except OSError as error:
        raise UnreadableFile(f"{named}: cannot be read: {os_reason(error)}") from error


def file_sha256(*parts: Path) -> str:
    """64 hex digits of SHA-256 over the bytes of the file, or of its parts in order. Raises `OSError`."""
    digest = hashlib.sha256()
    for part in parts:
        with part.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()
