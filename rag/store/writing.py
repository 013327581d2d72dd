"""The one writer of a library: what it writes is seen with its next commit, all of it or nothing.

Videos and documents are written as a whole, and those of some seconds are committed together; never amid the
passages of a document. An error is as a kill: what was not committed before it is written again by the next
run.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.records import Passage, Problem
from indexers.errors import OTHER_ENCODER, EncoderKind
from rag.errors import EncoderMismatch
from rag.settings import EXACT_ROWS
from rag.store import schema
from rag.store.database import Database
from rag.store.error_mapping import write_errors
from rag.store.finding import writable_library
from rag.store.layout import Layout, Location
from rag.store.maintenance import check_indexes, compact_if_due, index_text, maintain
from rag.store.records import TAKEN_OUT, EncoderRef, FileRow, Meta, NotedProblem, Removed, ScoreCalibration
from rag.store.schema import quoted
from rag.store.tables import EncoderSwitch, PathTable, VideoWriter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Writer(VideoWriter):
    """Made by `Writer.open`; a context manager that holds the library's lock.

    What is put waits for `flush`, which `maintain`, `close` and all that commits call too.
    """

    def __init__(self, layout: Layout, db: Database | None = None) -> None:
        """Its caller holds the lock. `db`: default, the tables as the last commit left them."""
        self._layout = layout
        self._held = ExitStack()
        db = db or Database(layout)
        for name in schema.FIRST_TABLES:
            db.create(name, schema.arrow_schema(name))
        super().__init__(db)
        self._files = PathTable(db, "files", schema.file_of, schema.file_rows)
        self._problems = PathTable(db, "problems", schema.problem_of, schema.problem_rows)
        self._sources: set[str] = set()
        """Sources that have passages."""
        if db.has("passages"):
            self._sources = set(db.rows("passages", ["source_id"])["source_id"].to_pylist())
        self._open_sources: set[str] = set()
        """Sources whose passages are being written, so that nothing is committed."""
        self._flushed = time.monotonic()
        if not db.head.number:
            db.commit()

    @classmethod
    def open(cls, folder: Location, *, create: bool = True) -> Writer:
        """Take the lock, and continue from the last commit.

        The folder must be a library, or new or empty. Raises `LibraryNotFound` (for any other folder; without
        `create` also for a new one), `LibraryBusy`, `LibraryReadOnly`, `LibraryFull`, `LibraryTooNew` or
        `LibraryCorrupt`.
        """
        layout = writable_library(folder, create=create)
        with write_errors(layout.folder):
            if not layout.exists():
                layout.begin()
            lock = layout.writer_lock()
        with ExitStack() as held:
            held.enter_context(lock)
            writer = cls(layout)
            writer._held = held.pop_all()
        return writer

    def check_files(self, exact_rows: int = EXACT_ROWS, *, afresh: bool = False) -> list[str]:
        """Raise `LibraryCorrupt` where a file of a table is gone or was cut; indexes that cannot be used are
        made again, and named. `exact_rows`: as of `maintain`. `afresh`: make all of them again."""
        return check_indexes(self._db, exact_rows, afresh=afresh)

    def renamed(self) -> dict[str, str]:
        """The first path, by id, of each video whose row has a path that none of its files has."""
        paths: dict[str, set[str]] = {}
        for path, row in self._files.rows().items():
            paths.setdefault(row.content_id, set()).add(path)
        return {v: min(paths[v]) for v, path in self._paths.items() if v in paths and path not in paths[v]}

    # What the library is made with

    @property
    def folder(self) -> Location:
        """Where the library is."""
        return self._layout.folder

    @property
    def cache(self) -> Path:
        """A folder on this machine for what may be lost at any time."""
        return self._layout.cache

    def set_meta(self, meta: Meta) -> Meta:
        """Choose encoders and settings, before the first row; gives back what was stored.

        `library_id` and `calibration` of `meta` are not looked at: they are the library's own.
        Raises `EncoderMismatch` where the library is of another encoder; a library
        without an image encoder may be given one.
        """
        held = self.meta
        if held is not None:
            self._refuse_other("text", held.text_encoder, meta.text_encoder)
            if held.image_encoder is not None:
                self._refuse_other("image", held.image_encoder, meta.image_encoder)
        library_id = held.library_id if held else uuid.uuid4().hex
        stored = replace(meta, library_id=library_id, calibration=held.calibration if held else None)
        self._db.meta = stored
        self.create_tables()
        self.flush()
        return stored

    def create_tables(self) -> None:
        """Make the tables of the library's encoders that are not there."""
        if (meta := self.meta) is None:
            return
        for name in schema.FULL_TEXT_TABLES:
            self._db.create(name, schema.arrow_schema(name, meta.text_encoder.dim))
            # Over an empty table too: it says how words are cut, also for rows that it does not hold yet.
            index_text(self._db, name)
        if (encoder := meta.image_encoder) is not None:
            self._db.create(schema.vectors_table(encoder), schema.arrow_schema("vectors", encoder.dim))

    def put_calibration(self, calibration: ScoreCalibration | None) -> None:
        """Store it in place of the one before, until the image encoder changes."""
        self._db.meta = replace(self._require_meta(), calibration=calibration)
        self.flush()

    def switch_encoder(self, encoder: EncoderRef, settings: Mapping[str, Any] | None = None) -> EncoderSwitch:
        """Begin or continue to encode all clips with another image encoder; text evidence stays as it is.

        `settings`: what `Meta.settings` holds from then on; default, what it holds.
        """
        held = self._require_meta()
        meta = replace(held, image_encoder=encoder, settings=settings or held.settings, calibration=None)

        return EncoderSwitch(self._db, held.image_encoder, meta, self.flush)

    def _refuse_other(self, kind: EncoderKind, held: EncoderRef, new: EncoderRef | None) -> None:
        if new is None or held.fingerprint != new.fingerprint:
            raise EncoderMismatch(
                f"{self._layout.folder}: made with {kind} encoder {held.name} ({held.fingerprint[:12]}), "
                f"not with {f'{new.name} ({new.fingerprint[:12]})' if new else 'none'}; "
                f"take that one, or {OTHER_ENCODER[kind]}"
            )

    # Files and problems

    def files(self) -> dict[str, FileRow]:
        """Every known path with what is known of it."""
        return self._files.rows()

    def file(self, path: str) -> FileRow | None:
        """What is known of a path; None for an unknown one."""
        return self._files.get(path)

    def put_file(self, row: FileRow) -> None:
        """Say that `row.path` holds that content, whose rows are written before.

        The content that the path held before stays; `remove_paths` comes first where the file has changed.
        """
        self._files.put(row.path, row)
        self._open_sources.discard(row.content_id)

    def problems(self) -> dict[str, NotedProblem]:
        """Problems by path."""
        return self._problems.rows()

    def problem(self, path: str) -> NotedProblem | None:
        """Problem of a path; None without one."""
        return self._problems.get(path)

    def put_problem(self, problem: Problem, stamp: str) -> None:
        """Note, in place of an older one, what was wrong with a file."""
        self._problems.put(problem.path, NotedProblem(problem, stamp))

    def clear_problem(self, *paths: str) -> None:
        """Remove the problems of these paths, of those that have one."""
        self._problems.forget(paths)

    # Passages

    def put_passages(
        self, source_id: str, passages: Sequence[Passage], vectors: NDArray[np.floating[Any]]
    ) -> None:
        """Put these passages in place of all that the source has. Nothing is committed until `put_file` says
        which path they are of.

        `vectors`: unit rows, float (n, text dim), one for each passage; stored as float16. Raises ValueError
        for another shape.
        """
        self.begin_passages(source_id)
        self.add_passages(source_id, passages, vectors)

    def begin_passages(self, source_id: str) -> None:
        """Remove what the source has, so that `add_passages` can add it in parts."""
        self._require_meta()
        self._open_sources.add(source_id)
        if source_id in self._sources:
            shown = [path for path, row in self._files.rows().items() if row.content_id == source_id]
            self._files.forget(shown)
            self._erase_sources({source_id})

    def add_passages(
        self, source_id: str, passages: Sequence[Passage], vectors: NDArray[np.floating[Any]]
    ) -> None:
        """Add passages to a source, each once, after `begin_passages`.

        `vectors`: unit rows, float (n, text dim), one for each passage; stored as float16. Raises ValueError
        for another shape.
        """
        dim = self._require_meta().text_encoder.dim
        self._add_passages(schema.passage_rows(source_id, passages, vectors, dim))

    def drop_passages(self, source_id: str) -> None:
        """Remove what was added of a source of which no path was said."""
        if source_id in self._open_sources:
            self._erase_sources(self._sources & {source_id})
            self._open_sources.discard(source_id)

    def drop_unfinished(self) -> None:
        """Remove what was added of all sources of which no path was said."""
        self._erase_sources(self._sources & self._open_sources)
        self._open_sources.clear()

    def put_passage_copies(self, sources: Iterable[str], tables: Iterable[Any]) -> None:
        """Put passages as rows of another library.

        `tables`: Arrow tables of rows of these sources as they are stored.
        """
        for source_id in sources:
            self.begin_passages(source_id)
        for rows in tables:
            self._add_passages(rows)

    def _add_passages(self, rows: Any) -> None:
        self._sources |= set(rows["source_id"].to_pylist())
        self._db.add("passages", rows)

    def _erase_sources(self, sources: set[str]) -> None:
        if sources:
            self._db.delete("passages", f"source_id IN {quoted(sorted(sources))}")
            self._sources -= sources

    # Removal

    def remove_paths(self, paths: Iterable[str], *, keep: Collection[str] = ()) -> Removed:
        """Forget paths. Content goes when its last path goes. Unknown paths are skipped.

        `keep`: contents that stay without a path, because they are about to get one.
        """
        named = set(paths)
        files = self._files.rows()
        kept = {row.content_id for path, row in files.items() if path not in named}
        lost = {row.content_id for path, row in files.items() if path in named} - kept - set(keep)
        videos = sorted(lost & self._stages.keys())
        sources = lost & self._sources
        self._files.forget(named)
        self._problems.forget(named)
        self._erase_videos(videos)
        self._erase_sources(sources)
        return Removed(tuple(sorted(named & files.keys())), tuple(videos), tuple(sorted(sources)))

    def erase(self, contents: Set[str]) -> None:
        """Erase videos and sources of passages, whether they have paths or not.

        The paths stay, for what is to be indexed again (`Snapshot.taken_out`).
        """
        for path, row in self._files.rows().items():
            if row.content_id in contents and row.kind == "passages":
                self._files.put(path, replace(row, stamp=TAKEN_OUT))
        sources = self._sources & contents
        self._erase_videos(sorted(contents - sources))
        self._erase_sources(sources)

    # Committing

    def flush_if_due(self) -> bool:
        """Commit, and merge small fragments, where the last commit was some seconds ago; whether it was."""
        due = time.monotonic() - self._flushed >= self._layout.commit_seconds and not self._open_sources
        if due:
            self.flush()
            compact_if_due(self._db)
        return due

    def flush(self) -> None:
        """Write what waits in memory, and commit. Amid the passages of a document nothing is committed: the
        first `flush` after their end does it."""
        self._problems.flush()
        self._files.flush()
        if self._open_sources:
            self._db.write()
        else:
            self._db.commit()
            self._flushed = time.monotonic()

    def maintain(self, exact_rows: int = EXACT_ROWS) -> None:
        """Commit, update the indexes, merge small fragments, remove old versions.

        `exact_rows`: tables with more rows are indexed by their vectors.
        """
        self.flush()
        maintain(self._db, exact_rows)

    def close(self) -> None:
        """Commit, without the passages of a document that has no path, and give the lock back."""
        try:
            if not self._db.failed:
                self.drop_unfinished()
                self.flush()
                with write_errors(self._layout.folder):
                    self._layout.keep_spare_head()
        finally:
            self._held.close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self.close()
        else:
            # Whatever was in the middle of being written: the last commit counts, as after a kill.
            self._held.close()
