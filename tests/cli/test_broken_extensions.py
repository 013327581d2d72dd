"""What surrounds the program: broken extensions, the files of `deploy/`, and settings for other programs."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from corpora.entry_points import all_entry_points
from tests.fakes.command import run_rag
from tests.fakes.sources import ROOT

ENTRY_POINTS = """\
[rag.tasks]
broken = missing_module:open
[rag.solvers]
egofact-workbench-mini.broken = raising_module:SOLVER
[rag.document_readers]
odd = missing_module:read
"""


@pytest.fixture(autouse=True)
def _broken(tmp_path, monkeypatch) -> Iterator[None]:
    """A broken task, a solver that raises, and a broken document reader are installed."""
    site = tmp_path / "site"
    metadata = site / "broken-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    (site / "raising_module.py").write_text("raise RuntimeError('no licence')\n")
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), str(ROOT)]))
    all_entry_points.cache_clear()
    yield
    all_entry_points.cache_clear()


def test_the_other_tasks_and_solvers_are_listed(tmp_path) -> None:
    done = run_rag(tmp_path, "eval", "list", "--json")
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


def test_a_broken_reader_is_a_problem_of_its_files(tmp_path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.odd").write_text("odd text")
    (folder / "b.md").write_text("# Bolts\n\nTighten the wheel bolts to 120 Nm.\n")
    done = run_rag(tmp_path, "index", "documents", "--json")
    assert done.returncode == 3, done.stderr
    assert "a.odd" in done.stdout
    assert "document reader 'odd' cannot be loaded" in done.stdout
    assert json.loads(run_rag(tmp_path, "stats", "--json").stdout)["passages"] == 1


def test_doctor_loads_every_extension(tmp_path) -> None:
    done = run_rag(tmp_path, "doctor", "--json")
    assert done.returncode == 1
    rows = {each["name"]: each for each in json.loads(done.stdout)["checks"] if each["area"] == "extension"}
    assert rows.keys() == {
        "rag.document_readers odd",
        "rag.solvers egofact-workbench-mini.broken",
        "rag.tasks broken",
    }
    assert not any(row["ok"] for row in rows.values())
    assert "no licence" in rows["rag.solvers egofact-workbench-mini.broken"]["message"]


DEPLOY = Path(__file__).parents[2] / "deploy"


def test_their_commands_have_flags_that_there_are(tmp_path) -> None:
    job = yaml.safe_load((DEPLOY / "rayjob.yaml").read_text())
    cluster = job["spec"]["rayClusterSpec"]
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        spec = group["template"]["spec"]
        volumes = {volume["name"] for volume in spec["volumes"]}
        for container in spec["containers"]:
            assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
            assert {"name": "RAY_USAGE_STATS_ENABLED", "value": "0"} in container["env"]
    script = DEPLOY / "slurm.sh"
    subprocess.run(["bash", "-n", script], check=True)
    used = set(re.findall(r"--[a-z-]+", job["spec"]["entrypoint"]))
    for line in script.read_text().splitlines():
        if match := re.search(r"rag index .*", line):
            used |= set(re.findall(r"--[a-z-]+", match[0]))
    known = set(re.findall(r"--[a-z-]+", run_rag(tmp_path, "index", "--help").stdout))
    assert {"--engine", "--address", "--shard", "--library"} <= used <= known


@pytest.mark.parametrize("given", [("--config", "own.toml"), ()])
def test_the_printed_settings_start_the_server_of_this_library(given: tuple[str, ...], tmp_path) -> None:
    (tmp_path / "caf\xe9").mkdir()
    file = tmp_path / (given[1] if given else "rag.toml")
    file.write_text("seed = 7\n")
    done = run_rag(tmp_path, "mcp", "--library", "caf\xe9/.rag", *given, "--print-config")
    (entry,) = json.loads(done.stdout)["mcpServers"].values()
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-5:] == ["mcp", "--library", str(tmp_path / "caf\xe9/.rag"), "--config", str(file)]
