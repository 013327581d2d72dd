"""`rag eval report --all`: one page for every benchmark, with the papers' figures marked as theirs."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from eval.reports.overview import MARK, write_overview
from eval.reports.papers import printed
from eval.runs.drive import run_system
from rag.errors import UsageError
from tests.toy_benchmark import ToyBenchmark


def test_what_the_papers_printed_is_found_by_system() -> None:
    assert printed("egofact-workbench", "localized") == "33.6 (EgoFact, table 3)"
    assert printed("browsecomp-workbench-mini", "video-browser") == "26.2 (Video-Browser, table 1)"
    assert printed("longvideo", "video-detective").endswith("(VideoDetective, table 3)")
    assert printed("shotfinder-workbench", "shotfinder") == "26.9 (ShotFinder, table 1, GPT-5.2)"
    assert printed("shotfinder-workbench", "shotfinder-off") == ""
    assert printed("rvms-workbench", "raclo") == "20.6 (RACLO, table 1, rule only, Gemini-3-Pro)"
    assert printed("mine", "mine") == ""


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
    assert cells[2] == "32"  # two seeds, pooled
    assert "[" in cells[1]
    assert cells[3].replace(",", "").isdigit()
    assert float(cells[4]) >= 0
    assert cells[5] == "33.6 (EgoFact, table 3)"
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
