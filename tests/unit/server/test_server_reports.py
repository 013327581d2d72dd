"""`/v1/reports`: what is found below the folders of `--reports`, and what is shown of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from corpora.outputs import RESULTS_SCHEMA, TRACE_SCHEMA
from rag.server import reports as reports_module
from rag.server.app import build_app
from rag.server.service import Service
from rag.server.session import LibrarySession
from rag.settings import Settings
from tests.fakes.stored_reports import BODY, HEAD, HOSTILE, write_reports

REPORTS_OF_TASKS = Path(__file__).parents[3] / "docs" / "reports"


DEEP = "\n".join(f'{{"number": 0, "data": {"[" * depth}{"]" * depth}}}' for depth in range(800, 1000))


@pytest.fixture(autouse=True)
def _looked_for_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports_module, "LISTED_SECONDS", 1e-9)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "reports"
    write_reports(folder)
    (folder.parent / "secret.png").write_bytes(reports_module.PNG_SIGNATURE)
    return folder


def _client(folder: Path, *roots: Path) -> TestClient:
    settings = Settings(library=folder / "library")
    service = Service(settings, LibrarySession(settings), folder / "cache", report_roots=roots)
    return TestClient(build_app(service), base_url="http://127.0.0.1:8650")


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    with _client(folder.parent, folder, folder / "bench") as client:
        yield client


@pytest.fixture(scope="module")
def listed(client: TestClient) -> dict[str, Any]:
    rows = client.get("/v1/reports").json()["reports"]
    return {row["kind"]: row for row in rows}


def test_reports_runs_and_traces_are_listed_once_and_nothing_else(client: TestClient, folder: Path) -> None:
    shape = client.get("/v1/reports").json()
    assert {(row["kind"], row["name"]) for row in shape["reports"]} == {
        ("report", "bench/report.md"),
        ("run", "runs/one/results.json"),
        ("trace", "steps.jsonl"),
    }
    assert len(shape["reports"]) == 3
    assert shape["roots"] == [str(folder), str(folder / "bench")]
    modified = [row["modified"] for row in shape["reports"]]
    assert modified == sorted(modified, reverse=True)


def test_a_report_comes_as_blocks(client: TestClient, listed: dict[str, Any]) -> None:
    name = listed["report"]["report_id"]
    shape = client.get(f"/v1/reports/{name}").json()
    assert shape["steps"] == []
    figure = f"/v1/reports/{name}/figures/0"
    assert shape["blocks"] == [
        {"kind": "heading", "level": 1, "text": "bench"},
        {"kind": "text", "text": f"2 queries: {HOSTILE}\nin two lines."},
        {"kind": "heading", "level": 2, "text": "Accuracy"},
        {"kind": "table", "head": list(HEAD), "rows": [list(row) for row in BODY]},
        {"kind": "figure", "text": "Accuracy", "image": figure},
        {"kind": "figure", "text": "Elsewhere"},
        {"kind": "figure", "text": "Else"},
    ]
    image = client.get(figure)
    assert (image.headers["content-type"], image.headers["x-content-type-options"]) == (
        "image/png",
        "nosniff",
    )
    assert image.content.startswith(reports_module.PNG_SIGNATURE)


@pytest.mark.parametrize("target", ["../../secret.png", "report.md", "link.png"])
def test_a_figure_is_a_png_file_of_the_report(folder: Path, tmp_path: Path, target: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.png").symlink_to(folder.parent / "secret.png")
    (tmp_path / "in" / "report.md").write_text(f"![x]({target})")
    with _client(tmp_path, tmp_path / "in") as client:
        name = client.get("/v1/reports").json()["reports"][0]["report_id"]
        assert client.get(f"/v1/reports/{name}/figures/0").status_code == 404
        assert client.get(f"/v1/reports/{name}/figures/1").status_code == 404


@pytest.mark.parametrize(("text", "blocks", "whole"), [("# a\n" * 3, 3, True), ("|a|\n" * 4, 1, False)])
def test_of_a_long_report_the_first_lines_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, blocks: int, whole: bool
) -> None:
    monkeypatch.setattr(reports_module, "MOST_LINES", 3)
    (tmp_path / "report.md").write_text(text)
    with _client(tmp_path, tmp_path) as client:
        name = client.get("/v1/reports").json()["reports"][0]["report_id"]
        shown = client.get(f"/v1/reports/{name}").json()["blocks"]
    rest = [block for block in shown if block.get("text", "").startswith("The rest is left out")]
    assert (len(shown) - len(rest), rest) == (blocks, [] if whole else shown[-1:])


def test_a_run_comes_as_a_table_of_its_figures(
    client: TestClient, listed: dict[str, Any], folder: Path
) -> None:
    heading, table = client.get(f"/v1/reports/{listed['run']['report_id']}").json()["blocks"]
    assert heading["text"] == "toy, random, seed 0"
    figures = json.loads((folder / "runs" / "one" / "results.json").read_bytes())["figures"]
    assert {row[0] for row in table["rows"]} == {
        measure for measure, slices in figures.items() if slices.get("overall")
    }
    right = figures["accuracy"]["overall"]
    cell = f"{right['value']:.3f} [{right['low']:.3f}, {right['high']:.3f}]"
    assert ["accuracy", cell, "4"] in table["rows"]


def test_pages_of_the_tasks_come_without_marks_of_markdown(tmp_path: Path) -> None:
    names = {os.fspath(path.relative_to(REPORTS_OF_TASKS)) for path in REPORTS_OF_TASKS.rglob("report.md")}
    with _client(tmp_path, REPORTS_OF_TASKS) as client:
        rows = client.get("/v1/reports").json()["reports"]
        pages = {row["name"]: client.get(f"/v1/reports/{row['report_id']}").json()["blocks"] for row in rows}
    assert set(pages) == {*names, "overview/overview.md"}
    for block in (block for blocks in pages.values() for block in blocks):
        cells = [*block.get("head", ()), *(cell for row in block.get("rows", ()) for cell in row)]
        texts = [*block.get("text", "").splitlines(), *cells]
        assert not [text for text in texts if text.startswith((">", "#", "**")) or "|" in text]
        assert {len(row) for row in block.get("rows", ())} <= {len(block.get("head", ()))}
        assert block["kind"] != "figure" or "image" in block


def test_only_so_many_and_so_large_files_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.md").write_text("x" * 10)
    (tmp_path / "0").write_text("")
    names = [os.path.join(name, "report.md") for name in "abc"]

    def found() -> list[str]:
        return sorted(report.name for report in reports_module.stored_reports([tmp_path]))

    assert found() == names
    monkeypatch.setattr(reports_module, "MOST_FILES", 3)
    assert found() == names[:2]
    (tmp_path / "a" / "report.md").write_text("x" * 11)
    monkeypatch.setitem(reports_module.LARGEST, "report", 10)
    assert found() == names[1:2]


def test_a_trace_comes_as_its_steps(
    client: TestClient, listed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"/v1/reports/{listed['trace']['report_id']}"
    steps = client.get(address).json()["steps"]
    assert [step["kind"] for step in steps] == ["plan", "result"]
    assert steps[0] == {
        "number": 1,
        "kind": "plan",
        "text": f"Look for {HOSTILE}",
        "data": {"places": ["bench"]},
    }
    monkeypatch.setattr(reports_module, "MOST_STEPS", 1)
    assert [step["kind"] for step in client.get(address).json()["steps"]] == ["result"]
    monkeypatch.setitem(reports_module.LARGEST, "trace", 10)
    assert client.get(address).status_code == 404


@pytest.mark.parametrize(
    "lines",
    [
        '{"number": NaN}\n{"number": -Infinity}\n{"number": 1e999}\n{"number": 2}',
        "[1]\n1\n\xff\n\n{\n" + "[" * 2000 + '\n{"number": 2}',
        DEEP,
    ],
    ids=["not finite", "no objects", "deep"],
)
def test_lines_that_are_no_steps_are_left_out(tmp_path: Path, lines: str) -> None:
    (tmp_path / "in").mkdir()
    first = f'{{"schema": "{TRACE_SCHEMA}", "number": 1}}'
    (tmp_path / "in" / "steps.jsonl").write_text(f"{first}\n{lines}\n", encoding="latin-1")
    with _client(tmp_path, tmp_path / "in") as client:
        name = client.get("/v1/reports").json()["reports"][0]["report_id"]
        answer = client.get(f"/v1/reports/{name}")
    if lines == DEEP and answer.status_code == 422:  # Python from 3.13 on follows deeper
        return
    assert answer.status_code == 200
    expected = [1] + [0] * 200 if lines == DEEP else [1, 2]
    assert [step["number"] for step in answer.json()["steps"]] == expected


@pytest.mark.parametrize(
    ("figures", "status"),
    [
        ('"', 422),
        ('{"a": 1, "b": {"overall": 2}, "c": {"overall": {"value": "x"}}}', 200),
        ('{"a": {"overall": {"value": NaN}}, "b": {"overall": {"value": 1e999}}}', 200),
        (f'{{"a": {"[" * 5000}}}', 422),
    ],
    ids=["text", "other", "not finite", "deep"],
)
def test_figures_of_another_shape_are_left_out(tmp_path: Path, figures: str, status: int) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "results.json").write_text(f'{{"schema": "{RESULTS_SCHEMA}", "figures": {figures}}}')
    with _client(tmp_path, tmp_path / "in") as client:
        name = client.get("/v1/reports").json()["reports"][0]["report_id"]
        answer = client.get(f"/v1/reports/{name}")
    assert answer.status_code == status
    assert [block["rows"] for block in answer.json().get("blocks", [])[1:]] == [[]] * (status == 200)
