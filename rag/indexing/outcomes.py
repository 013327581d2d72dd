"""What becomes of each file of an indexing run: the paths stored, the problems, and the counts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from corpora.records import Problem
from corpora.scan import Scan
from rag.errors import FileProblem, StalledFile, UnreadableFile
from rag.indexing.planning import Group, below, is_gone, row_of
from rag.indexing.report import Progress, reason_of
from rag.store.writing import Writer


@dataclass
class IndexingStats:
    """What a run did, for the report and for the scan cache."""

    library_id: str = ""
    indexed: int = 0
    unchanged: int = 0
    backfilled: int = 0
    """Unchanged videos that were measured."""
    moved: int = 0
    missing: int = 0
    removed: int = 0
    clips: int = 0
    passages: int = 0
    video_seconds: float = 0.0
    problems: list[Problem] = field(default_factory=list)
    stages: list[str] = field(default_factory=list)
    """One line for each stage: on, or off and why."""
    deferred: set[str] = field(default_factory=set)
    """Paths left for another run: past the `limit`, changed while they were read, or stalled."""
    forgotten: list[str] = field(default_factory=list)
    """Paths that are no longer in the library."""


class FileOutcomes:
    """Writes the rows of paths and problems of one run, and counts; `stats` is the result."""

    def __init__(self, writer: Writer, progress: Progress) -> None:
        self.stats = IndexingStats()
        self._writer = writer
        self._progress = progress
        self._rows = writer.files()
        """What each path held when the run began; a run comes to each path once."""

    def publish(self, group: Group) -> None:
        """Store which paths hold this content; a path that held another content loses that first."""
        rows = self._rows
        changed = [
            f.path for f in group.fresh if f.path in rows and rows[f.path].content_id != group.content_id
        ]
        if changed:
            self._writer.remove_paths(changed)
        for found in group.fresh:
            self._writer.put_file(row_of(found, group.content_id))
            self._writer.clear_problem(found.path)

    def count_indexed(self, group: Group, *, clips: int = 0, passages: int = 0, seconds: float = 0.0) -> None:
        """Count a new content with all its paths."""
        self.stats.indexed += 1
        self.stats.moved += len(group.files) - 1
        self.stats.clips += clips
        self.stats.passages += passages
        self.stats.video_seconds += seconds

    def require_unchanged(self, group: Group) -> None:
        """Raise `UnreadableFile` where the file that was read is no longer the one that was hashed."""
        found = group.first
        try:
            now = os.stat(found.path)
        except OSError:
            return  # gone, but it was read to its end
        if (now.st_size, now.st_mtime_ns) != (found.size, found.mtime_ns):
            self.stats.deferred.update(f.path for f in group.files)
            raise UnreadableFile("it changed while it was read; run the same command again once it rests")

    def skip_file(self, group: Group, problem: FileProblem) -> None:
        """Nothing of this content can be used: every path of it gets a problem, and no row stays."""
        self._writer.remove_paths([f.path for f in group.files])
        if isinstance(problem, StalledFile):  # the machine's fault as often as the file's
            self.stats.deferred.update(f.path for f in group.files)
        reason = reason_of(problem, group.first.path)
        for found in group.files:
            # Without a stamp it is tried again, changed or not.
            stamp = "" if found.path in self.stats.deferred else found.stamp
            self._record(Problem(found.path, reason), stamp)

    def record_partial(self, group: Group, reason: str, action: str) -> None:
        """A content that is usable in part."""
        for found in group.files:
            self._record(Problem(found.path, reason, action), found.stamp)

    def append_problem(self, group: Group, reason: str, action: str) -> None:
        """As `record_partial`, of a content that may have a problem already: the reason is added to it."""
        for found in group.files:
            earlier = next((problem for problem in self.stats.problems if problem.path == found.path), None)
            if earlier is None:
                self._record(Problem(found.path, reason, action), found.stamp)
            elif reason not in earlier.reason:
                self.stats.problems.remove(earlier)
                joined = Problem(found.path, f"{earlier.reason}; {reason}", earlier.action)
                self._record(joined, found.stamp)

    def report(self, problems: Iterable[Problem]) -> None:
        """Problems of this run alone, which the library does not keep."""
        for problem in problems:
            self.stats.problems.append(problem)
            self._progress.problem(problem)

    def keep_scan_problems(self, problems: Sequence[Problem], scan: Scan, roots: Sequence[str]) -> None:
        """Store the problems of the scan, and clear those below `roots` that are solved."""
        stored, stamps = self._writer.problems(), {f.path: f.stamp for f in scan.files}
        still = set(self.stats.problems)
        for problem in problems:
            if problem not in still:
                continue
            stamp = stamps.get(problem.path, "")
            if stored.get(problem.path) != (problem, stamp):
                self._writer.put_problem(problem, stamp)
        bad = {problem.path for problem in self.stats.problems}
        for path in stored.keys() - bad:
            if path in stamps or (path.startswith(below(roots)) and is_gone(path)):
                self._writer.clear_problem(path)
                self.stats.forgotten.append(path)

    def _record(self, problem: Problem, stamp: str) -> None:
        self._writer.put_problem(problem, stamp)
        self.report([problem])
