"""A corpus folder's manifest: what its maker recommends, as the image encoder trained for its videos.

The file is `.corpus/manifest.json` in the corpus's folder: `{"recommended_encoder": NAME}`. Corpora of the
Workbench have it as `.workbench/manifest.json`, with their `videos` by `name`: once others lie among them, it
recommends nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from corpora.kinds import kind_of
from corpora.objects import is_url

MANIFESTS = (Path(".corpus", "manifest.json"), Path(".workbench", "manifest.json"))


def recommended_encoder(paths: Iterable[str | os.PathLike[str]]) -> str | None:
    """The image encoder that every one of `paths` recommends; None for no paths, or where they differ.

    A path is a folder, or a file or folder inside it; the nearest manifest above decides. An address of an
    object store recommends nothing.
    """
    names = {None if is_url(path) else _recommendation(Path(path).absolute()) for path in paths}
    return names.pop() if len(names) == 1 else None


def _recommendation(whole: Path) -> str | None:
    for folder in (whole, *whole.parents):
        for manifest in MANIFESTS:
            try:
                content = json.loads((folder / manifest).read_text(encoding="utf-8"))
            except (OSError, ValueError, RecursionError):
                continue
            name = content.get("recommended_encoder") if isinstance(content, dict) else None
            if isinstance(name, str) and name:
                return None if _has_others(folder, content.get("videos")) else name
    return None


def _has_others(folder: Path, videos: Any) -> bool:
    """Whether there is a video below a folder that its manifest, which names its `videos`, does not name."""
    if not isinstance(videos, list):
        return False
    named = {video.get("name") for video in videos if isinstance(video, dict)}
    for _, folders, files in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".")]
        if any(kind_of(file) == "video" and file not in named for file in files if file[0] != "."):
            return True
    return False
