"""The `rag` command, called in this process: imports are paid for once in a test session."""

from __future__ import annotations

import contextlib
import io
import subprocess
from pathlib import Path

from rag._cli.main import main


def run_rag(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`rag WORDS` with `folder` as the working folder: its exit code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(words))
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())
