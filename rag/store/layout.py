"""The tables and files of a library in a folder, or its objects on a store, and the marker by which it is
recognized."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from corpora.errors import os_reason
from corpora.objects import PROBES, Refused, StoreAddress, StoredObject, open_store
from corpora.outputs import LIBRARY_MARKER, LIBRARY_TABLES, atomic_file, atomic_write_text
from rag.errors import LibraryReadOnly
from rag.store.lance_module import lance_module
from rag.store.lease import Lease
from rag.store.lock import ReaderMark, WriterLock, no_readers

MARKER = LIBRARY_MARKER
MARKER_CONTENT = {"format": "offline-video-rag library", "version": 1}
SYSTEM_NAMES = frozenset({".DS_Store", "lost+found"})
"""Entries that an operating system adds to a folder: with nothing else, the folder counts as empty."""
DROPPED = ".dropped"
SHARDS = "shards"
"""Folder of the libraries of a run in shards, until they are merged."""
COPY = "copy.json"
"""In a folder that holds the copy of a library: what it is a copy of."""
Location: TypeAlias = Path | StoreAddress
"""A library's folder, or its address on an object store."""


def has_version(table: Path) -> bool:
    """Whether the table was made to its end: its making may have been killed before the first version.

    Raises `LibraryReadOnly` where that cannot be seen.
    """
    try:
        return any(name.endswith(".manifest") for name in os.listdir(table / "_versions"))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise LibraryReadOnly(
            f"{table}: the library cannot be read ({os_reason(error)}); check its permissions"
        ) from error


@dataclass(frozen=True, slots=True)
class CopyNote:
    """What a folder that `rag.store.pulling` filled is a copy of."""

    of: str
    """Address of the library."""
    library_id: str
    frames: bool
    """Whether the copy has the frame matrices."""


class LibraryLayout(ABC):
    """The tables and files of one library; made by `open_layout`."""

    folder: Location
    """As messages show it."""
    cache: Path
    """A folder on this machine for what may be lost at any time: the scan cache, progress logs."""
    storage_options: Mapping[str, str]
    """Of its store, as LanceDB takes them."""
    reading_options: Mapping[str, str]
    """The same for whoever only reads."""
    compared: set[tuple[object, ...]]
    """Files that were found to be as they were written, as of `rag.store.sums.compare`."""

    @property
    @abstractmethod
    def database(self) -> str:
        """The LanceDB database; each table is `<name>.lance` below it."""

    def dataset(self, name: str, *, to_write: bool = False) -> Any:
        """The newest version of a table, as a Lance dataset. Raises what Lance raises."""
        options = dict(self.storage_options if to_write else self.reading_options) or None
        return lance_module().dataset(f"{self.database}/{name}.lance", storage_options=options)

    def copy_note(self) -> CopyNote | None:
        """None for a library that is no copy."""
        return None

    @property
    def indexes(self) -> Path | None:
        """The local folder of index files (`rag.store.code_index`); None where they are not kept."""
        return None

    @property
    def scan_cache(self) -> Path:
        """The SQLite file that caches the identity of scanned files."""
        return self.cache / "scan.sqlite"

    def exists(self) -> bool:
        """Whether there is a library."""
        return self.has_table("meta")

    def is_library(self) -> bool:
        """Whether it may be written: it has the marker, or all tables of a library without one."""
        return self.has_marker() or all(self.has_table(name) for name in LIBRARY_TABLES)

    @abstractmethod
    def has_table(self, name: str) -> bool:
        """Whether a table has a version."""

    @abstractmethod
    def table_names(self) -> list[str]:
        """Tables that have a version, sorted."""

    @abstractmethod
    def has_marker(self) -> bool:
        """Whether the file is there that says that this is a library."""

    @abstractmethod
    def is_vacant(self) -> bool:
        """Whether a library may be made here: there is nothing yet."""

    @abstractmethod
    def write_marker(self) -> None:
        """Say that this is a library, before anything else is written."""

    @abstractmethod
    def writer_lock(self) -> WriterLock | Lease:
        """The lock of the one writer, not yet held."""

    @abstractmethod
    def reader_mark(self) -> ReaderMark | None:
        """Held while a reader is open; None where no writer could see it."""

    @abstractmethod
    def no_readers(self) -> bool:
        """True when no reader is open, so that old versions can go at once."""

    @abstractmethod
    def owns_unnamed_files(self) -> bool:
        """Whether files that no version names are of a killed writer for certain."""

    def shards(self) -> Sequence[Location]:
        """Libraries that a killed run has left to be merged into this one (`rag.indexing.shards`)."""
        try:
            return sorted((self.cache / SHARDS).iterdir())
        except OSError:
            return []

    @abstractmethod
    def drop(self, table: str) -> None:
        """Remove a table; a kill never leaves half of one under its name."""

    @abstractmethod
    def delete_dropped(self) -> None:
        """Delete what a killed `drop` left."""

    @abstractmethod
    def size(self, table: str = "") -> int:
        """Bytes of a table's files; of the whole library without a name. Files may go meanwhile."""

    @abstractmethod
    def is_whole(self, table: str) -> bool:
        """Whether the data files of the newest fragment have the size that the table says they have."""

    @abstractmethod
    def require_whole(self, table: str) -> None:
        """Raise where a data file of any fragment is gone or has another size than the table says it has."""

    @abstractmethod
    def has_room(self, size: int) -> bool:
        """Whether `size` more bytes can be written."""

    @abstractmethod
    def changes(self, *tables: str) -> tuple[int, ...]:
        """For each table a number that grows with every commit; empty where one is not there."""


class Layout(LibraryLayout):
    """Paths of a library's files below its folder."""

    folder: Path

    def __init__(self, folder: Path) -> None:
        self.folder = self.cache = folder
        self.storage_options = self.reading_options = {}
        self.compared = set()

    @property
    def database(self) -> str:
        """The folder of tables."""
        return os.fspath(self.tables)

    @property
    def tables(self) -> Path:
        """The LanceDB database; each table is a folder `<name>.lance`."""
        return self.folder / "tables"

    @property
    def indexes(self) -> Path:
        """Index files of large tables, derived from them."""
        return self.folder / "indexes"

    @property
    def sums(self) -> Path:
        """Sums of the files of tables (`rag.store.sums`)."""
        return self.folder / "sums"

    @property
    def lock(self) -> Path:
        """The file that the one writer locks."""
        return self.folder / "writer.lock"

    @property
    def readers(self) -> Path:
        """Readers hold this file shared, so that a writer knows whether an old version is in use."""
        return self.folder / "readers.lock"

    @property
    def marker(self) -> Path:
        """The file that says that the folder is a library."""
        return self.folder / MARKER

    def copy_note(self) -> CopyNote | None:
        """Raises `LibraryReadOnly` where it is there and cannot be read."""
        try:
            return CopyNote(**json.loads((self.folder / COPY).read_bytes()))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise LibraryReadOnly(
                f"{self.folder / COPY}: cannot be read ({os_reason(error)}); correct that, or name another "
                "--library"
            ) from error
        except (ValueError, TypeError) as error:
            raise LibraryReadOnly(
                f"{self.folder / COPY}: cannot be read; remove the folder and pull the library again"
            ) from error

    def write_copy_note(self, note: CopyNote) -> None:
        """Raises OSError."""
        atomic_write_text(self.folder / COPY, json.dumps(asdict(note)) + "\n")

    def table(self, name: str) -> Path:
        """Folder of one LanceDB table."""
        return self.tables / f"{name}.lance"

    def has_table(self, name: str) -> bool:
        """Raises `LibraryReadOnly` where that cannot be seen."""
        return has_version(self.table(name))

    def exists(self) -> bool:
        """Also where the table `meta` was lost later."""
        return super().exists() or (self.sums / "meta.json").exists()

    def table_names(self) -> list[str]:
        """Raises `LibraryReadOnly` where that cannot be seen."""
        return sorted(
            path.name.removesuffix(".lance") for path in self.tables.glob("*.lance") if has_version(path)
        )

    def has_marker(self) -> bool:
        """Raises `LibraryReadOnly` where the marker is there and cannot be read."""
        try:
            content = self.marker.read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return False
        except OSError as error:
            raise LibraryReadOnly(
                f"{self.marker}: cannot be read ({os_reason(error)}); check its permissions"
            ) from error
        return _is_marker(content)

    def is_vacant(self) -> bool:
        """Raises `LibraryReadOnly` where that cannot be seen."""
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return True
        except OSError as error:
            raise LibraryReadOnly(
                f"{self.folder}: no library can be kept here ({os_reason(error)}); name another --library"
            ) from error
        # A killed writer may leave the marker under its temporary name.
        return all(name in SYSTEM_NAMES or name.startswith((".part-", f"{MARKER}.")) for name in names)

    def write_marker(self) -> None:
        """Make the folder and its marker, by a rename. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with atomic_file(self.marker) as draft:
            draft.write_bytes(_marker())

    def writer_lock(self) -> WriterLock:
        """Of the kernel: it ends with its process. Makes the files beside it. Raises OSError."""
        self.tables.mkdir(parents=True, exist_ok=True)
        self.readers.touch()
        return WriterLock(self.lock)

    def reader_mark(self) -> ReaderMark:
        """A lock that readers share."""
        return ReaderMark(self.readers)

    def no_readers(self) -> bool:
        """By the lock that they share."""
        return no_readers(self.readers)

    def owns_unnamed_files(self) -> bool:
        """The lock says that no other writer is at work."""
        return True

    def drop(self, table: str) -> None:
        """By a rename first, and without its index and its sums: row ids and versions begin again in another
        table of that name."""
        (self.indexes / f"{table}.json").unlink(missing_ok=True)
        (self.sums / f"{table}.json").unlink(missing_ok=True)
        path = self.table(table)
        if path.is_dir():
            path.rename(path.with_suffix(DROPPED))
        self.delete_dropped()

    def delete_dropped(self) -> None:
        """Raises OSError."""
        for path in self.tables.glob(f"*{DROPPED}"):
            shutil.rmtree(path)

    def size(self, table: str = "") -> int:
        """Without those that cannot be seen."""
        total = 0
        for base, _, names in os.walk(self.table(table) if table else self.folder):
            for name in names:
                try:
                    total += os.lstat(os.path.join(base, name)).st_size
                except OSError:
                    continue
        return total

    def is_whole(self, table: str) -> bool:
        """Raises OSError."""
        return not self._cut(table, self.dataset(table).get_fragments()[-1:])

    def require_whole(self, table: str) -> None:
        """Raises OSError."""
        if cut := self._cut(table, self.dataset(table).get_fragments()):
            raise OSError(f"{cut} has not the size that the table says it has")

    def _cut(self, table: str, fragments: Iterable[Any]) -> str:
        """The first data file of another size than its table says; empty for none."""
        data = self.table(table) / "data"
        files = (file for fragment in fragments for file in fragment.metadata.files)
        wrong = (f for f in files if f.file_size_bytes not in {None, (data / f.path).stat().st_size})
        return next((file.path for file in wrong), "")

    def has_room(self, size: int) -> bool:
        """On its disk."""
        return shutil.disk_usage(self.folder).free >= size

    def changes(self, *tables: str) -> tuple[int, ...]:
        """When a version was last added, in ns."""
        try:
            return tuple(os.stat(self.table(name) / "_versions").st_mtime_ns for name in tables)
        except OSError:
            return ()


class ObjectLayout(LibraryLayout):
    """The objects of a library below an address. Raises `StoreError` where the store fails."""

    folder: StoreAddress

    def __init__(self, address: StoreAddress) -> None:
        self.folder = address
        self.store = open_store(address.url, address.settings)
        self.storage_options = self.store.options
        self.reading_options = self.store.reading_options
        name = hashlib.blake2b(f"{address.url}\n{address.settings.endpoint}".encode(), digest_size=16)
        root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        self.cache = Path(root) / "rag" / "libraries" / name.hexdigest()
        self.compared = set()

    @property
    def database(self) -> str:
        """The address of the tables."""
        return f"{self.folder.url}/tables"

    def _versions(self, table: str) -> list[StoredObject]:
        """The newest first, as their names sort: Lance counts them down."""
        found = self.store.list(f"tables/{table}.lance/_versions")
        return sorted((each for each in found if each.key.endswith(".manifest")), key=lambda each: each.key)

    def has_table(self, name: str) -> bool:
        """One request."""
        return bool(self._versions(name))

    def table_names(self) -> list[str]:
        """One request a table, all at once."""
        names = [name.removesuffix(".lance") for name in self.store.folders("tables") if ".lance" in name]
        with ThreadPoolExecutor(len(names) or 1) as pool:
            return [name for name, there in zip(names, pool.map(self.has_table, names), strict=True) if there]

    def has_marker(self) -> bool:
        """One request."""
        found = self.store.read(MARKER)
        return found is not None and _is_marker(found[0])

    def is_vacant(self) -> bool:
        """By a listing."""
        return all(found.key.startswith(f"{PROBES}/") for found in self.store.list())

    def write_marker(self) -> None:
        """By a conditional write, after a look at whether the store observes the condition."""
        self.store.require_conditional_writes()
        with contextlib.suppress(Refused):
            self.store.create(MARKER, _marker())

    def writer_lock(self) -> Lease:
        """An object that is renewed while it is held."""
        return Lease(self.store)

    def reader_mark(self) -> None:
        """A store knows nothing of its readers."""

    def no_readers(self) -> bool:
        """There may always be some."""
        return False

    def owns_unnamed_files(self) -> bool:
        """A writer that lost its lease in a pause may be about to name some."""
        return False

    def shards(self) -> Sequence[Location]:
        """On this machine, and by a listing."""
        there = (
            StoreAddress(f"{self.folder.url}/{SHARDS}/{name}", self.folder.settings)
            for name in self.store.folders(SHARDS)
        )
        return [*super().shards(), *there]

    def drop(self, table: str) -> None:
        """The newest version goes last: until then the table is whole, after that it is none."""
        for version in reversed(self._versions(table)):
            self.store.delete([version.key])
        self._delete_rows(table)

    def _delete_rows(self, table: str) -> None:
        self.store.delete([found.key for found in self.store.list(f"tables/{table}.lance")])

    def delete_dropped(self) -> None:
        """Those are the tables without a version."""
        names = {name.removesuffix(".lance") for name in self.store.folders("tables") if ".lance" in name}
        for name in names - set(self.table_names()):
            self._delete_rows(name)

    def size(self, table: str = "") -> int:
        """By a listing."""
        return sum(found.size for found in self.store.list(f"tables/{table}.lance" if table else ""))

    def is_whole(self, table: str) -> bool:  # noqa: ARG002 (as of a folder)
        """A store keeps an object as a whole or not at all."""
        return True

    def require_whole(self, table: str) -> None:
        """As `is_whole`; objects that are gone are found when they are read."""

    def has_room(self, size: int) -> bool:  # noqa: ARG002 (as of a folder)
        """A store has."""
        return True

    def changes(self, *tables: str) -> tuple[int, ...]:
        """When a version was last added, in ns; the store counts seconds, the version's number the rest."""
        newest = [versions[0] for name in tables if (versions := self._versions(name))]
        if len(newest) < len(tables):
            return ()
        return tuple(
            each.modified_ns - int(each.key.rpartition("/")[2].split(".")[0]) + 2**64 for each in newest
        )


def open_layout(location: Location) -> LibraryLayout:
    """Of a library that may not be there; nothing is contacted. Raises `UsageError` for a bad address."""
    if isinstance(location, StoreAddress):
        return ObjectLayout(location)
    return Layout(location.absolute())


def _marker() -> bytes:
    return f"{json.dumps(MARKER_CONTENT)}\n".encode()


def _is_marker(content: bytes) -> bool:
    try:
        held = json.loads(content)
    except ValueError:
        return False
    return isinstance(held, dict) and held.get("format") == MARKER_CONTENT["format"]
