"""A name that nothing has, and the names that are like it."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable

MOST = 3
LEAST_ALIKE = 0.6
"""Of difflib's ratio, in [0, 1]: what it calls a close match."""


def nearest_names(name: str, paths: Iterable[str]) -> list[str]:
    """Up to 3 of `paths` with a file name like that of `name`, most alike first.

    Names are compared without their endings, and capitals are all one. Each is given by its file name,
    or whole where several files have that name.
    """
    by_name: dict[str, list[str]] = {}
    for path in sorted(set(paths)):
        by_name.setdefault(os.path.basename(path), []).append(path)
    by_stem: dict[str, list[str]] = {}
    for held in by_name:
        by_stem.setdefault(_stem(held), []).append(held)
    close = difflib.get_close_matches(_stem(name), list(by_stem), n=MOST, cutoff=LEAST_ALIKE)
    found = [held for stem in close for held in by_stem[stem]]
    return [one for held in found for one in ([held] if len(by_name[held]) == 1 else by_name[held])][:MOST]


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path.rstrip("/")))[0].casefold()
