"""The files of a library in a folder, or its objects on a store."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import socket
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from corpora.errors import os_reason
from corpora.objects import PROBES, Refused, StoreAddress, StoreError, open_store
from corpora.outputs import LIBRARY_HEAD, SPARE_HEAD, atomic_file, atomic_write_text
from corpora.platforms import SharedMark, is_marked, sync_folder, take_lock
from rag.errors import LibraryBusy, LibraryReadOnly
from rag.store.error_mapping import write_errors

HEAD = LIBRARY_HEAD
"""Names the version of each table (`rag.store.head`). `SPARE_HEAD` is a copy of it, made when a writer
closes, for one that a disk has damaged."""
SYSTEM_NAMES = frozenset({".DS_Store", "lost+found"})
"""Entries that an operating system adds to a folder: with nothing else, the folder counts as empty."""
READERS = "readers.lock"
BEGUN = frozenset({READERS, "tables", "writer.lock", "writer.json"})
"""What a writer makes before its first commit; the first of them comes first."""
SHARDS = "shards"
"""Folder of the libraries of a run in shards, until they are merged."""
BEGUN_OBJECT = re.compile(rf"{PROBES}/.*|tables/\w+\.lance/(?!data/).*")
"""Keys of objects that a writer makes before its first commit."""
UNNAMED_AGE = timedelta(days=7)
"""Objects of a table that the head does not name are deleted once they are so old: another writer may be
about to name it."""
Location: TypeAlias = Path | StoreAddress
"""A library's folder, or its address on an object store."""


class Layout:
    """The tables and files of a library in a folder; made by `open_layout`."""

    folder: Location
    """The folder or address that messages show."""
    cache: Path
    """A folder on this machine for what may be lost at any time: progress logs."""
    storage_options: Mapping[str, str]
    """Options of its store, as LanceDB takes them."""
    reading_options: Mapping[str, str]
    """The same options for whoever only reads."""
    commit_seconds = 10.0
    """Least seconds between two commits of a run of indexing."""
    is_locked = True
    """Whether files that no version names are of a killed writer for certain: no other is at work."""

    def __init__(self, folder: Path) -> None:
        self.folder = self.cache = self._root = folder
        self.storage_options = self.reading_options = {}

    @property
    def database(self) -> str:
        """The LanceDB database; each table is `<name>.lance` below it."""
        return os.fspath(self.tables)

    @property
    def tables(self) -> Path:
        """The folder of the tables, on this machine."""
        return self._root / "tables"

    def table(self, name: str) -> Path:
        """The folder of one table, on this machine."""
        return self.tables / f"{name}.lance"

    def dataset(self, name: str, version: int | None = None, *, to_write: bool = False) -> Any:
        """A version of a table, by default the newest, as a Lance dataset. Raises what Lance raises."""
        # Untyped: its own types are those of a part of it.
        lance: Any = import_module("lance")
        options = dict(self.storage_options if to_write else self.reading_options) or None
        return lance.dataset(f"{self.database}/{name}.lance", version, storage_options=options)

    def read(self, name: str) -> tuple[bytes, str] | None:
        """The content of a file of the library, and its ETag on a store; None where there is none.

        Raises `LibraryReadOnly` where it is there and cannot be read.
        """
        path = self._root / name
        try:
            return path.read_bytes(), ""
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            raise LibraryReadOnly(
                f"{path}: cannot be read ({os_reason(error)}); check its permissions"
            ) from error

    def read_head(self) -> tuple[bytes, str] | None:
        """Read `head.json`."""
        return self.read(HEAD)

    def write_head(self, content: bytes, etag: str) -> str:
        """Replace `head.json` in one step, by a rename of what is on the disk; returns its new ETag.

        Raises OSError, and `LibraryBusy` where, on a store, it is no longer that with `etag` (empty: none).
        """
        self._write(HEAD, content)
        return etag

    def _write(self, name: str, content: bytes) -> None:
        with atomic_file(self._root / name) as draft, draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self._root)

    def require_head(self, etag: str) -> None:
        """Raise `LibraryBusy` where, on a store, `head.json` is no longer the one with `etag`."""

    def keep_spare_head(self) -> None:
        """Copy `head.json` beside it, where what is written may be damaged later. Raises OSError."""
        if (held := self.read(HEAD)) is not None and held != self.read(SPARE_HEAD):
            self._write(SPARE_HEAD, held[0])

    def read_spare_head(self) -> bytes | None:
        """The content of that copy; None where there is none. Raises as `read`."""
        found = self.read(SPARE_HEAD)
        return None if found is None else found[0]

    def is_closed(self) -> bool:
        """Whether the last writer ended as it should, as far as that can be seen."""
        return self.read(HEAD) == self.read(SPARE_HEAD)

    def state(self) -> str:
        """16 hex digits that change with each commit; empty where there is no library."""
        found = self.read_head()
        return "" if found is None else hashlib.blake2b(found[0], digest_size=8).hexdigest()

    def exists(self) -> bool:
        """Whether there is a library, which any writer has committed to."""
        return self.read_head() is not None or self.read_spare_head() is not None

    def has_rows(self) -> bool:
        """Whether tables have rows, which a writer would delete that finds no head: before its first commit
        one makes empty tables alone."""
        return any(self.tables.glob("*.lance/data/*"))

    def has_table(self, name: str) -> bool:
        """Whether there are files of a table, whether the head names it or not."""
        return self.table(name).is_dir()

    def is_vacant(self) -> bool:
        """Whether a library may be made here: there is nothing yet. Raises `LibraryReadOnly` where that
        cannot be seen."""
        try:
            names = os.listdir(self._root)
        except FileNotFoundError:
            return True
        except OSError as error:
            raise LibraryReadOnly(
                f"{self.folder}: no library can be kept here ({os_reason(error)}); name another --library"
            ) from error
        left = {name for name in names if name not in SYSTEM_NAMES and not name.startswith(".part-")}
        if not left:
            return True
        # A writer that was killed before its first commit.
        begun = READERS in left and left <= BEGUN and not self._readers.stat().st_size
        return begun and not self.has_rows()

    def begin(self) -> None:
        """Prepare the place where a library is made. Raises OSError."""
        self._root.mkdir(parents=True, exist_ok=True)

    def writer_lock(self) -> AbstractContextManager[None]:
        """Keeps out other writers while it is entered; ends with its process. Makes the files beside it.
        Raises OSError."""
        self._readers.touch()
        self.tables.mkdir(parents=True, exist_ok=True)
        return writer_lock(self._root / "writer.lock")

    @property
    def _readers(self) -> Path:
        """Readers hold this file shared, so that a writer knows whether an old version is in use."""
        return self._root / READERS

    def reader_mark(self) -> SharedMark | None:
        """Held while a reader is open; None where no writer could see it."""
        return SharedMark(self._readers)

    def no_readers(self) -> bool:
        """True when no reader is open, so that old versions can go at once."""
        return not is_marked(self._readers)

    def shards(self) -> Sequence[Location]:
        """Libraries that a killed run has left to be merged into this one (`rag.indexing.shards`)."""
        try:
            return sorted((self._root / SHARDS).iterdir())
        except OSError:
            return []

    def delete_unnamed(self, named: Collection[str]) -> None:
        """Delete the tables that are not among `named`: dropped ones, and those of a killed writer. Raises
        OSError."""
        for path in self.tables.glob("*.lance"):
            if path.name.removesuffix(".lance") not in named:
                shutil.rmtree(path)

    def versions(self, table: str) -> list[int]:
        """The versions of a table that have a manifest, the newest first."""
        return _versions(path.name for path in (self.table(table) / "_versions").glob("*.manifest"))

    def delete_version(self, table: str, version: int) -> None:
        """Delete the manifest of a version. Raises OSError."""
        (self.table(table) / manifest_name(version)).unlink(missing_ok=True)

    def size(self, table: str = "") -> int:
        """Bytes of all files of a table, or of the library; without those that cannot be seen."""
        total = 0
        for base, _, names in os.walk(self.table(table) if table else self._root):
            for name in names:
                try:
                    total += os.lstat(os.path.join(base, name)).st_size
                except OSError:
                    continue
        return total

    def cut_file(self, table: str, fragments: Collection[Any]) -> str:
        """The first data file of fragments that is gone or has another size than the table says; or empty."""
        data = self.table(table) / "data"
        for file in (file for fragment in fragments for file in fragment.metadata.files):
            size = data.joinpath(file.path).stat().st_size if (data / file.path).is_file() else -1
            if file.file_size_bytes not in {None, size}:
                return str(file.path)
        return ""

    def has_room(self, size: int) -> bool:
        """Whether `size` more bytes can be written."""
        return shutil.disk_usage(self._root).free >= size


class ObjectLayout(Layout):
    """The objects of a library below an address. Raises `StoreError` where the store fails."""

    folder: StoreAddress
    commit_seconds = 120.0
    """More than in a folder: a commit takes seconds."""
    is_locked = False
    """Another writer may be about to name some."""

    def __init__(self, address: StoreAddress) -> None:
        name = hashlib.blake2b(f"{address.url}\n{address.settings.endpoint}".encode(), digest_size=16)
        root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        super().__init__(Path(root) / "rag" / "libraries" / name.hexdigest())
        self.folder = address
        self.store = open_store(address.url, address.settings)
        self.storage_options = self.store.options
        self.reading_options = self.store.reading_options

    @property
    def database(self) -> str:
        """The address of the tables."""
        return f"{self.folder.url}/tables"

    def read(self, name: str) -> tuple[bytes, str] | None:
        """One request."""
        try:
            found = self.store.read(name)
        except StoreError as error:
            # It is the library that cannot be read.
            raise type(error)(
                str(error).replace(f"{self.store.url}/{name}:", f"{self.store.url}:")
            ) from error
        return None if found is None else (found[0], found[1].etag)

    def write_head(self, content: bytes, etag: str) -> str:
        """Replace the head by a conditional put."""
        try:
            return self.store.replace(HEAD, content, etag) if etag else self.store.create(HEAD, content)
        except Refused as error:
            found = self.store.read(HEAD)
            if found is not None and found[0] == content:
                return found[1].etag  # It was written, and the answer was lost.
            raise self._busy() from error

    def require_head(self, etag: str) -> None:
        """One request."""
        found = self.store.head(HEAD)
        if ("" if found is None else found.etag) != etag:
            raise self._busy()

    def _busy(self) -> LibraryBusy:
        return LibraryBusy(
            f"{self.folder}: another process has written to this library since this one began; nothing was "
            "written over that; run the same command again once no other process writes"
        )

    def keep_spare_head(self) -> None:
        """A store keeps what it has."""

    def read_spare_head(self) -> None:
        """There is no spare head on a store."""

    def is_closed(self) -> bool:
        """Nothing on a store says how the last writer ended."""
        return True

    def has_rows(self) -> bool:
        """A head there does not get lost."""
        return False

    def has_table(self, name: str) -> bool:
        """Whether a listing has files of the table."""
        return next(self.store.list(f"tables/{name}.lance"), None) is not None

    def is_vacant(self) -> bool:
        """Whether a listing has nothing but marks of a beginning."""
        return all(BEGUN_OBJECT.fullmatch(found.key) for found in self.store.list())

    def begin(self) -> None:
        """Check that the store observes the condition of a conditional write."""
        self.store.require_conditional_writes()

    def writer_lock(self) -> AbstractContextManager[None]:
        """The conditional put of `head.json` keeps writers apart."""
        return contextlib.nullcontext()

    def reader_mark(self) -> None:
        """A store knows nothing of its readers."""

    def no_readers(self) -> bool:
        """There may always be some."""
        return False

    def shards(self) -> Sequence[Location]:
        """Find shards by a listing."""
        return [
            StoreAddress(f"{self.folder.url}/{SHARDS}/{name}", self.folder.settings)
            for name in self.store.folders(SHARDS)
        ]

    def delete_unnamed(self, named: Collection[str]) -> None:
        """Delete unnamed objects that have been there for `UNNAMED_AGE`."""
        before = datetime.now(UTC) - UNNAMED_AGE
        for folder in self.store.folders("tables"):
            if folder.removesuffix(".lance") not in named:
                found = self.store.list(f"tables/{folder}")
                self.store.delete([each.key for each in found if each.modified < before])

    def versions(self, table: str) -> list[int]:
        """List the versions of a table."""
        found = self.store.list(f"tables/{table}.lance/_versions")
        return _versions(each.key.rpartition("/")[2] for each in found)

    def delete_version(self, table: str, version: int) -> None:
        """One request."""
        self.store.delete([f"tables/{table}.lance/{manifest_name(version)}"])

    def size(self, table: str = "") -> int:
        """Sum the sizes of a listing."""
        return sum(found.size for found in self.store.list(f"tables/{table}.lance" if table else ""))

    def cut_file(self, table: str, fragments: Collection[Any]) -> str:  # noqa: ARG002 (as of a folder)
        """A store keeps an object as a whole or not at all; one that is gone is found when it is read."""
        return ""

    def has_room(self, size: int) -> bool:  # noqa: ARG002 (as of a folder)
        """A store has."""
        return True


def open_layout(location: Location) -> Layout:
    """Open the layout of a library that may not be there; nothing is contacted. Raises `UsageError` for a
    bad address."""
    if isinstance(location, StoreAddress):
        return ObjectLayout(location)
    return Layout(location.absolute())


def manifest_name(version: int) -> str:
    """The file of a version below its table's folder: Lance counts down, so that the newest comes first."""
    return f"_versions/{2**64 - 1 - version:020d}.manifest"


def _versions(names: Iterable[str]) -> list[int]:
    stems = (name.removesuffix(".manifest") for name in names if name.endswith(".manifest"))
    return sorted((2**64 - 1 - int(stem) for stem in stems if stem.isdecimal()), reverse=True)


@contextmanager
def writer_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which is made. Raises `LibraryBusy`, naming the holder.

    The system drops a lock when its process dies; the note beside it only says who holds it.
    """
    note = path.with_suffix(".json")
    with write_errors(path.parent):
        held = take_lock(path)
        if held is None:
            raise LibraryBusy(
                f"{path.parent}: {_holder(note)} is writing to this library; wait for it or stop it"
            )
    start = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        with write_errors(path.parent):
            about = {"pid": os.getpid(), "host": socket.gethostname(), "start": start}
            atomic_write_text(note, json.dumps(about))
        yield
    finally:
        with contextlib.suppress(OSError):
            note.unlink()
        # The file of the lock stays: removing it would let two writers hold two files of one name.
        held.release()


def _holder(note: Path) -> str:
    try:
        about = json.loads(note.read_bytes())
        return f"process {about['pid']} on {about['host']} (since {about['start']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
