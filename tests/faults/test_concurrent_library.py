"""A short form of `python -m benchmarks.concurrent_library`."""

from __future__ import annotations

import re
import subprocess
import sys

SECONDS = 3


def test_writers_and_readers_at_once_see_whole_files_and_one_error_line() -> None:
    # In a process of its own: it forks, and the threads that Lance has after other tests survive no fork.
    command = [sys.executable, "-m", "benchmarks.concurrent_library"]
    command += ["--minutes", str(SECONDS / 60), "--readers", "3", "--seed", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = {found[1]: int(found[2]) for found in re.finditer(r"\| ([\w ]+) \| (\d+) \|", done.stdout)}
    assert counts["index"] > 0
    assert counts["read after opening"] > 0
