"""The demo in a network namespace without interfaces: everything it does, it does on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from eval.workbench.demo import demo_questions

NO_NETWORK = ["unshare", "--map-root-user", "--net"]
REACH_OUT = "import socket; socket.create_connection(('127.0.0.1', 9), timeout=2)"


def test_the_namespace_denies_even_loopback() -> None:
    tried = subprocess.run([*NO_NETWORK, sys.executable, "-c", REACH_OUT], capture_output=True, text=True)
    assert "Network is unreachable" in tried.stderr


def test_the_demo_runs_without_any_network_and_says_which_answers_are_right(tmp_path: Path) -> None:
    command = [*NO_NETWORK, sys.executable, "-m", "rag._cli.main", "demo", "--json"]
    environment = {key: value for key, value in os.environ.items() if key != "HF_HUB_OFFLINE"}
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    shape = json.loads(run.stdout)
    assert not shape["index"]["problems"]
    assert len(shape["answers"]) == 3
    for expected, given in zip(demo_questions(), shape["answers"], strict=True):
        assert given["answer"]["matched"], given
        assert given["citations"], given
        assert given["expected"] == expected.expected
        assert given["answer"]["choice"] in "ABCDEF", given["answer"]
    sheets = [Path(tmp_path, sheet) for given in shape["answers"] for sheet in given["sheets"]]
    assert sheets
    assert all(sheet.read_bytes().startswith(b"\x89PNG") for sheet in sheets)

    told = subprocess.run(
        [*command[:-1], "--text"], cwd=tmp_path, capture_output=True, text=True, env=environment
    )
    assert told.returncode == 0, told.stderr
    for question, given in zip(demo_questions(), shape["answers"], strict=True):
        assert f"? {question.text}" in told.stdout
        verdict = "right" if given["answer"]["choice"] == question.expected else "wrong"
        assert f"the drawn world knows: {question.expected}, so this is {verdict}" in told.stdout
    assert "contact sheet: demo/" in told.stdout
    assert 'rag ask --library demo/.rag "..."' in told.stdout
