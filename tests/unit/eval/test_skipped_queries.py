"""Queries that cannot be asked, and rows that are no query: counted with their reasons, and no stop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.reports.page import write_overview, write_report
from eval.runs.folder import read_run_folder
from eval.runs.records import UnusableRow, skip_reason
from eval.runs.runner import score_again
from eval.task import ScorerOptions
from rag.errors import DamagedFile, ReasonerUnreachable
from rag.settings import Settings
from tests.fakes.toy_benchmark import ToyTask, run_task

SAME = ("samples.jsonl", "results.json", "clips.run.trec", "clips.qrels", "unusable.jsonl")
GONE = {"q002": "video missing: a", "q003": "video unreadable: b: empty, 0 bytes", "q007": "video missing: c"}
ROWS = (
    UnusableRow("test.json:3", "no answer: 'E' is none of 4 options"),
    UnusableRow("test.json:9", "no video"),
)


def _bytes(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in SAME}


def _task(skipped: dict[str, str], count: int = 8) -> ToyTask:
    task = ToyTask(count=count)
    task.skipped, task.unusable = skipped, ROWS
    return task


def test_skipped_queries_count_nowhere_and_are_named(tmp_path: Path) -> None:
    done = run_task(_task(GONE), "localized", 0, tmp_path / "run")
    assert (done.asked, done.skipped) == (8, 3)
    results = json.loads((tmp_path / "run" / "results.json").read_text(encoding="utf-8"))
    assert results["figures"]["accuracy"]["overall"]["n"] == 5
    assert results["figures"]["parse failures"]["overall"]["n"] == 5
    assert results["skipped"] == {"n": 3, "reasons": {"video missing": 2, "video unreadable": 1}}
    assert results["unusable rows"] == {"n": 2, "reasons": {"no answer": 1, "no video": 1}}
    assert len((tmp_path / "run" / "clips.qrels").read_text(encoding="utf-8").splitlines()) == 5
    write_report([tmp_path / "run"], tmp_path / "report")
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "| localized | 5 | 2 | video missing | a; c |" in page
    assert "| localized | 5 | 1 | video unreadable | b: empty, 0 bytes |" in page
    assert "'E' is none of 4 options: test.json:3" in page
    write_overview([tmp_path / "run"], tmp_path / "overview")


def test_a_second_run_changes_no_byte_and_a_video_that_appears_is_asked(tmp_path: Path) -> None:
    run_task(_task({}), "localized", 0, tmp_path / "whole")
    run_task(_task(GONE), "localized", 0, tmp_path / "run")
    first = _bytes(tmp_path / "run")
    assert run_task(_task(GONE), "localized", 0, tmp_path / "run").asked == 0
    assert _bytes(tmp_path / "run") == first
    # The run ends while the queries that can be asked now are.
    task = _task({"q003": GONE["q003"]})
    task.failures = {"q007": ReasonerUnreachable("down")}
    with pytest.raises(ReasonerUnreachable):
        run_task(task, "localized", 0, tmp_path / "run")
    held = read_run_folder(tmp_path / "run").samples
    assert [bool(skip_reason(sample)) for sample in held] == [n in (3, 7) for n in range(8)]
    assert run_task(_task({}), "localized", 0, tmp_path / "run").asked == 2
    assert _bytes(tmp_path / "run") == _bytes(tmp_path / "whole")


def test_nothing_that_can_be_asked_is_a_report_too(tmp_path: Path) -> None:
    task = _task({f"q{number:03d}": "video missing: a" for number in range(8)})
    run_task(task, "localized", 0, tmp_path / "run")
    run_task(_task({}), "random", 0, tmp_path / "other")
    write_report([tmp_path / "run"], tmp_path / "report")
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "| localized | 0 | 8 | video missing | a |" in page
    write_report([tmp_path / "run", tmp_path / "other"], tmp_path / "both")
    assert "| random |" in (tmp_path / "both" / "report.md").read_text(encoding="utf-8")
    write_overview([tmp_path / "run"], tmp_path / "overview")


def test_a_video_that_breaks_while_it_is_read_is_skipped_and_tried_again(tmp_path: Path) -> None:
    task = _task({})
    task.failures = {"q004": DamagedFile("no frame can be decoded")}
    run_task(task, "localized", 0, tmp_path / "run")
    held = read_run_folder(tmp_path / "run").samples
    assert skip_reason(held[4]).startswith("video unreadable: ")
    first = _bytes(tmp_path / "run")
    assert run_task(task, "localized", 0, tmp_path / "run").asked == 1
    assert _bytes(tmp_path / "run") == first
    prepared = task.prepare(Settings())
    assert score_again(task, prepared, tmp_path / "run", ScorerOptions(judge="die")).samples[4] == held[4]
