"""What a run depends on: all that must be the same when it is resumed, and who made it.

`identity` decides samples: benchmark, system, seed, settings, scorer, hashes of data
and encoders, the program's version. A run that was started under another identity is
refused. `sessions` says which commit, packages and machine each stretch of the
run was made with; a new one is added when they change, and the reports say so.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

SCHEMA = "rag.eval.run/1"

PACKAGES = (
    *("av", "faiss-cpu", "lancedb", "numpy", "onnxruntime", "pillow", "pyarrow"),
    *("sentence-transformers", "tokenizers", "torch", "transformers"),
)
"""Those whose version can move an answer or a figure."""


def known_identity(benchmark: str, system: str, seed: int, limit: int | None) -> dict[str, Any]:
    """The part of an identity that is known before any data are read or a system is opened."""
    from rag import __version__

    return {"benchmark": benchmark, "system": system, "seed": seed, "limit": limit, "version": __version__}


def session_of() -> dict[str, Any]:
    """Commit, packages and machine; no name of the machine or of its user."""
    return {
        "commit": _commit(Path(__file__).parents[2]),
        "packages": {"python": platform.python_version()}
        | {name: version for name in PACKAGES if (version := _installed(name)) is not None},
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "processor": _processor(),
            "cores": _cores(),
        },
    }


def _installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit(root: Path) -> str | None:
    """The commit of a checkout, `+` behind it where tracked files differ; None elsewhere."""
    if shutil.which("git") is None or not (root / ".git").exists():
        return None
    commit = _git(root, "rev-parse", "HEAD")
    if commit is None:
        return None
    changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    return f"{commit}+" if changed else commit


def _git(root: Path, *words: str) -> str | None:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()
