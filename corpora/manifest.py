"""A corpus folder's manifest: what its maker recommends, as the image encoder trained for its videos.

The file is `.corpus/manifest.json` in the corpus's folder: `{"recommended_encoder": NAME, "videos":
[{"bytes": SIZE}, ...]}`. Corpora of `rag workbench make` have it as `.workbench/manifest.json`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from corpora.kinds import kind_of
from corpora.objects import is_url

MANIFESTS = (Path(".corpus", "manifest.json"), Path(".workbench", "manifest.json"))


def recommended_encoder(paths: Iterable[str | os.PathLike[str]]) -> str | None:
    """The image encoder that every one of `paths` recommends; None for no paths, or where they differ.

    A path is a folder, or a file or folder inside it; the nearest manifest above decides. A video that was
    added later takes the recommendation away: where the manifest lists `videos`, every video at or below
    the path has the size of one of them. An address of an object store recommends nothing.
    """
    names = {None if is_url(path) else _recommendation(Path(path).absolute()) for path in paths}
    return names.pop() if len(names) == 1 else None


def _recommendation(whole: Path) -> str | None:
    for folder in (whole, *whole.parents):
        for manifest in MANIFESTS:
            content = _read(folder / manifest)
            name = _encoder_of(content)
            if name is not None:
                listed = content.get("videos")
                known = not isinstance(listed, list) or set(_sizes_below(whole)) <= _listed_sizes(listed)
                return name if known else None
    return None


def _read(path: Path) -> dict[str, Any]:
    """Empty where there is no JSON object that can be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _encoder_of(content: dict[str, Any]) -> str | None:
    name = content.get("recommended_encoder")
    return name if isinstance(name, str) and name else None


def _listed_sizes(videos: list[Any]) -> set[int]:
    return {row["bytes"] for row in videos if isinstance(row, dict) and isinstance(row.get("bytes"), int)}


def _sizes_below(whole: Path) -> Iterator[int]:
    """Bytes of each video at or below `whole`; -1 for a link to a folder and for what cannot be read."""
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
