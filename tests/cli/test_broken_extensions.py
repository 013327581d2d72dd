"""An installed extension that cannot be loaded is one line; every other command and file goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ENTRY_POINTS = """\
[rag.tasks]
broken = missing_module:open
[rag.solvers]
egofact-workbench-mini.broken = raising_module:SOLVER
[rag.document_readers]
odd = missing_module:read
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A process with a broken task, a solver that raises, and a broken document reader installed."""
    site = tmp_path / "site"
    metadata = site / "broken-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    (site / "raising_module.py").write_text("raise RuntimeError('no licence')\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(Path(__file__).parents[2])])}


def rag(environment: dict[str, str], folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rag._cli.main", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def test_the_other_tasks_and_solvers_are_listed(environment: dict[str, str], tmp_path: Path) -> None:
    done = rag(environment, tmp_path, "eval", "list", "--json")
    assert done.returncode == 3
    listed = {each["name"]: each["systems"] for each in json.loads(done.stdout)["benchmarks"]}
    assert "localized" in listed["egofact-workbench-mini"]
    assert "broken" not in listed
    assert "broken" not in listed["egofact-workbench-mini"]
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    assert "'broken' cannot be loaded: No module named 'missing_module'" in done.stderr
    assert (
        "'egofact-workbench-mini.broken' cannot be loaded from raising_module:SOLVER: no licence"
        in done.stderr
    )


def test_a_broken_reader_is_a_problem_of_its_files(environment: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.odd").write_text("odd text")
    (folder / "b.md").write_text("# Bolts\n\nTighten the wheel bolts to 120 Nm.\n")
    done = rag(environment, tmp_path, "index", "documents", "--json")
    assert done.returncode == 3, done.stderr
    assert "a.odd" in done.stdout
    assert "document reader 'odd' cannot be loaded" in done.stdout
    assert json.loads(rag(environment, tmp_path, "stats", "--json").stdout)["passages"] == 1


def test_doctor_loads_every_extension(environment: dict[str, str], tmp_path: Path) -> None:
    done = rag(environment, tmp_path, "doctor", "--json")
    assert done.returncode == 1
    rows = {each["name"]: each for each in json.loads(done.stdout)["checks"] if each["area"] == "extension"}
    assert rows.keys() == {
        "rag.document_readers odd",
        "rag.solvers egofact-workbench-mini.broken",
        "rag.tasks broken",
    }
    assert not any(row["ok"] for row in rows.values())
    assert "no licence" in rows["rag.solvers egofact-workbench-mini.broken"]["message"]
