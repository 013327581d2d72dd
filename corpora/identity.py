"""What makes a file the same file at any path: a hash over its bytes."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from corpora.errors import UnreadableFile, os_reason
from corpora.platforms import LOOK


def content_hash(path: str | os.PathLike[str]) -> str:
    """32 hex digits of blake2b over the bytes of the file.

    Raises `UnreadableFile` if the file cannot be read to its end or is no plain file.
    """
    try:
        handle = os.open(path, LOOK)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise UnreadableFile(f"{os.fspath(path)}: not a plain file")
        with os.fdopen(handle, "rb", buffering=0) as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError as error:
        raise UnreadableFile(f"{os.fspath(path)}: cannot be read: {os_reason(error)}") from error


def file_sha256(*parts: Path) -> str:
    """64 hex digits of SHA-256 over the bytes of the file, or of its parts in order. Raises `OSError`."""
    digest = hashlib.sha256()
    for part in parts:
        with part.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()
