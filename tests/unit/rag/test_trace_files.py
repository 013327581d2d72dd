"""Traces: nothing of the user's is written over, and a disk that is full is one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.outputs import OverwritePolicy
from rag.agents.runtime.trace import Step
from rag.errors import RagError, UsageError
from rag.web import WebTrace
from rag.web.trace import TraceFile


def test_a_trace_that_is_never_written_leaves_an_old_one(tmp_path: Path) -> None:
    old = tmp_path / "old.jsonl"
    TraceFile(old).write(Step(1, "plan", "one query").line())
    held = old.read_bytes()
    with pytest.raises(UsageError, match="exists"):
        TraceFile(old)
    TraceFile(old, OverwritePolicy(force=True))
    assert old.read_bytes() == held
    TraceFile(tmp_path / "new.jsonl")
    assert not (tmp_path / "new.jsonl").exists()


def test_a_full_disk_is_one_line() -> None:
    with pytest.raises(RagError, match="/dev/full: cannot be written: no space"):
        WebTrace("/dev/full").add("open", "https://v.example/")
