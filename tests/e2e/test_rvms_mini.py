"""`rvms-workbench-mini` from its plan to the failures: drawn, indexed, asked, checked and pictured."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from eval.reports.failures import Failing, write_failures
from eval.runs.folder import read_run_folder
from eval.runs.records import ClipWindow
from eval.runs.runner import run_system
from eval.tasks.rvms.benchmark import RvmsBenchmark, open_mini
from eval.tasks.rvms.records import TASKS

SYSTEMS = ("raclo", "metadata-only", "oracle-stored")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rvms")


@pytest.fixture(scope="module")
def benchmark(place: Path) -> RvmsBenchmark:
    """With the first nine queries, one moment under every set of cues, asked of each system."""
    made = open_mini(place / "data")
    for name in SYSTEMS:
        run_system(made, name, 0, place / "runs" / f"{name}-seed0", limit=9)
    return made


def test_the_right_video_and_all_its_frames_lead_to_the_event(benchmark: RvmsBenchmark, place: Path) -> None:
    assert len(benchmark.queries) == 18
    run = read_run_folder(place / "runs" / "oracle-stored-seed0")
    asked = [sample for sample in run.samples if "K" in sample.family]
    assert len(asked) == 8
    assert all(sample.evidence["rule"] for sample in run.samples)
    # A film so short is one shot; on the event a moment by chance lies in one case of six.
    assert sum(sample.evidence["on_event"] for sample in asked) >= 6


def test_every_query_is_checked_against_the_truth(benchmark: RvmsBenchmark, place: Path) -> None:
    run = read_run_folder(place / "runs" / "raclo-seed0")
    assert tuple(sample.family for sample in run.samples) == TASKS
    assert any(sample.evidence["content"] for sample in run.samples)
    for query, sample in zip(run.queries, run.samples, strict=True):
        told, asked = sample.evidence, benchmark.samples[query.query_id]
        assert (told["model_rule"] is None) == (not asked.asks_video)
        assert (told["frame"] is None) == (not asked.asks_moment)
        true = [one for one in told["candidates"] if one["true"]]
        assert told["content"] == bool(true)
        assert {one["url"] for one in true} <= {upload.url for upload in asked.uploads}
        # The stored fingerprints know every upload of the film, changed or not, and no other film.
        assert [one["copied"] for one in told["candidates"]] == [one["true"] for one in told["candidates"]]
        assert sample.correct or told["error_stage"]
    again = benchmark.open_system("raclo", 0).answer(benchmark.queries[8])
    assert again.evidence == run.samples[8].evidence


def test_windows_are_shown_and_a_video_without_a_file_is_not(benchmark: RvmsBenchmark) -> None:
    query = benchmark.queries[1]
    windows = [ClipWindow(query.video, *query.window, 0.0), ClipWindow(query.answer, 0.0, 1.0, 0.0)]
    shown = benchmark.explain(query.query_id, windows, 3)
    assert [len(frames.images) for frames in shown.frames] == [3, 0]
    assert (Path(shown.paths[0]).is_file(), shown.paths[1], shown.words) == (True, "", query.text)


def test_a_failure_is_told_with_its_stage_and_pictures_of_both_films(
    benchmark: RvmsBenchmark, place: Path
) -> None:
    """So small a web is searched without a failure, so that one answer is replaced by another film's."""
    assert isinstance(benchmark, Failing)
    run = read_run_folder(place / "runs" / "metadata-only-seed0")
    sample = run.samples[1]
    other = next(one["url"] for one in sample.evidence["candidates"] if not one["true"])
    wrong = {**sample.evidence, "error_stage": "verifier", "answer": other, "answer_time": 3.0}
    held = replace(run, samples=(run.samples[0], replace(sample, evidence=wrong), *run.samples[2:]))
    page, table = write_failures(held, benchmark, place / "failures")
    text = page.read_text(encoding="utf-8")
    assert "1 of 9 queries failed" in text
    assert text.count("data:image/jpeg;base64,") == 2
    assert "no picture" not in text
    with table.open(encoding="utf-8", newline="") as lines:
        (row,) = csv.DictReader(lines)
    assert (row["query_id"], row["stage"], row["the answer"]) == (sample.query_id, "verifier", other)
