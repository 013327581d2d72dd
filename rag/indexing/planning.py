"""What a run has to do: files that are new or changed by content, and files that are gone.

A path is gone only where the file system says so: what cannot be read, for lack of permission or behind
a broken link, is not. An unmounted disk looks like an empty folder, so nothing below an empty folder is
removed, nor more than half of the files below a root, unless that is asked for. An object is gone where
its store says so; a store that does not answer says nothing.

What an object is, is known when it is fetched to be indexed. Only one whose size is that of another file,
which may be the same or a moved one, is read for its hash before.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from corpora.errors import reason_of
from corpora.fetching import content_id, read_sidecar
from corpora.objects import is_url, object_states
from corpora.passages.pdf import NO_TEXT_LAYER
from corpora.records import SKIPPED, Problem
from corpora.scan import FoundFile, Scan, path_or_address
from corpora.scan import scan as scan_files
from corpora.settings import StorageSettings
from rag.errors import FileProblem, UnreadableFile
from rag.indexing.report import Prune
from rag.store.finding import require_library
from rag.store.layout import SYSTEM_NAMES, Location, open_layout
from rag.store.records import FileRow
from rag.store.schema import column_names, problem_of
from rag.store.sums import compare_versions, read_all_sums, sums_faults, unfinished

if TYPE_CHECKING:
    from rag.indexing.outcomes import FileOutcomes
    from rag.settings import Settings
    from rag.store.writing import Writer


@dataclass(frozen=True, slots=True)
class Group:
    """Files of one content. The first path is the one read; the sidecars of all of them belong to it."""

    content_id: str
    """Empty for an object that is yet to be fetched."""
    files: tuple[FoundFile, ...]
    fresh: tuple[FoundFile, ...]
    """Those whose row is new or changed."""
    sidecars: tuple[str, ...]

    @property
    def first(self) -> FoundFile:
        """The file that is read."""
        return self.files[0]


@dataclass
class Plan:
    """One run's work. `groups` are in the order of their first paths."""

    groups: list[Group] = field(default_factory=list)
    """To be indexed: their content is new, unfinished, or has other sidecars."""
    ready: list[Group] = field(default_factory=list)
    """Media whose content is ready; their measurements may be outdated."""
    known: list[Group] = field(default_factory=list)
    """Content that the library has, under paths or with file times that it does not know yet."""
    unchanged: int = 0
    """Files whose path and content the library has."""
    arrived: int = 0
    """Files of `known` whose path the library does not have with this content."""
    problems: list[Problem] = field(default_factory=list)
    """Files that cannot be read, now or when they were last tried and unchanged since."""
    over_limit: dict[str, str] = field(default_factory=dict)
    """Path to the stamp (`limit_stamp`) of a problem that holds for any file of its content."""
    missing: list[str] = field(default_factory=list)
    """Paths of the library below these roots that are no longer on disk."""
    moved: list[str] = field(default_factory=list)
    """Those of `missing` whose content was found under another path, or is known under one."""


class Indexed(Protocol):
    """What a plan compares with: a writer, or the library as a dry run reads it."""

    def files(self) -> Mapping[str, FileRow]:
        """Path to its row."""

    def stage_fingerprints(self) -> Mapping[str, Mapping[str, Any]]:
        """Each finished video's stages."""

    def problems(self) -> Mapping[str, tuple[Problem, str]]:
        """Path to its problem and the stamp that the file had then."""


class StoredRows:
    """What the library in a folder holds, read without a lock or a write; empty where there is no library."""

    def __init__(self, folder: Location) -> None:
        self._files: dict[str, FileRow] = {}
        self._stages: dict[str, dict[str, Any]] = {}
        self._problems: dict[str, tuple[Problem, str]] = {}
        if open_layout(folder).exists():
            from rag.store.snapshot import Snapshot

            layout = require_library(folder)
            mark = layout.reader_mark()  # a writer that cleans up meanwhile keeps what is read here
            try:
                snapshot = Snapshot(layout, "flat")
                self._files = {row.path: row for row in snapshot.file_rows}
                self._stages = {video_id: snapshot.stages(video_id) for video_id in snapshot.ready}
                rows = snapshot.scan("problems", column_names("problems")).to_pylist()
                self._problems = {problem.path: (problem, stamp) for problem, stamp in map(problem_of, rows)}
            finally:
                if mark is not None:
                    mark.release()

    def files(self) -> dict[str, FileRow]:
        """As `Writer.files`."""
        return self._files

    def stage_fingerprints(self) -> dict[str, dict[str, Any]]:
        """As `Writer.stage_fingerprints`."""
        return self._stages

    def problems(self) -> dict[str, tuple[Problem, str]]:
        """As `Writer.problems`."""
        return self._problems


LOCAL = StorageSettings()


def make_plan(
    scan: Scan,
    roots: Sequence[str],
    indexed: Indexed,
    storage: StorageSettings = LOCAL,
    identify: Callable[[FoundFile], str] | None = None,
    limits: str = "",
    within: Sequence[str] = (),
    *,
    reads_scans: bool = False,
) -> Plan:
    """Compare the files found with the library.

    `identify`: the content id of a file that is new or changed, empty for an object that is yet to be
    fetched; default by its content. A `FileProblem` that it raises is a problem of the plan.
    `limits`: of reading files (`limits_of`); what exceeded them is not tried again. `within`: as of a scan.
    `reads_scans`: whether there is OCR, so that a PDF that was skipped without it is read now.
    """
    rows, ready, problems = indexed.files(), indexed.stage_fingerprints(), _problems(indexed, reads_scans)
    published = {row.content_id for row in rows.values() if row.kind == "passages"}
    identify = identify or _by_content(scan, rows, storage)
    plan = Plan(problems=list(scan.problems))
    refused = {stamp: problem for problem, stamp in problems.values() if stamp.startswith(OVER_LIMIT)}
    by_content, noted = dict[str, list[FoundFile]](), dict[str, Problem]()
    fresh, unread = set[str](), set[str]()
    for found in scan.files:
        row, earlier = rows.get(found.path), problems.get(found.path)
        if earlier is not None and row is None and earlier[1] == found.stamp and earlier[0].action == SKIPPED:
            plan.problems.append(earlier[0])
            continue
        if row is not None and row.stamp == found.stamp:
            content = row.content_id
        else:
            try:
                content = identify(found)
            except FileProblem as problem:
                plan.problems.append(Problem(found.path, reason_of(problem, found.path)))
                continue
            if (over := refused.get(limit_stamp(content, limits))) is not None:
                plan.problems.append(Problem(found.path, over.reason))
                plan.over_limit[found.path] = limit_stamp(content, limits)
                if row is None:
                    continue
            fresh.add(found.path)
        if earlier is not None and still_holds(earlier, found, row is not None and row.content_id == content):
            noted[found.path] = earlier[0]
        if not content:
            unread.add(found.path)
        by_content.setdefault(content or found.path, []).append(found)
    held = Counter(row.content_id for row in rows.values())
    elsewhere = _sidecars_elsewhere(rows, {f.path for f in scan.files}, by_content.keys(), within)
    for content, files in by_content.items():
        group = Group(
            "" if content in unread else content,
            tuple(files),
            tuple(f for f in files if f.path in fresh),
            tuple(sorted(elsewhere.get(content, set()).union(*(f.sidecars for f in files)))),
        )
        if files[0].kind == "passages":
            done = content in published
        else:
            stages = ready.get(content)
            done = stages is not None and (
                _has_known_sidecars(group, held[content])
                or stages.get("sidecars") == sidecar_hash(group.sidecars, storage)
            )
        if not done:
            plan.groups.append(group)
            continue
        plan.problems += [noted[f.path] for f in files if f.path in noted]
        if group.fresh:
            plan.known.append(group)
        if files[0].kind != "passages":
            plan.ready.append(group)
        plan.unchanged += (there := sum(f.path in rows and rows[f.path].content_id == content for f in files))
        plan.arrived += len(files) - there
    missing = find_missing(rows, {f.path for f in scan.files}, roots, storage)
    plan.missing = [*missing, *_misnamed(rows, by_content.keys(), missing, storage)]
    plan.moved = _moved(plan.missing, rows, by_content.keys())
    return plan


def _problems(indexed: Indexed, reads_scans: bool) -> dict[str, tuple[Problem, str]]:
    """Those of the library, but for PDFs that were skipped for lack of OCR where there is OCR now."""
    return {
        path: found
        for path, found in indexed.problems().items()
        if not (reads_scans and NO_TEXT_LAYER in found[0].reason)
    }


def _moved(missing: Sequence[str], rows: Mapping[str, FileRow], contents: Collection[str]) -> list[str]:
    """Of the missing paths those whose content is among `contents`, or has another path."""
    here = {*contents, *(rows[path].content_id for path in rows.keys() - set(missing))}
    return [path for path in missing if rows[path].content_id in here]


def _sidecars_elsewhere(
    rows: Mapping[str, FileRow], scanned: Collection[str], contents: Collection[str], within: Sequence[str]
) -> dict[str, set[str]]:
    """By content the sidecars beside files that were not scanned and are there as they were indexed.

    Without them a run of one folder would take from a video what that of another gave it. Those of objects
    are not looked for.
    """
    others = [
        path
        for path, row in rows.items()
        if row.kind != "passages" and row.content_id in contents and path not in scanned and not is_url(path)
    ]
    found: dict[str, set[str]] = {}
    try:
        files = scan_files(filter(os.path.isfile, others), within=within).files
    except UnreadableFile:
        return found  # gone since it was looked for
    for file in files:
        row = rows[file.path]
        if (file.size, file.mtime_ns, file.ctime_ns) == (row.size, row.mtime_ns, row.ctime_ns):
            found.setdefault(row.content_id, set()).update(file.sidecars)
    return found


OVER_LIMIT = "over limit "


def limits_of(settings: Settings) -> str:
    """Hash over the settings that decide whether a file exceeds the limits of its reader."""
    chosen = [settings.reading.model_dump(mode="json"), settings.video.decoder]
    return hashlib.blake2b(json.dumps(chosen, sort_keys=True).encode(), digest_size=8).hexdigest()


def limit_stamp(content_id: str, limits: str) -> str:
    """The stamp of the problem of a content that exceeded `limits`: it holds for every file of that content,
    and until the limits change."""
    return f"{OVER_LIMIT}{content_id} {limits}"


def still_holds(problem: tuple[Problem, str], found: FoundFile, same: bool) -> bool:
    """Whether a stored problem is one of the file as it is now; `same`: its path had that content before."""
    return problem[1] == found.stamp or (same and problem[0].action != SKIPPED)


def _by_content(
    scan: Scan, rows: Mapping[str, FileRow], storage: StorageSettings
) -> Callable[[FoundFile], str]:
    may_be_known = shares_its_size(scan, rows)

    def identify(found: FoundFile) -> str:
        if is_url(found.path) and not may_be_known(found):
            return ""
        try:
            return content_id(found, storage)
        except FileProblem as problem:
            if problem.lasting:
                raise
            return ""  # tried again when it is fetched

    return identify


def shares_its_size(scan: Scan, rows: Mapping[str, FileRow]) -> Callable[[FoundFile], bool]:
    """Whether a file has the size of another one, found or in the library: else its content is new."""
    there = {file.path for file in scan.files}
    gone = (row.size for path, row in rows.items() if path not in there)
    sizes = Counter([*(file.size for file in scan.files), *gone])

    def shares(found: FoundFile) -> bool:
        row = rows.get(found.path)
        return sizes[found.size] > 1 or (row is not None and row.size == found.size)

    return shares


def _has_known_sidecars(group: Group, paths: int) -> bool:
    """Whether sidecars on a store are those that were indexed, by their stamps alone.

    `paths`: how many the library has of this content.
    """
    return not group.fresh and len(group.files) == paths and any(map(is_url, group.sidecars))


MEDIA_BYTES_A_SECOND = 250_000
"""By which the duration of an object is estimated before it is fetched: 2 megabits, as of 720p in H.264."""


def estimated_seconds(found: FoundFile) -> float:
    """How long an object of that size may last."""
    return found.size / MEDIA_BYTES_A_SECOND


def row_of(found: FoundFile, content_id: str) -> FileRow:
    """The library's row for a file found."""
    return FileRow(
        found.path, content_id, found.kind, found.size, found.mtime_ns, found.ctime_ns, found.stamp
    )


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


PRUNE_ALL = "mount the disk, or remove them with --prune=all"


def is_gone(path: str) -> bool:
    """Whether no file of this name exists. False where that cannot be seen, and for a broken link."""
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno in {errno.ENOENT, errno.ENOTDIR} and _is_reachable(os.path.dirname(path))
    except ValueError:  # a NUL, which only a damaged row has
        return True
    return False


def _is_reachable(folder: str) -> bool:
    """Whether the nearest existing folder at or above `folder` can be entered; False for a broken link."""
    try:
        os.lstat(folder)
    except OSError as error:
        above = os.path.dirname(folder)
        return error.errno in {errno.ENOENT, errno.ENOTDIR} and above != folder and _is_reachable(above)
    return os.path.exists(folder)


def find_gone(paths: Iterable[str], storage: StorageSettings) -> list[str]:
    """Those of `paths` that are gone, in their order; files by `is_gone`, objects by their stores."""
    paths = list(paths)
    objects = object_states(filter(is_url, paths), storage)
    return [path for path in paths if (objects[path] is None if path in objects else is_gone(path))]


def damaged_index(folder: Location) -> str:
    """What is wrong with the library's index files, where questions would notice it; empty for nothing."""
    indexes = open_layout(folder).indexes
    if indexes is None or not indexes.is_dir():
        return ""
    from rag.store.code_index import damaged

    return damaged(indexes)


def damaged_file(folder: Location) -> str:
    """A file of the library, of tables or indexes, that is not as it was written; empty for none.

    As much is compared as at each opening of a library.
    """
    layout = open_layout(folder)
    if faults := sums_faults(layout):
        return next(iter(faults.values()))
    for damage in unfinished(layout):
        return str(damage)
    if noted := read_all_sums(layout):
        for damage in compare_versions(layout, noted, None, seen=layout.compared).damages:
            return str(damage)
    return damaged_index(folder)


def find_missing(
    known: Iterable[str], found: Collection[str], roots: Iterable[str], storage: StorageSettings = LOCAL
) -> list[str]:
    """Paths of `known` below `roots` that are gone, sorted.

    `found`: paths that the scan met. A file on disk that a glob leaves out is not missing.
    """
    inside = below(roots)
    left = (path for path in known if path not in found and path.startswith(inside))
    return sorted(find_gone(left, storage))


def _misnamed(
    rows: Mapping[str, FileRow], contents: Collection[str], missing: Collection[str], storage: StorageSettings
) -> list[str]:
    """Paths beside `missing` without a file, of `contents`. A row without a stamp was repaired: its path may
    be damaged, and lead out of the roots."""
    repaired = {path for path, row in rows.items() if not row.stamp and row.content_id in contents}
    return find_gone(sorted(repaired.difference(missing)), storage)


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
    """Why `--prune` is refused, with the counts, for the first root to which that applies; else empty.

    Refused: a root that is empty, and one below which more than half of `known` is missing.
    `moved`: those of `missing` whose content the library has under another path; they do not count as
    missing, except in an empty root.
    """
    for root, inside in zip(roots, below(roots), strict=True):
        held = sum(path.startswith(inside) for path in known)
        absent = sum(path.startswith(inside) for path in missing)
        lost = absent - sum(path.startswith(inside) for path in moved)
        if absent and os.path.isdir(root) and _is_empty(root):
            return (
                f"{root}: empty, and {absent} of {held} files of the library were below it; "
                f"nothing was removed; {PRUNE_ALL}"
            )
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
    was removed and what is missing still, drops unfinished contents, and returns the removed paths.
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
    outcomes.stats.removed = len(gone) - len(moved)
    outcomes.stats.missing = len(missing) - len(gone)
    writer.drop_unfinished()
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
