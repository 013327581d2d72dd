"""`kill -9` in the middle of `rag eval run`, and running again, gives the files of an undisturbed run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import rag

ROOT = Path(rag.__file__).parent.parent
SAME = (
    "queries.jsonl",
    "samples.jsonl",
    "results.json",
    "clips.run.trec",
    "passages.run.trec",
    "clips.qrels",
)


def start(out: Path, delay: float) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "rag._cli.main", "eval", "run", "tests.fakes.toy_benchmark:open_toy"]
    command += ["--system", "localized", "--seed", "3", "--out", str(out)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TOY_DELAY": str(delay)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, cwd=out.parent)


def test_killed_and_taken_up_is_undisturbed(tmp_path: Path) -> None:
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    assert start(whole, 0.0).wait() == 0
    samples = torn / "localized-seed3" / "samples.jsonl"
    chance = random.Random(4)
    before = 0
    for _ in range(3):
        run = start(torn, 0.03)
        enough = before + 1 + chance.randrange(8)
        deadline = time.monotonic() + 60
        while not samples.exists() or samples.read_bytes().count(b"\n") < enough:
            assert run.poll() is None, "it was done before it was killed"
            assert time.monotonic() < deadline
            time.sleep(0.005)
        run.send_signal(signal.SIGKILL)
        assert run.wait() == -signal.SIGKILL
        before = samples.read_bytes().count(b"\n")
        assert before < 40
        assert not (samples.parent / "results.json").exists()
    assert start(torn, 0.0).wait() == 0
    for name in SAME:
        assert (samples.parent / name).read_bytes() == (whole / "localized-seed3" / name).read_bytes(), name
