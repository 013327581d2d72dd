"""What becomes of each file of an indexing run: the paths stored, the problems, and the counts."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from corpora.errors import ChangedFile, OverLimit, UnfetchedFile, reason_of
from corpora.objects import is_url
from corpora.records import SKIPPED, Problem
from corpora.scan import FoundFile, Scan, mtime_ns
from corpora.settings import LOCAL, StorageSettings
from rag.errors import FileProblem, WorkerLost
from rag.indexing.interrupts import uninterrupted
from rag.indexing.missing import below, find_gone
from rag.indexing.planning import Group, Plan, limit_stamp, row_of, still_holds
from rag.indexing.report import IndexReport, Progress
from rag.store.records import NotedProblem
from rag.store.writing import Writer


def require_unchanged(found: FoundFile) -> None:
    """Raise `ChangedFile` where the file that was read is no longer the one that was hashed."""
    if is_url(found.path):
        return  # what was read is the copy that was hashed
    try:
        now = os.stat(found.path)
    except OSError:
        return  # gone, but it was read to its end
    if (now.st_size, mtime_ns(now)) != (found.size, found.mtime_ns):
        raise ChangedFile(found.path)


def is_unread(group: Group, problem: FileProblem) -> bool:
    """Whether nothing was learnt of the file: what the library has under its paths stays."""
    if isinstance(problem, WorkerLost):
        return True
    return is_url(group.first.path) and isinstance(problem, ChangedFile | UnfetchedFile)


@dataclass(frozen=True, slots=True)
class Done:
    """What a content gave; where it is usable in part, what is wrong with it, and what was done about it."""

    clips: int = 0
    passages: int = 0
    seconds: float = 0.0
    reason: str = ""
    action: str = ""


def changed_problems(
    plan: Plan,
    scan: Scan,
    roots: Sequence[str],
    found: Collection[Problem],
    held: Mapping[str, NotedProblem],
    storage: StorageSettings,
) -> tuple[dict[Problem, str], list[str]]:
    """The problems of a plan that a library lacks, with their stamps; and paths whose problems are solved.

    `found`: all problems of the run; `held`: those of the library, by path.
    """
    stamps = {file.path: file.stamp for file in scan.files}
    known = {noted.problem for noted in held.values()}
    new = {each: stamps.get(each.path, "") for each in plan.problems if each in found and each not in known}
    solved = sorted(held.keys() - {problem.path for problem in found})
    gone = find_gone((p for p in solved if p not in stamps and p.startswith(below(roots))), storage)
    return new, [*(path for path in solved if path in stamps), *gone]


class FileOutcomes:
    """Writes the rows of paths and problems of one run, and counts them in its report."""

    def __init__(
        self,
        writer: Writer,
        progress: Progress,
        result: IndexReport,
        storage: StorageSettings = LOCAL,
        limits: str = "",
    ) -> None:
        """`limits`: of reading files (`rag.indexing.planning.limits_of`)."""
        self.result = result
        self._storage = storage
        self._limits = limits
        self._writer = writer
        self._progress = progress
        self._reported: set[Problem] = set()

    def publish(self, *groups: Group) -> None:
        """Store which paths hold these contents; a path that held another content loses that first.

        A problem of the path goes, but for one that says what of this content can be used.
        """
        fresh = [(found, group.content_id) for group in groups for found in group.fresh]
        held = {found.path: self._writer.file(found.path) for found, _ in fresh}
        changed = [
            found.path
            for found, content_id in fresh
            if (row := held[found.path]) is not None and row.content_id != content_id
        ]
        if changed:
            # Files that swapped their names: each content is named again below.
            self._writer.remove_paths(changed, keep={group.content_id for group in groups})
        solved = []
        for found, content_id in fresh:
            noted, row = self._writer.problem(found.path), held[found.path]
            same = row is not None and row.content_id == content_id
            if noted is None or noted.problem.action == SKIPPED or not still_holds(noted, found, same):
                solved.append(found.path)
            else:
                self._writer.put_problem(noted.problem, found.stamp)
            self._writer.put_file(row_of(found, content_id))
        self._writer.clear_problem(*solved)

    def keep_problem(self, group: Group, done: Done) -> None:
        """Store what is wrong with a content that is usable in part, before it can be seen."""
        if done.reason:
            for found in group.files:
                self._writer.put_problem(Problem(found.path, done.reason, done.action), found.stamp)

    @uninterrupted()
    def finish(self, group: Group, done: Done) -> None:
        """Store the paths, which makes passages visible, and count a new content with all its paths."""
        self.keep_problem(group, done)
        self.publish(group)
        self.result.indexed += 1
        self.result.copies += len(group.files) - 1
        self.result.clips += done.clips
        self.result.passages += done.passages
        self.result.video_seconds += done.seconds
        if done.reason:
            self.report(Problem(found.path, done.reason, done.action) for found in group.files)
        else:
            self._writer.clear_problem(*(found.path for found in group.files))

    @uninterrupted()
    def skip_file(self, group: Group, problem: FileProblem) -> None:
        """Skip an unusable content: every path of it gets a problem, and no row stays.

        What the library has stays where the file was not read (`is_unread`).
        """
        known = [found.path for found in group.files if self._writer.file(found.path) is not None]
        if known and not is_unread(group, problem):
            self._writer.remove_paths(known)
        reason = reason_of(problem, group.first.path)
        for found in group.files:
            # Without a stamp it is tried again, changed or not.
            stamp = found.stamp if problem.lasting else ""
            if isinstance(problem, OverLimit):
                stamp = limit_stamp(found, self._limits)
            self._record(Problem(found.path, reason), stamp)

    def note(self, line: str) -> None:
        """One line for the report."""
        self.result.stages.append(line)
        self._progress.note(line)

    def append_problem(self, group: Group, reason: str, action: str) -> None:
        """Record what is wrong with a content that may have a problem already: the reason is added to it."""
        for found in group.files:
            earlier = next((problem for problem in self.result.problems if problem.path == found.path), None)
            if earlier is None:
                self._record(Problem(found.path, reason, action), found.stamp)
            elif reason not in earlier.reason:
                self.result.problems.remove(earlier)
                joined = Problem(found.path, f"{earlier.reason}; {reason}", earlier.action)
                self._record(joined, found.stamp)

    def report(self, problems: Iterable[Problem]) -> None:
        """Problems of this run alone, which the library does not keep; each once."""
        for problem in problems:
            if problem not in self._reported:
                self._reported.add(problem)
                self.result.problems.append(problem)
                self._progress.problem(problem)

    def keep_scan_problems(self, plan: Plan, scan: Scan, roots: Sequence[str]) -> None:
        """Store the problems of the plan, and clear those below `roots` that are solved."""
        found, held = set(self.result.problems), self._writer.problems()
        new, solved = changed_problems(plan, scan, roots, found, held, self._storage)
        for problem, stamp in new.items():
            self._writer.put_problem(problem, stamp)
        self._writer.clear_problem(*solved)

    def _record(self, problem: Problem, stamp: str) -> None:
        self._writer.put_problem(problem, stamp)
        self.report([problem])
