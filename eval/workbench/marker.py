"""The mark by which a folder says that it holds a Workbench corpus: `.workbench/manifest.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from corpora.kinds import kind_of
from corpora.outputs import atomic_write_text

MANIFEST = Path(".workbench", "manifest.json")
VERSION = 1


def write_marker(folder: str | os.PathLike[str], content: Mapping[str, Any]) -> Path:
    """Write the manifest with `content` and `"workbench": 1`; it appears whole or not at all."""
    path = Path(folder) / MANIFEST
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_text(path, json.dumps({"workbench": VERSION, **content}, indent=1) + "\n")
    return path


def read_marker(folder: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The folder's own manifest; None where there is none that can be read."""
    try:
        content = json.loads((Path(folder) / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and content.get("workbench") == VERSION else None


def is_workbench(path: str | os.PathLike[str]) -> bool:
    """Whether a folder, or a file or folder somewhere inside it, belongs to a Workbench corpus.

    A video that was put there later does not: where the manifest lists the films, every video has to
    have the size of one of them.
    """
    whole = Path(path).absolute()
    for folder in (whole, *whole.parents):
        marker = read_marker(folder)
        if marker is not None:
            videos = marker.get("videos")
            return not isinstance(videos, list) or all(map(_sizes(videos).__contains__, _videos(whole)))
    return False


def _sizes(videos: list[Any]) -> set[int]:
    return {
        video["bytes"] for video in videos if isinstance(video, dict) and isinstance(video.get("bytes"), int)
    }


def _videos(whole: Path) -> Iterator[int]:
    """The size in bytes of each video that is, or lies below, `whole`; -1 for what cannot be looked into."""
    if not whole.is_dir():
        if kind_of(whole.name) == "video":
            yield whole.stat().st_size if whole.is_file() else -1
        return
    for place, folders, names in os.walk(whole):
        for name in folders:
            if os.path.islink(os.path.join(place, name)):
                yield -1
        for name in names:
            if kind_of(name) == "video" and not name.startswith("."):
                file = Path(place, name)
                yield file.stat().st_size if file.is_file() else -1
