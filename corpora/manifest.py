"""A corpus folder's manifest: what its maker recommends, as the image encoder trained for its videos.

The file is `.corpus/manifest.json` in the corpus's folder: `{"recommended_encoder": NAME}`. Corpora of the
Workbench have it as `.workbench/manifest.json`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

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
                return name
    return None
