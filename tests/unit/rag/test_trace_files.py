"""Traces: nothing of the user's is written over, and a disk that is full is one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpora.outputs import TRACE_SCHEMA
from rag.agents.runtime.trace import Step, TraceWriter
from rag.errors import RagError, UsageError
from rag.web import WebTrace


def test_a_run_refused_before_its_first_step_leaves_an_old_trace(tmp_path: Path) -> None:
    old = tmp_path / "old.jsonl"
    with TraceWriter(old) as writer:
        writer.write(Step(1, "plan", "one query"))
    held = old.read_bytes()
    with pytest.raises(UsageError), TraceWriter(old):
        raise UsageError("no such video")
    assert old.read_bytes() == held
    with pytest.raises(UsageError), TraceWriter(tmp_path / "new.jsonl"):
        raise UsageError("no such video")
    assert not (tmp_path / "new.jsonl").exists()


def test_a_full_disk_is_one_line() -> None:
    full = pytest.raises(RagError, match="/dev/full: cannot be written: no space")
    with full, TraceWriter(Path("/dev/full")) as steps:
        steps.write(Step(1, "plan", ""))
    with pytest.raises(RagError, match="/dev/full: cannot be written: no space"):
        WebTrace("/dev/full").add("open", "https://v.example/")


def test_a_trace_has_a_line_for_each_step_and_the_schema_in_the_first(tmp_path: Path) -> None:
    steps = [
        Step(1, "plan", "one", {"queries": ["a"]}, "loop", 1),
        Step(2, "failure", "two", {"error": "WebTimeout"}),
        Step(3, "look", "", {"node": 4}),
    ]
    with TraceWriter(tmp_path / "t.jsonl") as writer:
        for step in steps:
            writer.write(step)
    lines = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert lines[0].pop("schema") == TRACE_SCHEMA
    assert lines == [step.line() for step in steps]
