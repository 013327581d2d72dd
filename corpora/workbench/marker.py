"""The mark by which a folder says that it holds a Workbench corpus: `.workbench/manifest.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["MANIFEST", "is_workbench", "read_marker", "write_marker"]

MANIFEST = Path(".workbench", "manifest.json")
VERSION = 1


def write_marker(folder: str | os.PathLike[str], content: Mapping[str, Any]) -> Path:
    """Write the manifest with `content` and `"workbench": 1`; it appears whole or not at all."""
    path = Path(folder) / MANIFEST
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_text(json.dumps({"workbench": VERSION, **content}, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(path)
    return path


def read_marker(folder: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The folder's own manifest; None where there is none that can be read."""
    try:
        content = json.loads((Path(folder) / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and content.get("workbench") == VERSION else None


def is_workbench(path: str | os.PathLike[str]) -> bool:
    """Whether a folder, or a file or folder somewhere inside it, belongs to a Workbench corpus."""
    whole = Path(path).absolute()
    return any(read_marker(folder) is not None for folder in (whole, *whole.parents))
