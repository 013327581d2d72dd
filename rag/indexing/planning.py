"""What a run has to do: files that are new or changed by content, and files that are gone.

What an object is, is known when it is fetched to be indexed. Only one whose size is that of another file,
which may be the same or a moved one, is read for its hash before.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from corpora.errors import reason_of
from corpora.fetching import content_id
from corpora.objects import is_url
from corpora.passages.pdf import NO_TEXT_LAYER
from corpora.records import SKIPPED, Problem
from corpora.scan import FoundFile, Scan
from corpora.scan import scan as scan_files
from corpora.settings import StorageSettings
from indexers.ocr import reads_text
from rag.errors import FileProblem, UnreadableFile
from rag.indexing.missing import find_gone, find_missing
from rag.store.copying import is_other_format
from rag.store.layout import Location, open_layout
from rag.store.reading import Reader
from rag.store.records import FileRow, NotedProblem, document_paths
from rag.store.sidecars import distinct_sidecars, sidecar_hash

if TYPE_CHECKING:
    from rag.settings import Settings
    from rag.store.snapshot import Snapshot
    from rag.store.writing import Writer


@dataclass(frozen=True, slots=True)
class Group:
    """Files of one content. The first path is the one read; the sidecars of all of them belong to it."""

    content_id: str
    """Empty for a file that is yet to be hashed."""
    files: tuple[FoundFile, ...]
    fresh: tuple[FoundFile, ...]
    """Those whose row is new or changed."""
    sidecars: tuple[str, ...]

    @property
    def first(self) -> FoundFile:
        """The file that is read."""
        return self.files[0]

    @property
    def is_media(self) -> bool:
        """Whether it is a video or audio, and no document."""
        return self.first.kind != "passages"


@dataclass
class Plan:
    """One run's work. `groups` are in the order of their first paths."""

    groups: list[Group] = field(default_factory=list)
    """To be indexed: their content is new, was taken out by a repair, or has other sidecars."""
    known: list[Group] = field(default_factory=list)
    """Content that the library has, under paths or with file times that it does not know yet."""
    unchanged: set[str] = field(default_factory=set)
    """Paths that the library has with the content found there."""
    arrived: int = 0
    """Files of `known` whose path the library does not have with this content."""
    problems: list[Problem] = field(default_factory=list)
    """Files that cannot be read, now or when they were last tried and unchanged since."""
    missing: list[str] = field(default_factory=list)
    """Paths of the library below these roots that are no longer on disk."""
    moved: list[str] = field(default_factory=list)
    """Those of `missing` whose content was found under another path, or is known under one."""
    emptied: list[str] = field(default_factory=list)
    """Paths of the library whose files have 0 bytes now."""
    joined: dict[str, str] = field(default_factory=dict)
    """By path of the library whose file is a sidecar or cover now, the path of what it belongs to."""

    def ended(self, held: Container[str]) -> list[str]:
        """Paths whose rows go: emptied files, and sidecars or covers whose owner is among `held`, the indexed
        paths."""
        return [*self.emptied, *(path for path, owner in self.joined.items() if owner in held)]


class StoredRows(NamedTuple):
    """What a library holds."""

    files: Mapping[str, FileRow]
    """Rows of files, by path."""
    stages: Mapping[str, Mapping[str, Any]]
    """The stages of each video, as `Writer.put_video` was given them."""
    problems: Mapping[str, NotedProblem]
    """Problems, by path."""

    @classmethod
    def of_writer(cls, writer: Writer) -> StoredRows:
        """Rows as the writer has written them."""
        return cls(writer.files(), writer.stage_fingerprints(), writer.problems())

    @classmethod
    def of(cls, s: Snapshot) -> StoredRows:
        """Rows of a snapshot."""
        stages = {video_id: s.stages(video_id) for video_id in s.video_rows}
        return cls({row.path: row for row in s.file_rows}, stages, s.noted_problems())

    @classmethod
    def read(cls, folder: Location) -> StoredRows:
        """Read the library of a folder without its lock; no rows where there is no library."""
        if not open_layout(folder).exists():
            return cls({}, {}, {})
        with Reader.open(folder) as reader:
            return reader.ask(cls.of)


def make_plan(
    scan: Scan,
    roots: Sequence[str],
    indexed: StoredRows,
    settings: Settings,
    identify: Callable[[FoundFile], str] | None = None,
    *,
    hash_later: bool = False,
) -> Plan:
    """Compare the files found with what is `indexed`.

    `identify`: the content id of a file that is new or changed, empty for one that is yet to be hashed;
    default by its content. `hash_later`: files are hashed by whoever indexes them, as objects always are, but
    for those that may be known or copies. A `FileProblem` that it raises is a problem of the plan. What
    exceeded the limits of reading is not tried again under the same ones; a PDF that was skipped for lack of
    OCR is, where there is OCR now.
    """
    storage = settings.storage
    rows, ready = indexed.files, indexed.stages
    problems = indexed.problems
    if reads_text(settings.ocr):
        problems = {p: noted for p, noted in problems.items() if NO_TEXT_LAYER not in noted.problem.reason}
    published = document_paths(rows.values())
    plan = Plan(problems=list(scan.problems))
    identify = identify or _by_content(scan, rows, storage, hash_later=hash_later)
    identified = _identify(scan.files, rows, problems, identify, limits_of(settings), plan)
    by_content = identified.by_content
    held = Counter(row.content_id for row in rows.values())
    scanned = {f.path for f in scan.files}
    elsewhere = _sidecars_elsewhere(rows, scanned, by_content.keys(), settings.scan.within)
    for content, files in by_content.items():
        group = Group(
            "" if content in identified.unread else content,
            tuple(files),
            tuple(f for f in files if f.path in identified.fresh),
            distinct_sidecars(sorted(elsewhere.get(content, set()).union(*(f.sidecars for f in files)))),
        )
        if group.is_media:
            stages = ready.get(content)
            done = stages is not None and (
                _has_known_sidecars(group, held[content])
                or stages.get("sidecars") == sidecar_hash(group.sidecars, storage)
            )
        else:
            paths = published.get(content, ())
            left = [path for path in paths if path not in scanned]
            done = bool(paths) and not (
                is_other_format(files, paths) and len(find_gone(left, storage)) == len(left)
            )
        if not done:
            plan.groups.append(group)
            continue
        plan.problems += [identified.noted[f.path] for f in files if f.path in identified.noted]
        if group.fresh:
            plan.known.append(group)
        there = {f.path for f in files if f.path in rows and rows[f.path].content_id == content}
        plan.unchanged |= there
        plan.arrived += len(files) - len(there)
    plan.missing = find_missing(rows, scanned, roots, storage)
    plan.moved = _moved(plan.missing, rows, by_content.keys())
    plan.emptied = [path for path in scan.empty if path in rows]
    plan.joined = {path: owner for path, owner in scan.belonging.items() if path in rows}
    return plan


@dataclass
class _Identified:
    """The files found that can be read, by what they are."""

    by_content: dict[str, list[FoundFile]] = field(default_factory=dict)
    """By content id, or path of a file that is yet to be hashed."""
    fresh: set[str] = field(default_factory=set)
    """Paths whose row is new or changed."""
    unread: set[str] = field(default_factory=set)
    """Paths of files that are yet to be hashed."""
    noted: dict[str, Problem] = field(default_factory=dict)
    """Path to its problem of before, which holds while the content is not indexed again."""


def _identify(
    files: Iterable[FoundFile],
    rows: Mapping[str, FileRow],
    problems: Mapping[str, NotedProblem],
    identify: Callable[[FoundFile], str],
    limits: str,
    plan: Plan,
) -> _Identified:
    """What files are, by their rows where they are unchanged; `plan` takes those that cannot be read."""
    result = _Identified()
    for found in files:
        row, earlier = rows.get(found.path), problems.get(found.path)
        if (
            earlier is not None
            and row is None
            and earlier.stamp in (found.stamp, limit_stamp(found, limits))
            and earlier.problem.action == SKIPPED
        ):
            plan.problems.append(earlier.problem)
            continue
        if row is not None and row.stamp == found.stamp:
            content = row.content_id
        else:
            try:
                content = identify(found)
            except FileProblem as problem:
                plan.problems.append(Problem(found.path, reason_of(problem, found.path)))
                continue
            result.fresh.add(found.path)
        if earlier is not None and still_holds(earlier, found, row is not None and row.content_id == content):
            result.noted[found.path] = earlier.problem
        if not content:
            result.unread.add(found.path)
        result.by_content.setdefault(content or found.path, []).append(found)
    return result


def _moved(missing: Sequence[str], rows: Mapping[str, FileRow], contents: Collection[str]) -> list[str]:
    """The missing paths whose content is among `contents`, or has another path."""
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


def limits_of(settings: Settings) -> str:
    """Hash over the settings that decide whether a file exceeds the limits of its reader."""
    chosen = [settings.reading.model_dump(mode="json"), settings.video.decoder]
    return hashlib.blake2b(json.dumps(chosen, sort_keys=True).encode(), digest_size=8).hexdigest()


def limit_stamp(found: FoundFile, limits: str) -> str:
    """The stamp of the problem of a file that exceeded `limits`: it holds until these or the file change."""
    return f"{found.stamp} {limits}"


def still_holds(noted: NotedProblem, found: FoundFile, same: bool) -> bool:
    """Whether a stored problem is one of the file as it is now; `same`: its path had that content before."""
    return noted.stamp == found.stamp or (same and noted.problem.action != SKIPPED)


def _by_content(
    scan: Scan, rows: Mapping[str, FileRow], storage: StorageSettings, *, hash_later: bool
) -> Callable[[FoundFile], str]:
    shares = shares_its_size(scan, rows)

    def identify(found: FoundFile) -> str:
        if (hash_later or is_url(found.path)) and not shares(found):
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


LEAST_SECONDS = 5.0
"""A photograph or a shorter file counts as so much video: it is opened, and an image is read."""


def work_seconds(duration: float) -> float:
    """What a file of so many seconds counts in the progress of a run, and in how long it takes."""
    return max(duration, LEAST_SECONDS)


def row_of(found: FoundFile, content_id: str) -> FileRow:
    """The library's row for a file found."""
    return FileRow(
        found.path, content_id, found.kind, found.size, found.mtime_ns, found.ctime_ns, found.stamp
    )
