"""The files of `deploy/`: whole YAML, a shell script without syntax errors, and flags that `rag` has."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

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
