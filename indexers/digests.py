"""Hashes of weight files and fingerprints of encoders, so that vectors of two encoders never mix.

Hashing costs about a second a gigabyte, which a question cannot afford, so a
file's hash is remembered in `$XDG_CACHE_HOME/rag/digests.json` until its size,
its modification or its status-change time is another.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from corpora.identity import file_sha256
from corpora.outputs import atomic_file

Stamp = tuple[int, int, int, int]


def file_digest(path: Path) -> str:
    """sha256 of the file, 64 hex digits."""
    real = path.resolve()
    facts = real.stat()
    return _file_digest(str(real), (facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino))


def folder_digest(files: Iterable[Path]) -> str:
    """One hash over the names and contents of several files, in any order; 64 hex digits."""
    return joint_digest((path.name, file_digest(path)) for path in files)


def joint_digest(files: Iterable[tuple[str, str]]) -> str:
    """`folder_digest` of files by their names and sha256."""
    return hashlib.sha256(json.dumps(sorted(files)).encode()).hexdigest()


def fingerprint(parts: Mapping[str, Any]) -> str:
    """32 hex digits over plain values; the same whatever their order."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


@cache
def _file_digest(path: str, stamp: Stamp) -> str:
    remembered = _read_cache()
    entry = remembered.get(path)
    if isinstance(entry, list) and entry[:4] == list(stamp) and len(entry) == 5:
        return str(entry[4])
    digest = file_sha256(Path(path))
    write_cache(_cache_file(), json.dumps({**remembered, path: [*stamp, digest]}, sort_keys=True).encode())
    return digest


def cache_folder() -> Path:
    """The user's folder for what can be made again."""
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root) / "rag"


def _cache_file() -> Path:
    return cache_folder() / "digests.json"


def _read_cache() -> dict[str, Any]:
    try:
        content = json.loads(_cache_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def write_cache(target: Path, content: bytes) -> None:
    """Replace a file of `cache_folder`. A cache that cannot be written costs time and nothing else."""
    with contextlib.suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(target) as draft:
            draft.write_bytes(content)
