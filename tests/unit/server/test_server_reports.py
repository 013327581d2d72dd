"""`/v1/reports`: what is found below the folders of `--reports`, and what is shown of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from corpora.outputs import RUN_SCHEMA
from rag.server import reports as reports_module
from rag.server.app import build_app
from rag.server.service import Service
from rag.server.session import LibrarySession
from rag.settings import Settings
from tests.fakes.stored_reports import BODY, HEAD, HOSTILE, write_reports


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


def test_without_a_folder_nothing_is_shown(tmp_path: Path, listed: dict[str, Any]) -> None:
    with _client(tmp_path) as client:
        assert client.get("/v1/reports").json() == {"schema": "rag.reports/1", "reports": [], "roots": []}
        answer = client.get(f"/v1/reports/{listed['report']['report_id']}")
    assert answer.status_code == 404
    assert answer.json()["type"] == "urn:rag:problem:unknown-id"


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


@pytest.mark.parametrize(
    "target", ["../../secret.png", "report.md", "gone.png", "\0", "link.png", "x" * 5000]
)
def test_a_figure_is_a_png_file_of_the_report(folder: Path, tmp_path: Path, target: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.png").symlink_to(folder.parent / "secret.png")
    (tmp_path / "in" / "report.md").write_text(f"![x]({target})")
    with _client(tmp_path, tmp_path / "in") as client:
        name = client.get("/v1/reports").json()["reports"][0]["report_id"]
        assert client.get(f"/v1/reports/{name}/figures/0").status_code == 404
        assert client.get(f"/v1/reports/{name}/figures/1").status_code == 404


def test_a_run_comes_as_a_table_of_its_figures(client: TestClient, listed: dict[str, Any]) -> None:
    heading, table = client.get(f"/v1/reports/{listed['run']['report_id']}").json()["blocks"]
    assert heading["text"] == "bench, one, seed 0"
    assert table["rows"] == [["right", "0.250 [0.125, 0.500]", "4"], ["recall", "1.000", "4"]]


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
    monkeypatch.setattr(reports_module, "LARGEST_FILE", 10)
    refused = client.get(address)
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:rag:problem:unreadable-file")


@pytest.mark.parametrize(
    ("figures", "status"),
    [('"', 422), ("[]", 200), ('{"a": 1, "b": {"overall": 2}, "c": {"overall": {"value": "x"}}}', 200)],
)
def test_figures_of_another_shape_are_left_out(tmp_path: Path, figures: str, status: int) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "results.json").write_text(f'{{"schema": "{RUN_SCHEMA}", "figures": {figures}}}')
    with _client(tmp_path, tmp_path / "in") as client:
        name = client.get("/v1/reports").json()["reports"][0]["report_id"]
        answer = client.get(f"/v1/reports/{name}")
    assert answer.status_code == status
    assert [block["rows"] for block in answer.json().get("blocks", [])[1:]] == [[]] * (status == 200)
