"""Hashes of weights: true, remembered, and dropped when the file changes."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from indexers import digests
from indexers.digests import file_digest


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "weights.bin"
    path.write_bytes(b"one")
    return path


def _cache() -> Path:
    return Path(os.environ["XDG_CACHE_HOME"]) / "rag" / "digests.json"


def test_it_is_remembered_between_processes(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = file_digest(weights)
    digests._file_digest.cache_clear()
    monkeypatch.setattr(hashlib, "file_digest", None)
    assert file_digest(weights) == before


def test_a_change_that_keeps_size_and_time_is_seen(weights: Path) -> None:
    facts = weights.stat()
    file_digest(weights)
    weights.write_bytes(b"two")
    os.utime(weights, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert file_digest(weights) == hashlib.sha256(b"two").hexdigest()


@pytest.mark.parametrize("content", ["{", '{"PATH": [1, 2]}'])
def test_a_damaged_cache_is_passed_over(weights: Path, content: str) -> None:
    _cache().parent.mkdir(parents=True)
    _cache().write_text(content.replace("PATH", str(weights.resolve())), encoding="utf-8")
    assert file_digest(weights) == hashlib.sha256(b"one").hexdigest()
    assert str(weights.resolve()) in json.loads(_cache().read_text(encoding="utf-8"))
