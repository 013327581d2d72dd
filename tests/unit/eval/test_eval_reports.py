"""Reports over the toy benchmark: the figures in them, the paper's beside them, and the same bytes twice."""

import csv
import hashlib
import json
import re
import tomllib
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from eval.reports.page import gather, in_no_table, opening, write_report
from eval.reports.spec import Pair, Section, shown
from rag.errors import UsageError
from tests.fakes.toy_benchmark import ToyTask, run_task

SYSTEMS = ("no-localization", "localized", "localized@10", "video-split")


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[Path]:
    place = tmp_path_factory.mktemp("runs")
    for name in (*SYSTEMS, "random"):
        run_task(ToyTask(), name, 0, place / name, factory="egofact")
    return [place / name for name in (*SYSTEMS, "random")]


@pytest.fixture(scope="module")
def report(runs: list[Path], tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("report")
    write_report(runs, out)
    return out


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
def test_every_table_and_figure_is_there(report: Path) -> None:
    page = (report / "report.md").read_text(encoding="utf-8")
    for title in (
        "Table 1: queries by family",
        "Table 2: video understanding",
        "Table 3: accuracy",
        "Figure 3: retrieval success",
        "Figure 4: video understanding by family",
        "Figure 5: answers over the unshuffled letters",
        "Figure 8: localization and video split",
        "Localization",
        "Calibration",
    ):
        assert f"## {title}" in page
    figures = {path.name for path in (report / "toy").glob("*.png")}
    expected = "figure3_retrieval figure4_understanding figure5_letters figure8_windows reliability"
    assert figures == {f"{name}.png" for name in expected.split()}
    for name in figures:
        assert f"(toy/{name})" in page
        assert (report / "toy" / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_same_runs_give_the_same_bytes(runs: list[Path], report: Path, tmp_path) -> None:
    write_report(list(reversed(runs)), tmp_path / "again")
    assert digests(tmp_path / "again") == digests(report)
    assert len(digests(report)) > 15


@pytest.mark.slow
def test_accuracy_is_as_in_the_results_with_its_test(runs: list[Path], report: Path) -> None:
    table = {(row["system"], row["family"]): row for row in rows(report / "toy" / "table3_accuracy.csv")}
    results = json.loads((runs[1] / "results.json").read_text(encoding="utf-8"))
    overall = results["figures"]["accuracy"]["overall"]
    localized = table["localized", "overall"]
    assert [float(localized[key]) for key in ("value", "low", "high")] == pytest.approx(
        [overall[key] for key in ("value", "low", "high")], abs=2e-6
    )
    assert localized["n"] == "40"
    pairs = {(row["system"], row["minus"]): row for row in rows(report / "toy" / "paired.csv")}
    pair = pairs["localized", "no-localization"]
    assert float(pair["value"]) == pytest.approx(
        float(localized["value"]) - float(table["no-localization", "overall"]["value"]), abs=2e-6
    )
    assert 0 < float(pair["p"]) <= float(pair["p_holm"]) <= 1
    assert set(pairs) == {("localized", "no-localization"), ("localized", "video-split")}


@pytest.mark.slow
def test_what_does_not_apply_is_left_out(report: Path) -> None:
    """`random` retrieves and localizes nothing; it is not a row of zeros."""
    for name in ("localization", "figure3_retrieval", "table2_understanding", "figure5_letters"):
        assert "random" not in {row["system"] for row in rows(report / "toy" / f"{name}.csv")}
    points = {(row["system"], row["at"]) for row in rows(report / "toy" / "figure8_windows.csv")}
    assert points == {("localized", "5"), ("localized", "10")}
    assert "no-localization" not in {row["system"] for row in rows(report / "toy" / "localization.csv")}


@pytest.mark.slow
def test_runs_that_do_not_belong_together_are_refused(runs: list[Path], tmp_path) -> None:
    with pytest.raises(UsageError, match="the same run as"):
        gather([runs[0], runs[0]])
    run_task(ToyTask(count=12), "localized", 0, tmp_path / "few")
    with pytest.raises(UsageError, match="its queries differ from those of"):
        gather([runs[0], tmp_path / "few"])


def test_the_papers_figures_are_as_printed() -> None:
    text = resources.files("eval.tasks.egofact").joinpath("report.toml").read_text(encoding="utf-8")
    printed = tomllib.loads(text)["printed"]
    *counts, total = printed["table1"]["rows"]["queries"]
    assert sum(counts) == total == 396
    for system, (*families, overall) in printed["table3"]["rows"].items():
        mean = sum(count * share for count, share in zip(counts, families, strict=True)) / total
        assert mean == pytest.approx(overall, abs=0.02), system


PAPERS = ("graphrag", "videorag-jeong", "videorag-ren", "videorag-ren-localized+metaclip")


@pytest.fixture(scope="module")
def papers_rows(tmp_path_factory) -> Section:
    """The rows of table 3 by the command of docs/reproduce.md, localized with another encoder."""
    place = tmp_path_factory.mktemp("papers")
    for name in PAPERS:
        run_task(ToyTask(), name, 0, place / name, factory="egofact")
    (section,) = gather([place / name for name in PAPERS])
    return section


def test_the_papers_figures_and_test_compare_it_with_and_without_localization(papers_rows: Section) -> None:
    assert [row.system for row in shown(papers_rows)] == ["videorag-ren", "videorag-ren-localized+metaclip"]
    tables = {table.name: table for table in papers_rows.spec.tables(papers_rows)}
    assert tables["paired"].body[0][:2] == ("videorag-ren-localized+metaclip", "videorag-ren")
    accuracy = {line[0]: line for line in tables["table3_accuracy"].body}
    below = accuracy["paper, other data: videorag-ren-localized"]
    assert below[1:6] == ("31.86", "27.40", "43.70", "27.47", "33.59")
    assert accuracy["paper, other data: graphrag"][5] == "13.13"
    understood = {line[:2]: line for line in tables["table2_understanding"].body}
    assert understood["videorag-ren", "right"][-1] == "41.67"


def test_a_system_that_no_table_shows_is_named_on_the_page(papers_rows: Section) -> None:
    tables = papers_rows.spec.tables(papers_rows)
    assert in_no_table(papers_rows, tables) == []
    lone = replace(papers_rows.rows[0], label="nearest-passages", system="nearest-passages")
    more = replace(papers_rows, rows=(*papers_rows.rows, lone))
    assert in_no_table(
        more, [table for table in more.spec.tables(more) if table.name == "table3_accuracy"]
    ) == ["nearest-passages"]


def test_a_report_opens_with_what_was_asked_what_came_out_and_what_it_means(papers_rows: Section) -> None:
    asked, out, means = opening(papers_rows)
    assert asked.startswith("4 systems were asked 40 queries on 12 videos: which of six options is right")
    share = r"[\d.]+ % \([\d.]+ to [\d.]+\) of the 40 answers of"
    assert re.fullmatch(
        rf"Right are {share} `videorag-ren-localized\+metaclip` and {share} `videorag-ren`\.", out
    )
    assert means.endswith(
        "which is more than chance gives: captions of the localized seconds answer more than captions of "
        "whole clips."
    )
    reversed_pair = Pair(system="videorag-ren", minus="videorag-ren-localized+metaclip", claim="it is so")
    spec = replace(
        papers_rows.spec, data=papers_rows.spec.data.model_copy(update={"pairs": (reversed_pair,)})
    )
    assert list(opening(replace(papers_rows, spec=spec)))[2].endswith("speaks against it that it is so.")
    alone = replace(papers_rows, rows=papers_rows.rows[:1])
    assert list(opening(alone))[2].startswith("No pair of systems was run")
