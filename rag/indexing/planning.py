"""Compares the files found with the library, by content, not by name, and so plans what is left to do."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from corpora.identity import content_hash
from corpora.records import Problem
from corpora.scan import FoundFile, Scan
from rag.errors import FileProblem
from rag.indexing.missing import find_missing
from rag.indexing.report import reason_of
from rag.store.records import FileRow
from rag.store.writing import Writer


@dataclass(frozen=True, slots=True)
class Group:
    """Files of one content. The first path is the one read; the sidecars of all of them belong to it."""

    content_id: str
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
    """Content that the library has, under paths that it does not know yet."""
    unchanged: int = 0
    problems: list[Problem] = field(default_factory=list)
    """Files that cannot be read, now or when they were last tried and unchanged since."""
    missing: list[str] = field(default_factory=list)
    """Paths of the library below these roots that are no longer on disk."""
    moved: list[str] = field(default_factory=list)
    """Those of `missing` whose content was found under another path, or is known under one."""


def make_plan(scan: Scan, roots: Sequence[str], writer: Writer) -> Plan:
    """Compare the files found with the library; hashes what is new or changed."""
    rows, ready, problems = writer.files(), writer.stage_fingerprints(), writer.problems()
    published = {row.content_id for row in rows.values() if row.kind == "passages"}
    plan = Plan(problems=list(scan.problems))
    by_content: dict[str, list[FoundFile]] = {}
    fresh: set[str] = set()
    for found in scan.files:
        row, earlier = rows.get(found.path), problems.get(found.path)
        if earlier is not None and earlier[1] == found.stamp:
            plan.problems.append(earlier[0])
            if row is None:
                continue
        if row is not None and row.stamp == found.stamp:
            content_id = row.content_id
        else:
            try:
                content_id = content_hash(found.path)
            except FileProblem as problem:
                plan.problems.append(Problem(found.path, reason_of(problem, found.path)))
                continue
            fresh.add(found.path)
        by_content.setdefault(content_id, []).append(found)
    for content_id, files in by_content.items():
        group = Group(
            content_id,
            tuple(files),
            tuple(f for f in files if f.path in fresh),
            tuple(sorted({sidecar for f in files for sidecar in f.sidecars})),
        )
        if files[0].kind == "passages":
            done = content_id in published
        else:
            stages = ready.get(content_id)
            done = stages is not None and stages.get("sidecars") == sidecar_hash(group.sidecars)
        if not done:
            plan.groups.append(group)
        elif group.fresh:
            plan.known.append(group)
        if done and files[0].kind != "passages":
            plan.ready.append(group)
        plan.unchanged += len(group.files) - len(group.fresh) if done else 0
    plan.missing = find_missing(rows, {f.path for f in scan.files}, roots)
    lost = set(plan.missing)
    here = by_content.keys() | {row.content_id for path, row in rows.items() if path not in lost}
    plan.moved = [path for path in plan.missing if rows[path].content_id in here]
    return plan


def row_of(found: FoundFile, content_id: str) -> FileRow:
    """The library's row for a file found."""
    return FileRow(
        found.path, content_id, found.kind, found.size, found.mtime_ns, found.ctime_ns, found.stamp
    )


def sidecar_hash(paths: Iterable[str]) -> str:
    """Hash over the contents of sidecar files, without their names; empty for none.

    One that cannot be read counts as its absence, and is reported when it is read.
    """
    digest = hashlib.blake2b(digest_size=16)
    some = False
    for path in paths:
        try:
            digest.update(hashlib.blake2b(Path(path).read_bytes()).digest())
            some = True
        except OSError:
            continue
    return digest.hexdigest() if some else ""
