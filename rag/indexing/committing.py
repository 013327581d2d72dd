"""Staged bundles into the library, in groups: about ten commits a group, however many contents it has.

The order is that of indexing: paths, `pending`, rows, `ready`, and of documents rows, then paths. A bundle is
removed from staging after that alone, so whatever is killed, the next commit goes on from what is staged and
what is ready.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from corpora.objects import StoredObject
from corpora.records import Problem
from corpora.scan import FoundFile
from rag.errors import FileProblem, UnfetchedFile, UnreadableFile
from rag.indexing.outcomes import Done, FileOutcomes
from rag.indexing.planning import Group, document_paths, is_other_format
from rag.store.bundles import Bundle, BundleHead, BundleInvalid
from rag.store.copying import video_tables
from rag.store.records import FileRow, NotedProblem
from rag.store.staging import Staging, content_of
from rag.store.writing import Writer

GROUP_BYTES = 2**29
"""Most bytes of bundles in memory at once."""


@dataclass(frozen=True, slots=True)
class _New:
    """A content that the library lacks, with its paths."""

    group: Group
    bundle: Bundle

    @property
    def done(self) -> tuple[Group, Done]:
        """What it gave, as `FileOutcomes` takes it."""
        return self.group, _done(self.bundle)


@dataclass
class _Work:
    """What is to be done for one group."""

    videos: list[_New] = field(default_factory=list)
    sources: list[_New] = field(default_factory=list)
    known: list[Group] = field(default_factory=list)
    bad: list[tuple[Group, FileProblem]] = field(default_factory=list)
    problems: list[NotedProblem] = field(default_factory=list)
    replaced: set[str] = field(default_factory=set)


class Committer:
    """Commits what is staged for a library whose lock `writer` holds."""

    def __init__(
        self,
        writer: Writer,
        staging: Staging,
        outcomes: FileOutcomes,
        *,
        group: int,
        committed: Callable[[BundleHead], None] = lambda _: None,
    ) -> None:
        """`group`: most contents that are committed together. `committed` is called for each bundle."""
        self._writer = writer
        self._staging = staging
        self._outcomes = outcomes
        self._group = group
        self._committed = committed

    def commit(self) -> None:
        """Commit all that waits now. A bundle that cannot be read is a problem, and is removed."""
        waiting = self._staging.waiting()
        named = Counter(map(content_of, waiting))
        for part in _groups(waiting, self._group):
            bundles = [bundle for staged in part if (bundle := self._read(staged)) is not None]
            self._writer.put_devices({bundle.head.device for bundle in bundles} - {""})
            # A moved file's content may lose its earlier name to another file before it gets the new one.
            self._outcomes.arriving = frozenset(+named)
            self._commit(self._sorted(bundles))
            named.subtract(map(content_of, part))
            self._outcomes.arriving = frozenset(+named)
            self._writer.drop_nameless(set(map(content_of, part)) - self._outcomes.arriving)
            self._staging.remove(part)
            for bundle in bundles:
                self._committed(bundle.head)

    def close(self) -> None:
        """Commit what waits, and note how much is staged that does not fit the library."""
        self.commit()
        if others := self._staging.others():
            self._outcomes.note(
                f"{others} staged contents were made with other encoders or settings than this library's; "
                "they are left in its folder staging"
            )

    def _read(self, staged: StoredObject) -> Bundle | None:
        try:
            return self._staging.read(staged)
        except BundleInvalid as error:
            action = "removed; stage its files again with the same command"
            self._outcomes.report([Problem(f"staging/{staged.key}", str(error), action)])
            return None

    def _sorted(self, bundles: Iterable[Bundle]) -> _Work:
        """By what is to be done; contents that the library has keep their paths alone."""
        bundles = list(bundles)
        latest = _latest(bundles)
        stages = self._writer.stage_fingerprints()
        documents = document_paths(self._writer.files().values())
        done = documents.keys() | stages.keys()
        work = _Work()
        for bundle in bundles:
            head = bundle.head
            work.problems += head.problems
            if not (group := self._current(head, latest)).files:
                continue
            here = head.content_id in done
            if here and self._replaces(bundle, stages.get(head.content_id, {})):
                work.replaced.add(head.content_id)
                here = False
            read = documents.get(head.content_id)
            if here and not head.known and read and is_other_format(head.files, read):
                here = False
            if here:
                work.known.append(group)
            elif head.known:
                continue  # of a content that is gone: the next run finds the file
            elif _is_bad(head):
                work.bad.append((group, _problem(head)))
            else:
                (work.sources if bundle.video() is None else work.videos).append(_New(group, bundle))
                done.add(head.content_id)
        return work

    def _current(self, head: BundleHead, latest: Mapping[str, str]) -> Group:
        """Its paths, without those where the library or `latest` has a file that was changed later."""
        files = []
        for found in head.files:
            if latest[found.path] != head.content_id:
                continue
            row = self._writer.file(found.path)
            if row is None or row.content_id == head.content_id or _changed(row) <= _changed(found):
                files.append(found)
        return Group(head.content_id, tuple(files), tuple(files), ())

    def _replaces(self, bundle: Bundle, held: dict[str, Any]) -> bool:
        """Whether the finished content is the one that was to be replaced, and not a later one."""
        found = bundle.video()
        if found is None or bundle.head.replaces is None or bundle.head.replaces != held.get("sidecars"):
            return False
        return bool(found[1].get("sidecars") != held.get("sidecars"))

    def _commit(self, work: _Work) -> None:
        writer, outcomes = self._writer, self._outcomes
        outcomes.keep(work.problems)
        for group, problem in work.bad:
            outcomes.skip_file(group, problem)
        outcomes.publish(*(new.group for new in work.videos))
        outcomes.keep_problems(*(new.done for new in work.videos))
        outcomes.keep_problems(*(new.done for new in work.sources))
        writer.flush()
        if work.videos:
            bundles = [new.bundle for new in work.videos]
            writer.put_copies(
                dict(filter(None, (bundle.video() for bundle in bundles))),
                _joined(bundles, video_tables(writer.meta)),
                replaced=work.replaced,
            )
        if work.sources:
            passages = (rows for _, rows in _joined([new.bundle for new in work.sources], ["passages"]))
            writer.put_passage_copies([new.group.content_id for new in work.sources], passages)
        for new in work.videos:
            outcomes.count(*new.done)
        outcomes.publish(*(new.group for new in work.sources))
        for new in work.sources:
            outcomes.count(*new.done)
        outcomes.arrive(work.known)
        writer.flush()


def _latest(bundles: Iterable[Bundle]) -> dict[str, str]:
    """The content of each path: of several, that of the file that was changed last; of one state of a file,
    that of a later attempt that could read it."""
    pairs = [(found, bundle.head) for bundle in bundles for found in bundle.head.files]
    pairs.sort(key=lambda pair: (_changed(pair[0]), not _is_bad(pair[1])))
    return {found.path: head.content_id for found, head in pairs}


def _is_bad(head: BundleHead) -> bool:
    """Whether nothing of the content can be used."""
    return bool(head.reason and not head.action)


def _changed(file: FoundFile | FileRow) -> int:
    """When a file was changed last, in nanoseconds."""
    return max(file.mtime_ns, file.ctime_ns)


def _done(bundle: Bundle) -> Done:
    clips, passages = (bundle.tables[t].num_rows if t in bundle.tables else 0 for t in ("clips", "passages"))
    seconds = found[0].duration if (found := bundle.video()) is not None else 0.0
    return Done(clips, passages, seconds, bundle.head.reason, bundle.head.action)


def _problem(head: BundleHead) -> FileProblem:
    problem = UnfetchedFile(head.reason) if head.unread else UnreadableFile(head.reason)
    problem.lasting = not head.deferred
    return problem


def _joined(bundles: Sequence[Bundle], names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """The rows of several contents by table, so that each table has one commit."""
    import pyarrow as pa

    for name in names:
        if tables := [bundle.tables[name] for bundle in bundles if name in bundle.tables]:
            yield name, pa.concat_tables(tables)


def _groups(waiting: Sequence[StoredObject], most: int) -> Iterator[list[StoredObject]]:
    part: list[StoredObject] = []
    size = 0
    for staged in waiting:
        if part and (len(part) >= most or size + staged.size > GROUP_BYTES):
            yield part
            part, size = [], 0
        part.append(staged)
        size += staged.size
    if part:
        yield part
