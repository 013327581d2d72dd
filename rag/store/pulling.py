"""A copy of a library on an object store in a folder: what questions need, kept up by pulling again.

Of the versions of one head the files are copied, which never change once they are written: what is there
stays, and a killed pull goes on. The copy's own `head.json` comes last. Clip vectors are copied by rows,
without the frame matrices, which are nine tenths of a library; with `frames` their files are copied like all
others.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from corpora.objects import ObjectStore, StoreAddress, StoredObject, StoreError
from corpora.outputs import atomic_file
from rag.errors import LibraryBusy, LibraryCorrupt, UsageError
from rag.settings import EXACT_ROWS
from rag.store.database import Database
from rag.store.error_mapping import TableGone, corrupt, read_errors, write_errors
from rag.store.finding import nothing_indexed, require_library
from rag.store.head import read_head
from rag.store.layout import CopyNote, Layout, ObjectLayout, manifest_name
from rag.store.maintenance import compact, index_keys, update_index_files
from rag.store.schema import quoted
from rag.store.vectors import FRAME_COLUMNS

PARALLEL = 8
"""Files in flight: a store answers late, and many at once."""
ROWS = 8192
"""Clip vectors in one commit."""
ATTEMPTS = 10

Files = Mapping[str, StoredObject]
"""By path below the tables."""


@dataclass(frozen=True, slots=True)
class PullReport:
    """What one pull copied."""

    library: StoreAddress
    folder: Path
    frames: bool
    """Whether the copy has the frame matrices."""
    files: int
    """Files copied; those that were there are not counted."""
    clips: int
    """Clip vectors copied without their frames."""
    copied_bytes: int
    """Of those files."""
    seconds: float
    bytes: int
    """Size of the copy."""
    stages: tuple[str, ...] = ()
    """What could not be done at the end: index files."""


class _Cleaned(Exception):
    """A writer has removed the pinned version meanwhile."""


def pull_library(
    library: StoreAddress,
    folder: Path,
    *,
    frames: bool = False,
    exact_rows: int = EXACT_ROWS,
    announce: Callable[[int, int], object] = lambda *_: None,
) -> PullReport:
    """Copy a library into a folder that is new or a copy of it, or bring the copy up to date.

    `announce`: called with the number of files to copy, and their bytes. A copy that has frame matrices keeps
    them. `exact_rows`: tables of vectors with more rows get index files, which a store does not keep. Only
    `rag.store.reading.Reader` opens a copy: it cannot be written otherwise.

    Raises `UsageError` for a folder that is anything else, `LibraryNotFound` for no library, `LibraryBusy`
    where two pulls write one copy, `StoreError`, and the errors of a library.
    """
    started = time.monotonic()
    source, target = require_library(library), Layout(folder)
    assert isinstance(source, ObjectLayout)
    held = target.copy_note()
    note = _note_for(source, target, held, frames=frames)
    with write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if held is None:
            target.write_copy_note(note)
            target.write_marker()
        lock = target.writer_lock()
    with lock:
        counts = _pull(source, target, exact_rows, announce, frames=note.frames)
        lines = update_index_files(Database(target, only=()), exact_rows)
        with write_errors(folder):
            target.keep_spare_head()
            target.write_copy_note(note)
    seconds = time.monotonic() - started
    return PullReport(
        library, folder, note.frames, *counts, seconds=seconds, bytes=target.size(), stages=tuple(lines)
    )


def _note_for(source: ObjectLayout, target: Layout, held: CopyNote | None, *, frames: bool) -> CopyNote:
    """What the copy is to be. Raises `UsageError` where the folder is no copy of this library."""
    if held is None and not target.is_vacant():
        raise UsageError(
            f"{target.folder}: holds files and is no copy of a library; name a new or empty folder"
        )
    library, meta = source.folder, read_head(source)[0].meta
    if meta is None:
        raise nothing_indexed(library)
    if held is not None and held.library_id != meta.library_id:
        raise UsageError(f"{target.folder}: a copy of another library, {held.of}; name a new or empty folder")
    return CopyNote(library.url, meta.library_id, frames or (held is not None and held.frames))


def _pull(
    source: ObjectLayout,
    target: Layout,
    exact_rows: int,
    announce: Callable[[int, int], object],
    *,
    frames: bool,
) -> tuple[int, int, int]:
    """As `_Pull.run`, of a newer version where a writer has removed the one that was pinned."""
    for _ in range(ATTEMPTS):
        with contextlib.suppress(_Cleaned):
            return _Pull(source, target, exact_rows, frames=frames).run(announce)
    raise LibraryBusy(f"{source.folder}: is written faster than it can be copied; run the same command again")


class _Pull:
    """The versions of one head, on their way into a folder."""

    def __init__(self, source: ObjectLayout, target: Layout, exact_rows: int, *, frames: bool) -> None:
        self._source = source
        self._target = target
        self._exact_rows = exact_rows
        self._head, _ = read_head(source)
        self._pins: dict[str, Any] = {}
        for name, version in self._head.tables.items():
            try:
                with read_errors(source.folder, name):
                    self._pins[name] = source.dataset(name, version)
            except TableGone:
                self._require_same_head()
                raise
        self._by_rows = [name for name in self._pins if self._has_frames(name) and not frames]
        self._store: ObjectStore = source.store

    def _require_same_head(self) -> None:
        """Raise `_Cleaned` where a writer has committed since, and so may have removed what is missing."""
        if read_head(self._source)[0].commit != self._head.commit:
            raise _Cleaned

    def run(self, announce: Callable[[int, int], object]) -> tuple[int, int, int]:
        """Number of files, of clip vectors, and bytes of the files. Raises `_Cleaned`."""
        wanted: dict[str, StoredObject] = {}
        for name in self._pins.keys() - set(self._by_rows):
            wanted.update(self._files(name))
        tables = self._target.tables
        missing = {path: each for path, each in wanted.items() if _size(tables / path) != each.size}
        # Versions are counted in each library: one that was made again in its place has the same names.
        drafts = {path: self._content(each) for path, each in wanted.items() if path.endswith(".manifest")}
        for path, content in drafts.items():
            if path not in missing and (tables / path).read_bytes() != content:
                missing[path] = wanted[path]
        announce(len(missing), sum(each.size for each in missing.values()))
        with ThreadPoolExecutor(PARALLEL) as pool:
            for done in [
                pool.submit(self._fetch, missing[path], tables / path) for path in missing.keys() - drafts
            ]:
                done.result()
        db, clips = self._copy_rows()
        with write_errors(self._target.folder):
            for path in missing.keys() & drafts:
                (tables / path).parent.mkdir(parents=True, exist_ok=True)
                with atomic_file(tables / path) as draft:
                    draft.write_bytes(drafts[path])
            versions = {**self._head.tables, **{name: db.versions[name] for name in self._by_rows}}
            held, _ = read_head(self._target)
            head = replace(held.next(versions, self._head.meta), earlier=())
            self._target.write_head(head.to_bytes(), "")
        self._forget(wanted)
        return len(missing), clips, sum(each.size for each in missing.values())

    def _has_frames(self, name: str) -> bool:
        """Whether a table has matrices of frames; that of sounds has not."""
        return set(FRAME_COLUMNS) <= set(self._pins[name].schema.names)

    def _files(self, name: str) -> dict[str, StoredObject]:
        """What the pinned version of a table consists of."""
        base, found = f"tables/{name}.lance", {}
        needed, folders = files_of(self._pins[name])
        for each in self._store.list(base):
            path = each.key.removeprefix(f"{base}/")
            if path in needed or path.startswith(folders):
                found[f"{name}.lance/{path}"] = each
                needed.discard(path)
        if needed:
            self._require_same_head()
            raise corrupt(self._source.folder, name, f"{min(needed)} is gone", TableGone)
        return found

    def _fetch(self, found: StoredObject, path: Path) -> None:
        with write_errors(self._target.folder):
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_file(path) as draft:
                with draft.open("wb") as file:
                    file.writelines(self._parts(found))
                if draft.stat().st_size != found.size:
                    raise StoreError(
                        f"{self._store.url}/{found.key}: arrived cut; run the same command again"
                    )

    def _parts(self, found: StoredObject) -> Iterator[bytes]:
        try:
            yield from self._store.stream(found.key)[1]
        except StoreError:
            if self._store.head(found.key) is None:
                raise _Cleaned from None
            raise

    def _content(self, found: StoredObject) -> bytes:
        read = self._store.read(found.key)
        if read is None:
            raise _Cleaned
        return read[0]

    def _copy_rows(self) -> tuple[Database, int]:
        """Add the clip vectors that are new, and delete those that are gone; how many were added."""
        copied = 0
        db = Database(self._target, only=self._by_rows)
        for name in self._by_rows:
            pinned = self._pins[name]
            with read_errors(self._source.folder, name):
                ids = pinned.scanner(columns=["clip_id"], with_row_id=True).to_table()
            db.create(name, pinned.schema)
            held = set(db.rows(name, ["clip_id"])["clip_id"].to_pylist())
            rows = dict(zip(ids["clip_id"].to_pylist(), ids["_rowid"].to_pylist(), strict=True))
            new, gone = sorted(rows[clip_id] for clip_id in rows.keys() - held), sorted(held - rows.keys())
            for at in range(0, len(new), ROWS):
                with read_errors(self._source.folder, name):
                    part = _without_frames(pinned, new[at : at + ROWS])
                db.add(name, part)
                copied += part.num_rows
            for at in range(0, len(gone), ROWS):
                db.delete(name, f"clip_id IN {quoted(gone[at : at + ROWS])}")
            compact(db, name)
            index_keys(db, name, self._exact_rows)
        return db, copied

    def _forget(self, wanted: Files) -> None:
        """Remove what no table needs any more; what a reader may be using stays for the next time."""
        if not self._target.no_readers():
            return
        with write_errors(self._target.folder):
            self._target.delete_unnamed(self._pins.keys())
            for name in self._pins.keys() - set(self._by_rows):
                for path in self._target.table(name).rglob("*"):
                    if path.is_file() and path.relative_to(self._target.tables).as_posix() not in wanted:
                        path.unlink()


def files_of(dataset: Any) -> tuple[set[str], tuple[str, ...]]:
    """The manifest and the files of rows of a version, and the folders of its indexes; by their paths below
    the table's folder."""
    files = {manifest_name(dataset.version)}
    for metadata in (fragment.metadata for fragment in dataset.get_fragments()):
        files |= {f"data/{file.path}" for file in metadata.files}
        if metadata.deletion_file is not None:
            files.add(metadata.deletion_file.path(metadata.id).lstrip("/"))
    segments = (segment for index in dataset.describe_indices() for segment in index.segments)
    return files, tuple(f"_indices/{segment.uuid}/" for segment in segments)


def _size(path: Path) -> int:
    """-1 for no file."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return -1


def _without_frames(pinned: Any, row_ids: Sequence[int]) -> Any:
    """Rows of clip vectors as those of clips without frames. Raises `LibraryCorrupt` where one is missing."""
    import pyarrow as pa

    columns = [field.name for field in pinned.schema if field.name not in FRAME_COLUMNS]
    rows = pinned.scanner(columns=columns, filter=f"_rowid IN ({','.join(map(str, row_ids))})").to_table()
    if rows.num_rows != len(row_ids):
        raise LibraryCorrupt(f"{pinned.uri}: rows cannot be read by their ids; report this")
    for name in FRAME_COLUMNS:
        field = pinned.schema.field(name)
        rows = rows.append_column(field, pa.array([[]] * rows.num_rows, field.type))
    return rows.select(pinned.schema.names)
