"""Sidecars of videos: what identifies them, and whether they are those that were indexed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from corpora.fetching import read_sidecar
from corpora.globs import Globs
from corpora.identity import content_hash
from corpora.objects import is_url
from corpora.outputs import same_file
from corpora.scan import mtime_ns, scan
from corpora.settings import LOCAL, ScanSettings, StorageSettings
from corpora.sidecar_names import sidecars_by_owner, subtitle_track
from rag.errors import FileProblem, UnreadableFile
from rag.store.records import EXCLUDED, FileRow, FileState

if TYPE_CHECKING:
    from rag.store.reading import Reader


def distinct_sidecars(paths: Sequence[str]) -> tuple[str, ...]:
    """Leave out sidecars that hold what one before holds, as beside copies of a video."""
    held: dict[bytes, str] = {}
    for path in paths:
        try:
            content = os.fsencode(path) if is_url(path) or len(paths) == 1 else Path(path).read_bytes()
        except OSError:
            content = os.fsencode(path)  # reported when it is read
        held.setdefault(content, path)
    return tuple(held.values())


def sidecar_hash(paths: Iterable[str], storage: StorageSettings = LOCAL) -> str:
    """Hash over the contents of sidecar files, and what their names say of subtitles; empty for none.

    One that cannot be read counts as its absence, and is reported when it is read.
    """
    digest = hashlib.blake2b(digest_size=16)
    some = False
    for path in paths:
        try:
            content = read_sidecar(path, storage) if is_url(path) else Path(path).read_bytes()
        except (OSError, FileProblem):
            continue
        if content is not None:
            track = subtitle_track(PurePath(path).name, source="name")
            digest.update(hashlib.blake2b(content).digest() + repr(track).encode())
            some = True
    return digest.hexdigest() if some else ""


def file_state(row: FileRow) -> FileState:
    """Whether a file of this machine is still the one that was indexed, by its size and time of change."""
    try:
        facts = os.stat(row.path)
    except (FileNotFoundError, NotADirectoryError):
        return "missing"
    except (OSError, ValueError):
        return "unreadable"
    return "ok" if (facts.st_size, mtime_ns(facts)) == (row.size, row.mtime_ns) else "changed"


def has_indexed_content(row: FileRow) -> bool:
    """Whether a file of this machine has the content that was indexed: one of the same size with another time
    of change is hashed, once while it stays as it is."""
    if (state := file_state(row)) != "changed":
        return state == "ok"
    try:
        facts = os.stat(row.path)
        same_size = facts.st_size == row.size
        return same_size and _content(row.path, facts.st_mtime_ns, facts.st_ctime_ns) == row.content_id
    except (OSError, FileProblem):
        return False


@lru_cache(maxsize=1024)
def _content(path: str, *_times: int) -> str:
    """The hash of a file that was changed at these times."""
    return content_hash(path)


def other_sidecars(reader: Reader, files: Iterable[FileRow], chosen: ScanSettings) -> set[str]:
    """Ids of the videos among `files` whose sidecars are no longer those that they were indexed with.

    `files`: all those of each content. They are found as `rag index` finds them under these settings, and
    read only where the stamp of a file has changed. A content with a file on an object store is left out.
    """
    rows: dict[str, dict[str, FileRow]] = {}
    for row in files:
        rows.setdefault(row.content_id, {})[row.path] = row
    held = {
        content: paths
        for content, paths in rows.items()
        if all(row.kind != "passages" and not is_url(row.path) for row in paths.values())
    }
    there = [path for paths in held.values() for path in paths if os.path.isfile(path)]
    try:
        found = {
            file.path: file for file in scan(there, within=chosen.within, subtitles=chosen.subtitles).files
        }
    except UnreadableFile:
        return set()  # gone since it was looked for, or a folder of subtitles is
    others = set()
    for content, paths in held.items():
        if any(path not in found or found[path].stamp != row.stamp for path, row in paths.items()):
            beside = [found[path].sidecars for path in paths if path in found]
            if _is_other(reader, content, beside, chosen.exclude):
                others.add(content)
    return others


def is_source(reader: Reader, path: str | os.PathLike[str], chosen: ScanSettings) -> bool:
    """Whether a file is indexed, under whatever name, or has the place and name of a sidecar of a video that
    is. `chosen`: where sidecars are found."""
    indexed = reader.indexed_paths()
    if any(same_file(path, each) for each in indexed):
        return True
    real = {folder: os.path.realpath(folder) for folder in map(os.path.dirname, indexed)}
    apart = set(map(os.path.realpath, chosen.subtitles))
    for place in (os.path.abspath(path), os.path.realpath(path)):
        folder, name = os.path.realpath(os.path.dirname(place)), os.path.basename(place)
        beside = (each for each in indexed if folder in apart or real[os.path.dirname(each)] == folder)
        if sidecars_by_owner(map(os.path.basename, beside), {name: place}):
            return True
    return False


def _is_other(
    reader: Reader, content: str, beside: Sequence[tuple[str, ...]], exclude: Iterable[str]
) -> bool:
    """`beside`: the sidecars of each file of a content; `exclude`: globs of today's settings."""
    try:
        stages = reader.stages(content)
    except KeyError:
        return False  # not indexed yet
    every = sorted({path for paths in beside for path in paths})
    # Excluded ones count only beside a file that was named itself, which its row does not say.
    choices = [every, *(_without(every, globs) for globs in (exclude, stages.get(EXCLUDED, ())))]
    if len(reader.folders) > 1:
        choices += map(list, beside)  # each library may have indexed one of the files
    indexed = stages.get("sidecars", "")
    return all(sidecar_hash(distinct_sidecars(paths)) != indexed for paths in choices)


def _without(paths: Iterable[str], exclude: Iterable[str]) -> list[str]:
    """Those that no glob leaves out below any root."""
    globs = Globs(exclude)

    def is_excluded(path: str) -> bool:
        names = path.split("/")[1:]
        return any(globs.match("/".join(names[at:])) for at in range(len(names)))

    return [path for path in paths if not is_excluded(path)]
