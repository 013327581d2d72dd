"""The mark by which a folder says that it holds a Workbench corpus: `.workbench/manifest.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpora.outputs import atomic_write_text

MANIFEST = Path(".workbench", "manifest.json")
VERSION = 1
ENCODER = "bundled"
"""Trained on these videos (`corpora.manifest` reads the recommendation)."""


def write_marker(folder: str | os.PathLike[str], content: Mapping[str, Any]) -> Path:
    """Write the manifest: `content`, `"workbench": 1` and the encoder; it appears whole or not at all."""
    path = Path(folder) / MANIFEST
    path.parent.mkdir(parents=True, exist_ok=True)
    marked = {"workbench": VERSION, "recommended_encoder": ENCODER, **content}
    atomic_write_text(path, json.dumps(marked, indent=1) + "\n")
    return path


def read_marker(folder: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The folder's own manifest; None where there is none that can be read."""
    try:
        content = json.loads((Path(folder) / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and content.get("workbench") == VERSION else None
