"""What is no longer on disk, and when it leaves the library.

A path is gone only where the file system says so: nothing has its name, or a folder has. What cannot be
read, for lack of permission or behind a broken link, is not gone. An unmounted disk looks like an empty
folder, so nothing below an empty folder is removed, nor more than half of the files below a root, unless that
is asked for. An object is gone where its store says so; a store that does not answer says nothing.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from corpora.objects import is_url, object_states
from corpora.records import Problem
from corpora.scan import path_or_address
from corpora.settings import LOCAL, StorageSettings
from rag.indexing.report import Prune
from rag.store.layout import SYSTEM_NAMES

if TYPE_CHECKING:
    from rag.indexing.outcomes import FileOutcomes
    from rag.store.writing import Writer

PRUNE_ALL = "mount the disk, or remove them with --prune-all"


def is_gone(path: str) -> bool:
    """Whether no file of this name exists, for a folder has it too. False where that cannot be seen, and for
    a broken link."""
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno in {errno.ENOENT, errno.ENOTDIR} and _is_reachable(os.path.dirname(path))
    except ValueError:  # a NUL, which only a damaged row has
        return True
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except OSError:
        return False


def _is_reachable(folder: str) -> bool:
    """Whether the nearest existing folder at or above `folder` can be entered; False for a broken link."""
    while True:
        try:
            os.lstat(folder)
        except OSError as error:
            above = os.path.dirname(folder)
            if error.errno not in {errno.ENOENT, errno.ENOTDIR} or above == folder:
                return False
            folder = above
        else:
            return os.path.exists(folder)


def find_gone(paths: Iterable[str], storage: StorageSettings) -> list[str]:
    """Find the `paths` that are gone, in their order; files by `is_gone`, objects by their stores."""
    paths = list(paths)
    objects = object_states(filter(is_url, paths), storage)
    return [path for path in paths if (objects[path] is None if path in objects else is_gone(path))]


def find_missing(
    known: Iterable[str], found: Collection[str], roots: Iterable[str], storage: StorageSettings = LOCAL
) -> list[str]:
    """Paths of `known` below `roots` that are gone, sorted.

    `found`: paths that the scan met. A file on disk that a glob leaves out is not missing.
    """
    inside = below(roots)
    left = (path for path in known if path not in found and path.startswith(inside))
    return sorted(find_gone(left, storage))


def below(roots: Iterable[str]) -> tuple[str, ...]:
    """The prefixes of all paths inside these folders."""
    return tuple(os.path.join(path_or_address(root), "") for root in roots)


def empty_folders(missing: Iterable[str]) -> dict[str, list[str]]:
    """The missing paths whose nearest existing folder is empty, by that folder: each may be a mount point.

    A folder that cannot be listed counts as empty. Stores have no folders, and are not mounted.
    """
    is_empty = cache(_is_empty)
    held: dict[str, list[str]] = {}
    for path in missing:
        if is_url(path):
            continue
        folder = os.path.dirname(path)
        while not os.path.isdir(folder) and folder != os.path.dirname(folder):
            folder = os.path.dirname(folder)
        if is_empty(folder):
            held.setdefault(folder, []).append(path)
    return held


def _is_empty(folder: str) -> bool:
    try:
        return SYSTEM_NAMES.issuperset(os.listdir(folder))
    except OSError:
        return True


def prune_refusal(
    known: Collection[str], missing: Collection[str], moved: Collection[str], roots: Sequence[str]
) -> str:
    """Why `--prune` is refused, with the counts, for the first root below which more than half of `known` is
    missing; else empty.

    `moved`: those of `missing` whose content the library has under another path; they do not count.
    """
    for root, inside in zip(roots, below(roots), strict=True):
        held = sum(path.startswith(inside) for path in known)
        lost = sum(path.startswith(inside) for path in {*missing} - {*moved})
        if 2 * lost > held:
            return (
                f"{root}: {lost} of {held} files of the library are missing; nothing was removed; {PRUNE_ALL}"
            )
    return ""


def remove_missing(
    writer: Writer,
    missing: Sequence[str],
    roots: Sequence[str],
    outcomes: FileOutcomes,
    storage: StorageSettings,
    *,
    prune: Prune,
) -> list[str]:
    """Remove old paths of moved files, except below an empty root, and with `prune` all missing ones.

    Without `all`, files below a folder that is now empty stay, with a problem for the folder. Counts what
    was removed and what is missing still, and returns the removed paths.
    """
    rows = writer.files()
    # Indexing may have taken hours: a disk may have been mounted meanwhile.
    missing = find_gone((path for path in missing if path in rows), storage)
    lost = set(missing)
    here = {row.content_id for path, row in rows.items() if path not in lost}
    empty = empty_folders(missing)
    unmounted = {path for root in roots for path in empty.get(root, ())}
    moved = [p for p in missing if rows[p].content_id in here and (prune == "all" or p not in unmounted)]
    gone = moved
    if prune:
        kept = set() if prune == "all" else _keep_below_empty(empty, set(moved), outcomes)
        gone = [path for path in missing if path not in kept]
    if gone:
        writer.remove_paths(gone)
    outcomes.result.removed = len(gone) - len(moved)
    outcomes.result.missing = len(lost.difference(gone))
    return gone


def _keep_below_empty(
    empty: Mapping[str, Sequence[str]], moved: set[str], outcomes: FileOutcomes
) -> set[str]:
    """The missing paths below empty folders, apart from `moved`; each folder gets a problem."""
    kept: set[str] = set()
    for folder, paths in sorted(empty.items()):
        lost = set(paths) - moved
        if lost:
            reason = f"empty, and {len(lost)} files of the library were below it"
            outcomes.report([Problem(folder, reason, f"kept; {PRUNE_ALL}")])
        kept |= lost
    return kept
