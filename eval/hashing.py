"""Hashes of data, for the identity of a run."""

from __future__ import annotations

import hashlib
from pathlib import Path


def file_hash(path: Path) -> str:
    """SHA-256 of the bytes, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def text_hash(text: str) -> str:
    """SHA-256 of the UTF-8 bytes, 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()
