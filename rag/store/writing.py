"""The one writer of a library: every change is idempotent, and safe to kill at any instant.

What makes it so is order. A video is `pending` before its first row and
`ready` after its last; a clip's vectors are written before the clip; a
passage file's row in `files` comes after its passages. What a killed writer
left unfinished is either taken up again or swept away by the next one.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.objects import StoreError
from corpora.records import Passage, Problem, Video
from indexers.errors import OTHER_ENCODER, EncoderKind
from rag.errors import EncoderMismatch, LibraryError
from rag.settings import EXACT_ROWS
from rag.store import schema
from rag.store.database import Database
from rag.store.error_mapping import write_errors
from rag.store.finding import writable_library
from rag.store.layout import LibraryLayout, Location
from rag.store.lease import Lease
from rag.store.lock import WriterLock
from rag.store.maintenance import check_files, compact_if_due, index_text, maintain
from rag.store.migrations import MetaRows, migrate, require_meta
from rag.store.records import DEVICES, EncoderRef, FileRow, Meta, NotedProblem, Removed, ScoreCalibration
from rag.store.sums import SumsAtOpening, note_sums
from rag.store.tables import EncoderSwitch, PassageTable, VideoWriter, file_table, problem_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WAITING_ROWS = 4096
"""Passages, files and problems wait in memory until this many are together: a commit costs 10 ms."""


class Writer(VideoWriter):
    """Made by `Writer.open`; a context manager that holds the library's lock.

    `begin_video` to `finish_video` are committed as they come. Files, problems
    and passages wait for `flush`, which also `maintain` and `close` do.
    """

    _db: Database

    def __init__(self, layout: LibraryLayout, lock: WriterLock | Lease) -> None:
        self._layout = layout
        self._lock = lock
        sums = SumsAtOpening(layout)
        db = Database(layout, lock)
        self._meta_rows = migrate(db)
        super().__init__(db)
        self._files = file_table(db)
        self._problems = problem_table(db)
        self._passages = PassageTable(db)
        self._finished = 0
        # What is swept is decided by the rows of other tables, and found by indexes.
        self._made_again = []
        if sums.require_rows({name: db.lance(name) for name in db.names()}):
            self._made_again = check_files(db)
        self._sweep()

    @classmethod
    def open(cls, folder: Location, *, create: bool = True) -> Writer:
        """Take the lock, migrate the tables, remove what a killed writer left unfinished.

        The folder must be a library, or new or empty; a library without a marker gets one.
        Raises `LibraryNotFound` (for any other folder; without `create` also for a new one),
        `LibraryBusy`, `LibraryReadOnly`, `LibraryFull`, `LibraryTooNew` or `LibraryCorrupt`.
        """
        layout = writable_library(folder, create=create)
        if not layout.has_marker():
            if layout.exists():
                require_meta(Database(layout))
            with write_errors(layout.folder):
                layout.write_marker()
        with write_errors(layout.folder):
            lock = layout.writer_lock()
        lock.acquire()
        try:
            return cls(layout, lock)
        except BaseException:
            lock.release()
            raise

    def check_files(self, exact_rows: int = EXACT_ROWS) -> list[str]:
        """Raise `LibraryCorrupt` where rows of a table are gone, were cut, or are not as they were written;
        indexes that cannot be used are made again, and named. `exact_rows`: as of `maintain`."""
        return [*self._made_again, *check_files(self._db, exact_rows)]

    def _sweep(self) -> None:
        self._db.delete_dropped()
        if self._meta_rows.dropping:
            self._drop_replaced(self._meta_rows.dropping)
            self._put_meta_rows(replace(self._meta_rows, dropping=""))
        self._erase_videos([video for video, status in self._status.items() if status == "removing"])
        self._passages.erase(self._passages.sources - self._contents())

    def _contents(self) -> set[str]:
        return {row.content_id for row in self._files.rows().values()}

    # What the library is made with

    @property
    def folder(self) -> Location:
        """Where the library is."""
        return self._layout.folder

    @property
    def cache(self) -> Path:
        """A folder on this machine for what may be lost at any time."""
        return self._layout.cache

    @property
    def meta(self) -> Meta | None:
        """None in a new library, until `set_meta`."""
        return self._meta_rows.meta

    def set_meta(self, meta: Meta) -> Meta:
        """Choose encoders and settings, before the first row; gives back what was stored.

        `schema`, `library_id` and `calibration` of `meta` are not looked at: they are the library's own.
        Raises `EncoderMismatch` where the library is of another encoder; a library
        without an image encoder may be given one.
        """
        held = self.meta
        if held is not None:
            self._refuse_other("text", held.text_encoder, meta.text_encoder)
            if held.image_encoder is not None:
                self._refuse_other("image", held.image_encoder, meta.image_encoder)
        library_id = held.library_id if held else uuid.uuid4().hex
        stored = replace(
            meta,
            library_id=library_id,
            schema=self._meta_rows.schema,
            calibration=held.calibration if held else None,
        )
        for name in schema.FULL_TEXT_TABLES:
            self._db.create(name, schema.arrow_schema(name, meta.text_encoder.dim))
            # Over an empty table too: it says how words are cut, also for rows that it does not hold yet.
            index_text(self._db, name)
        if (encoder := meta.image_encoder) is not None:
            self._db.create(schema.vectors_table(encoder), schema.arrow_schema("vectors", encoder.dim))
        if stored != held:
            self._put_meta_rows(replace(self._meta_rows, meta=stored))
        return stored

    def put_calibration(self, calibration: ScoreCalibration | None) -> None:
        """Store it in place of the one before, until the image encoder changes."""
        self._put_meta_rows(
            replace(self._meta_rows, meta=replace(self._require_meta(), calibration=calibration))
        )

    def put_settings(self, settings: Mapping[str, Any]) -> None:
        """Store these as `Meta.settings`."""
        meta = replace(self._require_meta(), settings=settings)
        if meta != self.meta:
            self._put_meta_rows(replace(self._meta_rows, meta=meta))

    def put_devices(self, devices: Collection[str]) -> None:
        """Note the kinds of processor that make vectors from here on, beside those that made some before."""
        settings = self._require_meta().settings
        self.put_settings({**settings, DEVICES: sorted({*settings.get(DEVICES, ()), *devices})})

    def switch_encoder(self, encoder: EncoderRef, settings: Mapping[str, Any] | None = None) -> EncoderSwitch:
        """Begin, or go on, to encode all clips with another image encoder; text evidence stays as it is.

        `settings`: what `Meta.settings` holds from then on; default, what it holds.
        """
        held = self._require_meta()
        meta = replace(held, image_encoder=encoder, settings=settings or held.settings, calibration=None)
        return EncoderSwitch(self._db, held.image_encoder, encoder, lambda old: self._flip(meta, old))

    def _flip(self, meta: Meta, old: str) -> None:
        self._put_meta_rows(replace(self._meta_rows, meta=meta, dropping=old))
        if old:
            self._drop_replaced(old)
            self._put_meta_rows(replace(self._meta_rows, dropping=""))

    def _drop_replaced(self, vectors: str) -> None:
        self._db.drop(schema.sounds_beside(vectors))
        self._db.drop(vectors)

    def _put_meta_rows(self, rows: MetaRows) -> None:
        self._db.replace_all("meta", "key", rows.table())
        self._meta_rows = rows

    def _refuse_other(self, kind: EncoderKind, held: EncoderRef, new: EncoderRef | None) -> None:
        if new is None or held.fingerprint != new.fingerprint:
            raise EncoderMismatch(
                f"{self._layout.folder}: made with {kind} encoder {held.name} ({held.fingerprint[:12]}), "
                f"not with {f'{new.name} ({new.fingerprint[:12]})' if new else 'none'}; "
                f"take that one, or {OTHER_ENCODER[kind]}"
            )

    def _require_meta(self) -> Meta:
        if self.meta is None:
            raise ValueError("set_meta comes before the first row")
        return self.meta

    # Files and problems

    def files(self) -> dict[str, FileRow]:
        """Every known path with what is known of it."""
        return self._files.rows()

    def file(self, path: str) -> FileRow | None:
        """What is known of a path; None for an unknown one."""
        return self._files.get(path)

    def put_file(self, row: FileRow) -> None:
        """Say that `row.path` holds that content. For passages this comes last and makes them visible.

        The content that the path held before stays; `remove_paths` comes first where the file has changed.
        """
        self._files.put(row.path, row)
        self._flush_if_full()

    def problems(self) -> dict[str, NotedProblem]:
        """By path."""
        return self._problems.rows()

    def problem(self, path: str) -> NotedProblem | None:
        """None for a path without one."""
        return self._problems.get(path)

    def put_problem(self, problem: Problem, stamp: str) -> None:
        """Note, in place of an older one, what was wrong with a file."""
        self._problems.put(problem.path, NotedProblem(problem, stamp))
        self._flush_if_full()

    def clear_problem(self, *paths: str) -> None:
        """Remove the problems of these paths, of those that have one."""
        self._problems.forget(paths)

    # Videos

    def _put_videos(
        self,
        videos: Mapping[Video, Mapping[str, Any]],
        status: str,
        indexed_at: Mapping[str, int] | None = None,
    ) -> None:
        super()._put_videos(videos, status, indexed_at)
        self._finished += status == "ready"
        if self._finished >= 10 and compact_if_due(self._db):
            self._finished = 0

    # Passages

    def put_passages(
        self, source_id: str, passages: Sequence[Passage], vectors: NDArray[np.floating[Any]]
    ) -> None:
        """Put these passages in place of all that the source has; `put_file` then makes them visible.

        `vectors`: unit rows, float (n, text dim), one for each passage; stored as float16. A source that was
        visible is hidden until its next `put_file`. Raises ValueError for another shape.
        """
        self.begin_passages(source_id)
        self.add_passages(source_id, passages, vectors)

    def begin_passages(self, source_id: str) -> None:
        """Remove what the source has, so that `add_passages` can add it in parts."""
        self._require_meta()
        if source_id in self._passages.sources:
            self.flush()
            shown = [path for path, row in self._files.rows().items() if row.content_id == source_id]
            self._files.forget(shown)
            self._passages.erase({source_id})

    def add_passages(
        self, source_id: str, passages: Sequence[Passage], vectors: NDArray[np.floating[Any]]
    ) -> None:
        """Add passages to a source, each once, after `begin_passages`.

        `vectors`: unit rows, float (n, text dim), one for each passage; stored as float16. Raises ValueError
        for another shape.
        """
        self._passages.add(source_id, passages, vectors, self._require_meta().text_encoder.dim)
        self._flush_if_full()

    def put_passage_copies(self, sources: Iterable[str], tables: Iterable[Any]) -> None:
        """Put rows of another library in place of all that these sources have; `put_file` makes them visible.

        `tables`: Arrow tables of rows of these sources as they are stored.
        """
        for source_id in sources:
            self.begin_passages(source_id)
        for rows in tables:
            self._passages.sources |= set(rows["source_id"].to_pylist())
            self._db.add("passages", schema.with_missing_columns("passages", rows))

    # Removal

    def remove_paths(self, paths: Iterable[str], *, keep: Collection[str] = ()) -> Removed:
        """Forget paths. Content goes when its last path goes. Unknown paths are skipped.

        `keep`: contents that stay without a path, because they are about to get one.
        """
        self.flush()
        named = set(paths)
        files = self._files.rows()
        kept = {row.content_id for path, row in files.items() if path not in named}
        lost = {row.content_id for path, row in files.items() if path in named} - kept - set(keep)
        videos = sorted(lost & self._status.keys())
        sources = lost & self._passages.sources
        self._mark_removing(videos)
        self._files.forget(named)
        self._problems.forget(named)
        self._erase_videos(videos)
        self._passages.erase(sources)
        return Removed(tuple(sorted(named & files.keys())), tuple(videos), tuple(sorted(sources)))

    def drop_unfinished(self) -> tuple[str, ...]:
        """Erase videos that were begun and never finished, if no known path names them."""
        gone = sorted(self.pending() - self._contents())
        self._erase_videos(gone)
        return tuple(gone)

    def drop_vectors_without_clips(self) -> None:
        """What a repair leaves where clips could not be read."""
        clips = set(self._db.rows("clips", ["clip_id"])["clip_id"].to_pylist())
        for name in filter(schema.is_clip_vectors, self._db.names()):
            held = set(self._db.rows(name, ["clip_id"])["clip_id"].to_pylist())
            self._delete_clips(name, held - clips)

    # Committing

    def _flush_if_full(self) -> None:
        if self._passages.waiting + self._files.waiting + self._problems.waiting >= WAITING_ROWS:
            self.flush()

    def flush(self) -> None:
        """Commit what waits in memory: passages and problems, then the files that make them visible."""
        self._passages.flush()
        self._problems.flush()
        self._files.flush()

    def maintain(self, exact_rows: int = EXACT_ROWS) -> list[str]:
        """Update the indexes, merge small fragments, remove old versions.

        `exact_rows`: tables of vectors with more rows get index files. Returns a line for each of them that
        has rows in no index, because the disk lacks room.
        """
        self.flush()
        return maintain(self._db, exact_rows)

    def close(self) -> None:
        """Commit what waits, note the sums of what was written, and give the lock back."""
        try:
            self.flush()
            note_sums(self._layout)
        finally:
            self._lock.release()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, StoreError):
            # The commit that failed may still arrive: what waits is not written again, but by the next run.
            self._lock.release()
            return
        try:
            self.close()
        except LibraryError:
            # What failed has failed here again; the first failure is the one to report.
            if error is None:
                raise
