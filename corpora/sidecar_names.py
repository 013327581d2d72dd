"""Which sidecars belong to which media files of a folder, by their names."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from corpora.kinds import kind_of, sidecar_base, sidecar_owners

CLOCK_STEP_NS = 3 * 10**9
"""The times of a file system are at least so exact."""


def sidecars_by_owner(names: Iterable[str], beside: dict[str, str]) -> dict[str, list[str]]:
    """Paths of sidecars by media file among `names`; a video goes before its sound track."""
    owners: dict[str, list[str]] = {}
    for name in sorted(names):
        if kind_of(name) in ("video", "audio"):
            owners[name] = [name]
    for name in list(owners):
        owners.setdefault(os.path.splitext(name)[0], []).append(name)
    found: dict[str, list[str]] = {}
    for name in sorted(beside):
        base = sidecar_base(name)
        if base is None:
            continue
        belonging = sidecar_owners(base, owners)
        videos = [owner for owner in belonging if kind_of(owner) == "video"]
        for owner in videos or belonging:
            found.setdefault(owner, []).append(beside[name])
    return found


def head_of(name: str) -> str:
    """What a file and its sidecars share: the name up to the first dot."""
    return name.partition(".")[0]


def by_head(names: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """Names of one folder by their heads: those of a file are enough to find its sidecars."""
    held: dict[str, list[str]] = {}
    for name in names:
        held.setdefault(head_of(name), []).append(name)
    return held


def names_in(folder: str) -> Mapping[str, Sequence[str]]:
    """The names in a folder by their heads; none where it cannot be listed."""
    try:
        changed = os.stat(folder).st_ctime_ns
        # Within one step of the clock of a file system a folder may change again unseen.
        settled = time.time_ns() - changed > CLOCK_STEP_NS
        return _settled_names(folder, changed) if settled else by_head(os.listdir(folder))
    except OSError:
        return {}


@lru_cache(maxsize=8)
def _settled_names(folder: str, changed: int) -> Mapping[str, Sequence[str]]:  # noqa: ARG001 (of the cache)
    """A folder of many thousand files is not listed for every answer that cites one of them."""
    return by_head(os.listdir(folder))
