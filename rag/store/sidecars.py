"""Sidecars of videos: what identifies them, and whether they are those that were indexed."""

from __future__ import annotations

import hashlib
import html
import os
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.fetching import read_sidecar
from corpora.globs import Globs
from corpora.identity import content_hash
from corpora.kinds import SUBTITLES, sidecar_base
from corpora.objects import is_url
from corpora.outputs import same_file
from corpora.scan import mtime_ns, scan
from corpora.settings import LOCAL, ScanSettings, StorageSettings
from corpora.sidecar_names import sidecars_by_owner
from corpora.text_decoding import decode
from rag.errors import FileProblem, UnreadableFile
from rag.store.records import EXCLUDED, FileRow, FileState

if TYPE_CHECKING:
    from rag.store.reading import Reader

MOST_COPIES = 20
"""Of one video, whose subtitle files are looked at for a line."""
MOST_SUBTITLE_BYTES = 4 * 2**20
_TAG = re.compile(r"<[^<>]*>")


def distinct_sidecars(paths: Sequence[str]) -> tuple[str, ...]:
    """Those on disk without the ones that hold what one before holds, as beside copies of a video."""
    held: dict[bytes, str] = {}
    for path in paths:
        try:
            content = os.fsencode(path) if is_url(path) or len(paths) == 1 else Path(path).read_bytes()
        except OSError:
            content = os.fsencode(path)  # reported when it is read
        held.setdefault(content, path)
    return tuple(held.values())


def sidecar_hash(paths: Iterable[str], storage: StorageSettings = LOCAL) -> str:
    """Hash over the contents of sidecar files, without their names; empty for none.

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
            digest.update(hashlib.blake2b(content).digest())
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
            if _is_other(reader, content, beside, Globs(chosen.exclude)):
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


def path_with_lines(
    reader: Reader, video_id: str, lines: Sequence[str], path: str, chosen: ScanSettings
) -> str:
    """`path` of a video, or that of a copy whose own subtitle files hold more of some lines than its do.

    All copies are one content with the subtitles of all; which file a line is from is not stored, so the
    files are looked at: those of this machine, beside videos that are unchanged, as `rag index` finds them
    under these settings.
    """
    try:
        paths = [each for each in reader.paths(video_id) if not is_url(each)]
        if len(paths) < 2 or not lines:
            return path
        rows = reader.files_of(video_id)
        there = [row.path for row in rows[:MOST_COPIES] if not is_url(row.path) and file_state(row) == "ok"]
        copies = scan(there, within=chosen.within, subtitles=chosen.subtitles).files
    except (KeyError, UnreadableFile):
        return path  # removed from the library, or gone, since it was found
    held = {path: 0}
    for copy in copies:
        said = " ".join(map(_subtitle_text, copy.sidecars))
        held[copy.path] = sum(_one_line(line) in said for line in lines)
    return max(held, key=lambda each: (held[each], each == path))


def _subtitle_text(path: str) -> str:
    """The words of a subtitle file, roughly: without tags, on one line; empty where it cannot be read."""
    if is_url(path) or sidecar_base(path.rpartition("/")[2], SUBTITLES) is None:
        return ""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MOST_SUBTITLE_BYTES)
    except OSError:
        return ""
    return _one_line(html.unescape(_TAG.sub("", decode(data))))


def _one_line(text: str) -> str:
    return " ".join(text.casefold().split())


def _is_other(reader: Reader, content: str, beside: Sequence[tuple[str, ...]], exclude: Globs) -> bool:
    """`beside`: the sidecars of each file of a content."""
    try:
        stages = reader.stages(content)
    except KeyError:
        return False  # not indexed yet
    indexed = stages.get("sidecars", "")
    every = sorted({path for paths in beside for path in paths})
    # Excluded ones count only beside a file that was named itself, which its row does not say.
    choices = [every, [path for path in every if not _is_excluded(path, exclude)]]
    if globs := stages.get(EXCLUDED):
        choices.append([path for path in every if not _is_excluded(path, Globs(globs))])
    if len(reader.folders) > 1:
        choices += map(list, beside)  # each library may have indexed one of the files
    return all(sidecar_hash(distinct_sidecars(paths)) != indexed for paths in choices)


def _is_excluded(path: str, exclude: Globs) -> bool:
    """Whether the globs leave it out below any root."""
    names = path.split("/")[1:]
    return bool(exclude) and any(exclude.match("/".join(names[at:])) for at in range(len(names)))
