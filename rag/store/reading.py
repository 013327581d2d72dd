"""Reading a library: a pinned snapshot that never blocks and is never blocked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from corpora.records import EvidenceKind
from rag.store import vectors
from rag.store.error_mapping import TableGone
from rag.store.finding import require_library
from rag.store.layout import Layout, Location, open_layout
from rag.store.records import PULLED, FileRow, Meta
from rag.store.snapshot import EVERYTHING as EVERYTHING
from rag.store.snapshot import Snapshot

P = ParamSpec("P")
T = TypeVar("T")


def _asked(question: Callable[Concatenate[Snapshot, P], T]) -> Callable[Concatenate[Reader, P], T]:
    """A question to a snapshot as a method of `Reader`, which asks its pinned one."""

    @wraps(question)
    def ask(self: Reader, /, *args: P.args, **options: P.kwargs) -> T:
        return self.ask(lambda s: question(s, *args, **options))

    return ask


class Reader:
    """Made by `Reader.open`; a context manager, and safe to share between threads.

    It sees the library as the last commit before it was opened or refreshed left it. If a writer has
    meanwhile cleaned those versions away, it takes up the newest commit and goes on.
    """

    def __init__(
        self, layouts: Sequence[Layout], hidden: Collection[EvidenceKind] = (), exact_rows: int | None = None
    ) -> None:
        self._layouts = layouts
        self._hidden = frozenset(hidden)
        self._exact_rows = exact_rows
        self._lock = threading.RLock()
        self.refreshes = 0
        """How often the newest versions were taken up: ids that were found before may be gone."""
        self._marks = [mark for layout in layouts if (mark := layout.reader_mark()) is not None]
        try:
            self.refresh()
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(
        cls,
        folder: Location,
        *others: Location,
        hidden: Collection[EvidenceKind] = (),
        exact_rows: int | None = None,
    ) -> Reader:
        """`others`: libraries that are read with it as one, see `JoinedSnapshot`. `hidden`: kinds of evidence
        that are neither given nor searched. `exact_rows`: tables of vectors with more rows are searched by
        LanceDB's index of them; None searches all tables exactly.

        Raises `LibraryNotFound`, `LibraryTooNew` or `LibraryCorrupt`; `LibraryError` where libraries that are
        to be read as one were made in different ways; `StoreError` where an object store fails, of several
        libraries all (`left_out`).
        """
        layouts = [open_layout(each) for each in (folder, *others)] if others else [require_library(folder)]
        return cls(layouts, hidden, exact_rows)

    def refresh(self) -> None:
        """Take up the last commit."""
        with self._lock:
            if len(self._layouts) == 1:
                self._snapshot = Snapshot(self._layouts[0], self._exact_rows, self._hidden)
            else:
                from rag.store.joined import JoinedSnapshot

                self._snapshot = JoinedSnapshot(self._layouts, self._exact_rows, self._hidden)
            self.refreshes += 1

    def ask(self, question: Callable[[Snapshot], T]) -> T:
        """The answer of one pinned snapshot; of a newer one where files of that are gone.

        Questions of several threads are answered side by side.
        """
        with self._lock:
            snapshot = self._snapshot
        try:
            return question(snapshot)
        except TableGone:
            with self._lock:
                if self._snapshot is snapshot:
                    self.refresh()
                snapshot = self._snapshot
            return question(snapshot)

    @property
    def left_out(self) -> tuple[str, ...]:
        """A line for each of several libraries that is not read, because its object store fails."""
        return self._snapshot.left_out

    @property
    def folder(self) -> Location:
        """Where the library is; the first of several."""
        return self._layouts[0].folder

    @property
    def folders(self) -> list[Location]:
        """Where all its libraries are."""
        return [layout.folder for layout in self._layouts]

    @property
    def meta(self) -> Meta | None:
        """Encoders and settings; None for a library that was never given anything."""
        return self._snapshot.meta

    @property
    def is_pulled(self) -> bool:
        """Whether it was copied from an object store, so that its files may be on other machines."""
        return self.meta is not None and PULLED in self.meta.settings

    def file_rows(self) -> list[FileRow]:
        """Every indexed path with what was known of its file, sorted by path."""
        return self.ask(lambda s: list(s.file_rows))

    def check_files(self, *, progress: Callable[[int, int], object] = lambda *_: None) -> dict[str, str]:
        """What is wrong with the files of each library, as of `rag.store.checking.check_files_of`."""
        from rag.store.checking import check_files_of

        found = [check_files_of(layout, progress=progress) for layout in self._layouts]
        return {name: fault for faults in found for name, fault in faults.items()}

    contents = _asked(Snapshot.contents)
    stats = _asked(Snapshot.stats)
    problems = _asked(Snapshot.problems)
    taken_out = _asked(Snapshot.taken_out)

    files = _asked(Snapshot.files)
    copies = _asked(Snapshot.copies)
    files_of = _asked(Snapshot.files_of)
    paths = _asked(Snapshot.paths)
    indexed_paths = _asked(Snapshot.indexed_paths)
    passage_files = _asked(Snapshot.passage_files)

    videos = _asked(Snapshot.videos)
    video = _asked(Snapshot.video)
    stages = _asked(Snapshot.stages)
    shots = _asked(Snapshot.shots)
    shots_by_video = _asked(Snapshot.shots_by_video)
    sound_track = _asked(Snapshot.sound_track)

    clips = _asked(Snapshot.clips)
    clips_by_id = _asked(Snapshot.clips_by_id)
    frames = _asked(vectors.fetch)
    clip_vectors = _asked(Snapshot.clip_vectors)

    evidence_kinds = _asked(Snapshot.evidence_kinds)
    evidence = _asked(Snapshot.evidence)
    evidence_beside = _asked(Snapshot.evidence_beside)
    evidence_of = _asked(Snapshot.evidence_of)
    span_vectors = _asked(Snapshot.span_vectors)
    spans = _asked(Snapshot.spans)

    passages = _asked(Snapshot.passages)
    passage_paths = _asked(Snapshot.passage_paths)
    passages_with_paths = _asked(Snapshot.passages_with_paths)
    passages_of = _asked(Snapshot.passages_of)

    search_clips = _asked(Snapshot.search_clips)
    count_clips = _asked(Snapshot.count_clips)
    search_evidence = _asked(Snapshot.search_evidence)
    search_passages = _asked(Snapshot.search_passages)
    match_evidence = _asked(Snapshot.match_evidence)
    match_passages = _asked(Snapshot.match_passages)

    def close(self) -> None:
        """Release the pinned versions, so that compaction may remove them."""
        for mark in self._marks:
            mark.release()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
