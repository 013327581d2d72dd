"""The `rag` command: in this process, where imports are paid for once in a test session, or in its own."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

import rag
from rag._cli.main import main

ROOT = Path(rag.__file__).parent.parent


def run_rag(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`rag WORDS` with `folder` as the working folder: its exit code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(words))
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def run_rag_process(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """As `run_rag`, in a process of its own, with another hash seed."""
    return subprocess.run(
        [sys.executable, "-m", "rag._cli.main", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=600,
        check=False,
    )
