"""A short form of `python -m benchmarks.concurrent_library`."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.concurrent_library import concurrent_runs

SECONDS = 10


@pytest.mark.slow
def test_writers_and_readers_at_once_see_whole_files_and_one_error_line(tmp_path: Path) -> None:
    result = concurrent_runs(tmp_path, SECONDS, readers=3, seed=3)
    assert result.faults == []
    assert result.operations["index"] > 0
    assert result.operations["read after opening"] > 0
    assert all("is writing to this library" in line for line in result.errors)
