"""The identity of content is the hash of its bytes and of nothing else."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from corpora.identity import BLOCK, content_hash
from rag.errors import UnreadableFile


@pytest.mark.parametrize("size", [0, 1, BLOCK, BLOCK + 1, 2 * BLOCK + 17])
def test_the_hash_is_blake2b_over_all_bytes(tmp_path: Path, size: int) -> None:
    data = (bytes(range(251)) * (size // 251 + 1))[:size]
    path = tmp_path / "f"
    path.write_bytes(data)
    assert content_hash(path) == hashlib.blake2b(data, digest_size=16).hexdigest()


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, reason in (
        (tmp_path / "pipe", "not a plain file"),
        (tmp_path, "not a plain file"),
        (tmp_path / "gone", "no such file"),
    ):
        with pytest.raises(UnreadableFile, match=reason) as raised:
            content_hash(path)
        assert str(raised.value).startswith(str(path))
