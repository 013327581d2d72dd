"""The files of `deploy/`, and the settings of `rag mcp --print-config`: whole, with flags that there are."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.fakes.command import run_rag

DEPLOY = Path(__file__).parents[2] / "deploy"


def test_their_commands_have_flags_that_there_are(tmp_path: Path) -> None:
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
def test_the_printed_settings_start_the_server_of_this_library(
    given: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "caf\xe9").mkdir()
    file = tmp_path / (given[1] if given else "rag.toml")
    file.write_text("seed = 7\n")
    done = run_rag(tmp_path, "mcp", "--library", "caf\xe9/.rag", *given, "--print-config")
    (entry,) = json.loads(done.stdout)["mcpServers"].values()
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-5:] == ["mcp", "--library", str(tmp_path / "caf\xe9/.rag"), "--config", str(file)]
