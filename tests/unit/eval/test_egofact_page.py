"""The figures that the page on EgoFact repeats are those of the report beside it."""

from __future__ import annotations

import csv
import re
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"


def read_report(folder: str) -> dict[tuple[str, str], dict[str, str]]:
    return {(row["system"], row["family"]): row for row in read_rows(f"egofact/{folder}/table3_accuracy.csv")}


def read_rows(path: str) -> list[dict[str, str]]:
    with (DOCS / "reports" / path).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def percent(row: dict[str, str], name: str = "value") -> str:
    return f"{100 * float(row[name]):.1f}"


def test_the_table_of_the_page_is_in_the_report() -> None:
    page = (DOCS / "design" / "egofact.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| `([\w-]+)` \| ([\d.]+) % \| ([\d.]+) to ([\d.]+) \|$", page, re.MULTILINE)
    assert len(found) == 6
    report = read_report("egofact-workbench")
    for system, value, low, high in found:
        row = report[system, "overall"]
        assert (value, low, high) == (percent(row), percent(row, "low"), percent(row, "high"))
        assert row["n"] == "396"


def test_the_papers_rows_with_the_simulated_model_stand_in_their_report() -> None:
    page = (DOCS / "design" / "egofact.md").read_text(encoding="utf-8")
    folder = "egofact-captioned/egofact-workbench-mini"
    right = {
        row["system"]: row for row in read_rows(f"{folder}/table3_accuracy.csv") if row["family"] == "overall"
    }
    understood = {
        (row["system"], row["measure"]): percent(row)
        for row in read_rows(f"{folder}/table2_understanding.csv")
        if row["case"] == "all"
    }
    for system in ("videorag-ren", "videorag-ren-localized"):
        row = right[system]
        cells = (f"{percent(row)} % ({percent(row, 'low')} to {percent(row, 'high')})",)
        cells += tuple(f"{understood[system, name]} %" for name in ("event shown", "judged"))
        assert f"| `{system}` | {' | '.join(cells)} |" in page
    assert float(right["videorag-ren-localized"]["value"]) > float(right["videorag-ren"]["value"])
