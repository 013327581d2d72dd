"""`rag eval report --all`: one page for every benchmark, with the papers' figures marked as theirs."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from eval.reports.page import MARK, write_overview
from eval.runs.records import Output, Query, Score, TaskInput
from eval.task import Prepared, Scorer, ScorerOptions, SolverSpec
from eval.tasks import open_task
from rag.errors import UsageError
from tests.fakes.toy_benchmark import ToyTask, run_task


def printed(name: str, system: str, label: str = "right") -> str:
    (one,) = [each for each in open_task(name).report.compared if each.label == label]
    return one.printed(system) if one.printed else ""


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
    assert printed(TOY, "mine") == ""


def test_a_paper_is_shown_beside_the_same_measure_of_ours(tmp_path: Path) -> None:
    """An answer that is right, of a search that never saw the video's own address."""
    query = Query("m-1", "a mood", (), "an address", "GK", "v", "v", (0.0, 0.0), ())
    evidence = {"rule": False, "model_rule": True, "frame": False}
    run_task(Answered(query, Output(evidence=evidence)), "raclo", 0, tmp_path / "raclo", factory="rvms")
    text = write_overview([tmp_path], tmp_path / "out")[0].read_text(encoding="utf-8")
    (head,) = [line for line in text.splitlines() if line.startswith("| system ")]
    (line,) = [line for line in text.splitlines() if line.startswith("| raclo ")]
    cells = dict(zip(*([cell.strip() for cell in each.split("|")] for each in (head, line)), strict=True))
    assert cells["rule only, %"].startswith("0.0 [0.0, ")
    assert cells[f"rule only: {MARK}"].startswith("20.6 ")
    assert cells["model + rule, %"].startswith("100.0 [")
    assert cells["localization, %"].startswith("0.0 [0.0, ")
    assert cells["right, %"].startswith("100.0 [")
    assert f"right: {MARK}" not in cells
    assert "1 queries in 1 clusters: videos." in text
    assert text.count("\nRight: ") == 1


class Answered(ToyTask):
    """One query, and its one output, which is right."""

    name = "rvms-toy"

    def __init__(self, query: Query, output: Output) -> None:
        super().__init__()
        self.queries = (query,)
        self.output = output

    def solver(self, name: str) -> SolverSpec[None]:
        return SolverSpec(name, lambda _, __: Known(self.output))

    def open_scorer(self, prepared: Prepared[None], options: ScorerOptions) -> Scorer:  # noqa: ARG002 (the signature is the protocol's)
        return Right()


class Right:
    settings: Mapping[str, Any] = {}

    def score(self, query: Query, output: Output) -> Score:  # noqa: ARG002 (the signature is the protocol's)
        return Score(True)


@dataclass(frozen=True)
class Known:
    output: Output

    @property
    def settings(self) -> Mapping[str, Any]:
        return {}

    def solve(self, asked: TaskInput) -> Output:  # noqa: ARG002 (the signature is the protocol's)
        return self.output


TOY = "tests.fakes.toy_benchmark:open_toy"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two systems on a benchmark of a paper, one under two seeds, and one on a benchmark without a paper."""
    place = tmp_path_factory.mktemp("runs")
    folders = []
    for benchmark, name, seed in (
        ("egofact-toy", "localized", 0),
        ("egofact-toy", "localized", 1),
        ("egofact-toy", "no-localization", 0),
        ("toy", "random", 0),
    ):
        toy = ToyTask(count=16)
        toy.name = benchmark
        folders.append(place / f"{benchmark}-{name}-{seed}")
        run_task(toy, name, seed, folders[-1], factory="egofact" if "ego" in benchmark else TOY)
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


def test_the_figures_can_be_computed_with(runs: list[Path], tmp_path: Path) -> None:
    with write_overview(runs, tmp_path)[2].open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["benchmark"], row["system"]) for row in rows] == [
        ("egofact-toy", "no-localization"),
        ("egofact-toy", "localized"),
        ("toy", "random"),
    ]
    assert all(0 <= float(row["low"]) <= float(row["value"]) <= float(row["high"]) <= 1 for row in rows)


@pytest.mark.slow
def test_the_same_runs_give_the_same_bytes(runs: list[Path], tmp_path: Path) -> None:
    once, again = (write_overview(order, tmp_path / str(at)) for at, order in enumerate((runs, runs[::-1])))
    assert [path.read_bytes() for path in once] == [path.read_bytes() for path in again]


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run"):
        write_overview([tmp_path], tmp_path / "out")
