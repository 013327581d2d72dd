"""Random streams from names: the same words give the same stream on every machine and in every process."""

from __future__ import annotations

import hashlib
import random


def stable_number(*parts: object) -> int:
    """64 bits that depend on nothing but the parts' text."""
    words = "\x1f".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest(), "big")


def opaque_name(*parts: object) -> str:
    """12 hex digits of `stable_number`, which say nothing about what they name."""
    return f"{stable_number(*parts):016x}"[:12]


def stream(*parts: object) -> random.Random:
    """A generator of its own for each name."""
    return random.Random(stable_number(*parts))
