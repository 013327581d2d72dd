"""Reports over the toy benchmark: the figures in them, the paper's beside them, and the same bytes twice."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from pathlib import Path

import pytest

from eval.metrics.intervals import Estimate
from eval.reports.generic import draw_reliability
from eval.reports.page import write_report
from eval.reports.sections import gather
from eval.reports.tables import amount_range, csv_text, markdown_table, p_text, percent_range
from eval.runs.folder import folder_name
from eval.tasks.egofact.tables import ACCURACY, METHODS, QUERY_COUNTS, family_name
from rag.errors import UsageError
from tests.fakes.toy_benchmark import ToyTask, run_task

SYSTEMS = ("no-localization", "localized", "localized@10", "video-split-5s")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    place = tmp_path_factory.mktemp("runs")
    wanted = [(name, 0) for name in SYSTEMS] + [("random", seed) for seed in range(3)]
    for name, seed in wanted:
        run_task(ToyTask(), name, seed, place / folder_name(name, seed), factory="egofact")
    return [place / folder_name(name, seed) for name, seed in wanted]


@pytest.fixture(scope="module")
def report(runs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
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
        if path.is_file() and not path.name.startswith("timings")
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
    assert figures == {
        "figure3_retrieval.png",
        "figure4_understanding.png",
        "figure5_letters.png",
        "figure8_windows.png",
        "reliability.png",
    }
    for name in figures:
        assert f"(toy/{name})" in page
        assert (report / "toy" / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_same_runs_give_the_same_bytes(runs: list[Path], report: Path, tmp_path: Path) -> None:
    write_report(list(reversed(runs)), tmp_path / "again")
    assert digests(tmp_path / "again") == digests(report)
    assert len(digests(report)) > 15


@pytest.mark.slow
def test_the_users_own_drawing_settings_change_nothing(
    runs: list[Path], report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib as mpl

    monkeypatch.setitem(mpl.rcParams, "font.size", 30)
    (section,) = gather([path for path in runs if "localiz" in path.name])
    assert draw_reliability(section, tmp_path) == ["reliability.png"]
    assert (tmp_path / "reliability.png").read_bytes() == (report / "toy" / "reliability.png").read_bytes()


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
    assert float(localized["difference"]) == pytest.approx(
        float(localized["value"]) - float(table["no-localization", "overall"]["value"]), abs=2e-6
    )
    assert 0 < float(localized["p_by_video"]) <= float(localized["p_holm"]) <= 1
    assert localized["paper, other data"] == "0.335900"
    assert table["no-localization", "overall"]["difference"] == ""


@pytest.mark.slow
def test_seeds_are_pooled(report: Path) -> None:
    table = {(row["system"], row["family"]): row for row in rows(report / "toy" / "table3_accuracy.csv")}
    pooled = table["random", "overall"]
    assert (pooled["n"], pooled["seeds"], pooled["p_mcnemar"]) == ("120", "3", "")
    assert int(pooled["clusters"]) <= 12


@pytest.mark.slow
def test_what_does_not_apply_is_left_out(report: Path) -> None:
    """`random` retrieves and localizes nothing; it is not a row of zeros."""
    for name in ("localization", "figure3_retrieval", "table2_understanding", "figure5_letters"):
        assert "random" not in {row["system"] for row in rows(report / "toy" / f"{name}.csv")}
    shown = {row["system"] for row in rows(report / "toy" / "figure8_windows.csv")}
    assert shown == {"localized", "localized@10", "video-split-5s"}
    names = {row["system"] for row in rows(report / "toy" / "localization.csv")}
    assert "oracle 5 s" in names
    assert "no-localization" not in names


@pytest.mark.slow
def test_times_stand_apart(report: Path) -> None:
    assert "seconds" in (report / "timings.md").read_text(encoding="utf-8")
    assert "imings" not in (report / "report.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_runs_that_do_not_belong_together_are_refused(runs: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the same run as"):
        gather([runs[0], runs[0]])
    run_task(ToyTask(count=12), "localized", 0, tmp_path / "few")
    with pytest.raises(UsageError, match="its queries differ from those of"):
        gather([runs[0], tmp_path / "few"])
    torn = tmp_path / "torn"
    shutil.copytree(runs[0], torn)
    lines = (torn / "samples.jsonl").read_bytes().splitlines(keepends=True)
    (torn / "samples.jsonl").write_bytes(b"".join(lines[:7]))
    with pytest.raises(UsageError, match="7 of 40 queries are answered"):
        gather([torn])


@pytest.mark.slow
def test_systems_of_one_name_are_distinguished_by_their_settings(runs: list[Path], tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(runs[1], other)
    manifest = json.loads((other / "manifest.json").read_text(encoding="utf-8"))
    manifest["identity"]["settings"]["skill"] = 0.7
    (other / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (section,) = gather([runs[1], other])
    assert [row.label for row in section.rows] == [
        "localized (skill 0.6, series localization, window_seconds 5.0)",
        "localized (skill 0.7, series localization, window_seconds 5.0)",
    ]


def test_the_papers_figures_are_as_printed() -> None:
    assert sum(QUERY_COUNTS.values()) == 396
    assert set(METHODS) == set(ACCURACY)
    for method, by_family in ACCURACY.items():
        mean = sum(QUERY_COUNTS[family] * by_family[family] for family in QUERY_COUNTS) / 396
        assert mean == pytest.approx(by_family["overall"], abs=0.02), method


def test_cells() -> None:
    assert percent_range(Estimate(0.336, 396, 127, 0.29, 0.385), n=True) == "33.6 [29.0, 38.5] n=396"
    assert percent_range(Estimate(0.5, 2, 1, None, None)) == "50.0 n=2"
    assert amount_range(Estimate(44746.4, 312, 12, 41100.0, 48212.0)) == "44,746 [41,100, 48,212] n=312"
    assert amount_range(Estimate(1.5, 2, 1, None, None), 2) == "1.50 n=2"
    assert percent_range(None) == "–"
    assert (p_text(None), p_text(0.00001), p_text(0.0123)) == ("–", "< 0.0001", "0.0123")
    assert family_name("temporal-2hop") == "Temporal 2-hop"
    assert family_name("other") == "other"
    assert markdown_table(["a|b"], [["c\nd"]]) == "| a\\|b |\n| --- |\n| c d |\n"
    assert csv_text([{"a": 1.5, "b": None}, {"a": 2, "c": "x"}]) == "a,b,c\n1.500000,,\n2,,x\n"


@pytest.mark.slow
def test_widths_tried_one_after_another_stand_in_figure_8_alone(report: Path) -> None:
    folder = report / "toy"
    assert {row["system"] for row in rows(folder / "figure8_windows.csv")} >= {"localized", "localized@10"}
    for name in ("table3_accuracy", "figure3_retrieval", "localization", "calibration"):
        systems = {row["system"] for row in rows(folder / f"{name}.csv")}
        assert "localized" in systems, name
        assert "localized@10" not in systems, name


def test_a_task_without_a_report_of_its_own_has_the_generic_tables(tmp_path: Path) -> None:
    run_task(ToyTask(), "localized", 0, tmp_path / "run", factory="gone.from:here")
    write_report([tmp_path / "run"], tmp_path / "report")
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert page.startswith("# toy\n")
    for title in ("Accuracy", "Localization", "Calibration"):
        assert f"## {title}\n" in page
    assert "EgoFact" not in page
    assert {row["family"] for row in rows(tmp_path / "report" / "toy" / "accuracy.csv")} == {
        "local-1hop",
        "local-2hop",
        "temporal-1hop",
        "temporal-2hop",
        "overall",
    }
