"""`rag eval report --all`: one page for every benchmark, with the papers' figures marked as theirs."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from eval.reports.overview import MARK, write_overview
from eval.reports.papers import printed
from eval.runs.records import Query, Sample, System
from eval.runs.runner import run_system
from rag.errors import UsageError
from tests.toy_benchmark import ToyBenchmark


def test_what_the_papers_printed_is_found_by_system_and_measure() -> None:
    assert printed("egofact-workbench", "localized") == "33.6 (EgoFact, table 3)"
    assert printed("browsecomp-workbench-mini", "video-browser") == "26.2 (Video-Browser, table 1)"
    assert printed("longvideo", "video-detective").endswith("(VideoDetective, table 3)")
    assert printed("shotfinder-workbench", "shotfinder", "strict") == "26.9 (ShotFinder, table 1, GPT-5.2)"
    assert printed("shotfinder-workbench", "shotfinder-off", "strict") == ""
    assert printed("shotfinder-workbench", "shotfinder") == ""
    rule = "20.6 (RACLO, table 1, rule only, Gemini-3-Pro)"
    assert printed("rvms-workbench", "raclo", "rule only") == rule
    assert printed("rvms-workbench", "raclo", "model + rule").startswith("57.0 (RACLO, table 1, model + rule")
    assert printed("rvms-workbench", "raclo", "localization") == "38.9 (RACLO, table 2, GPT-5.2)"
    assert printed("rvms-workbench", "raclo") == ""
    assert printed("mine", "mine") == ""


def test_a_paper_stands_beside_the_same_measure_of_ours(tmp_path: Path) -> None:
    """An answer that is right, of a search that never saw the video's own address."""
    query = Query("m-1", "a mood", (), "an address", "GK", "v", "v", (0.0, 0.0), ())
    evidence = {"rule": False, "model_rule": True, "frame": False}
    sample = Sample("m-1", "GK", "v", "v", None, True, None, evidence=evidence)
    run_system(Answered(query, sample), "raclo", 0, tmp_path / "raclo")
    text = write_overview([tmp_path], tmp_path / "out")[0].read_text(encoding="utf-8")
    (head,) = [line for line in text.splitlines() if line.startswith("| system ")]
    (line,) = [line for line in text.splitlines() if line.startswith("| raclo ")]
    told = dict(zip(*([cell.strip() for cell in each.split("|")] for each in (head, line)), strict=True))
    assert told["rule only, %"].startswith("0.0 [0.0, ")
    assert told[f"rule only: {MARK}"].startswith("20.6 ")
    assert told["model + rule, %"].startswith("100.0 [")
    assert told["localization, %"].startswith("0.0 [0.0, ")
    assert told["right, %"].startswith("100.0 [")
    assert f"right: {MARK}" not in told
    assert "1 queries in 1 clusters: films." in text
    assert text.count("\nRight: ") == 1


class Answered(ToyBenchmark):
    """One query, and its one answer."""

    name = "rvms-toy"

    def __init__(self, query: Query, sample: Sample) -> None:
        super().__init__()
        self.queries = (query,)
        self.sample = sample

    def open_system(self, name: str, seed: int) -> System:
        del seed
        return Known(name, self.sample)


@dataclass(frozen=True)
class Known:
    name: str
    sample: Sample

    @property
    def settings(self) -> Mapping[str, Any]:
        return {}

    def answer(self, query: Query) -> Sample:
        del query
        return self.sample


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two systems on a benchmark of a paper, one under two seeds, and one on a benchmark of nobody's."""
    place = tmp_path_factory.mktemp("runs")
    folders = []
    for benchmark, name, seed in (
        ("egofact-toy", "localized", 0),
        ("egofact-toy", "localized", 1),
        ("egofact-toy", "no-localization", 0),
        ("toy", "random", 0),
    ):
        toy = ToyBenchmark(count=16)
        toy.name = benchmark
        folders.append(place / f"{benchmark}-{name}-{seed}")
        run_system(toy, name, seed, folders[-1])
    return folders


def test_one_page_holds_every_benchmark_and_system(runs: list[Path], tmp_path: Path) -> None:
    made = write_overview(runs, tmp_path)
    assert [path.name for path in made] == ["overview.md", "overview.html", "overview.csv"]
    text = made[0].read_text(encoding="utf-8")
    assert text.index("## egofact-toy") < text.index("## toy")
    (line,) = [line for line in text.splitlines() if line.startswith("| localized |")]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert "[" in cells[1]
    assert cells[1].endswith("n=32")  # two seeds, pooled
    assert cells[2] == "33.6 (EgoFact, table 3)"
    assert cells[3].replace(",", "").isdigit()
    assert float(cells[4]) >= 0
    assert text.count("\nRight: ") == text.count("\nCommits: ") == text.count("\nData: ") == 2
    assert MARK in text
    assert "not to be compared" in text


def test_the_html_needs_no_other_file(runs: list[Path], tmp_path: Path) -> None:
    text = write_overview(runs, tmp_path)[1].read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "33.6 (EgoFact, table 3)" in text
    assert not any(word in text for word in ("http", "src=", "href="))
    assert text.count("<table>") == 2


def test_the_figures_can_be_reckoned_with(runs: list[Path], tmp_path: Path) -> None:
    with write_overview(runs, tmp_path)[2].open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["benchmark"], row["system"]) for row in rows] == [
        ("egofact-toy", "no-localization"),
        ("egofact-toy", "localized"),
        ("toy", "random"),
    ]
    assert all(0 <= float(row["low"]) <= float(row["value"]) <= float(row["high"]) <= 1 for row in rows)


def test_the_same_runs_give_the_same_bytes(runs: list[Path], tmp_path: Path) -> None:
    once, again = (write_overview(order, tmp_path / str(at)) for at, order in enumerate((runs, runs[::-1])))
    assert [path.read_bytes() for path in once] == [path.read_bytes() for path in again]


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run"):
        write_overview([tmp_path], tmp_path / "out")
