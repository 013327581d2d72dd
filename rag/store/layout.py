"""The library folder: its files, how it is found, and how it is distinguished from any other folder."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path

from corpora.outputs import LIBRARY_MARKER
from rag.errors import LibraryNotFound, LibraryReadOnly, UsageError
from rag.store.schema import PLAIN_TABLES

LIBRARY_NAME = ".rag"
MARKER = LIBRARY_MARKER
MARKER_CONTENT = {"format": "offline-video-rag library", "version": 1}
SYSTEM_NAMES = frozenset({".DS_Store", "lost+found"})
"""Entries that an operating system adds to a folder: with nothing else, the folder counts as empty."""


def has_version(table: Path) -> bool:
    """Whether the table was made to its end: its making may have been killed before the first version.

    Raises `LibraryReadOnly` where that cannot be seen.
    """
    try:
        return any(name.endswith(".manifest") for name in os.listdir(table / "_versions"))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise LibraryReadOnly(
            f"{table}: the library cannot be read ({reason}); check its permissions"
        ) from error


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths of a library's files below its folder."""

    folder: Path

    @property
    def tables(self) -> Path:
        """The LanceDB database; each table is a folder `<name>.lance`."""
        return self.folder / "tables"

    @property
    def lock(self) -> Path:
        """The file that the one writer locks."""
        return self.folder / "writer.lock"

    @property
    def readers(self) -> Path:
        """Readers hold this file shared, so that a writer knows whether an old version is in use."""
        return self.folder / "readers.lock"

    @property
    def scan_cache(self) -> Path:
        """The SQLite file that caches the identity of scanned files."""
        return self.folder / "scan.sqlite"

    def table(self, name: str) -> Path:
        """Folder of one LanceDB table."""
        return self.tables / f"{name}.lance"

    def table_names(self) -> list[str]:
        """Tables that have a version, sorted."""
        return sorted(
            path.name.removesuffix(".lance") for path in self.tables.glob("*.lance") if has_version(path)
        )

    def exists(self) -> bool:
        """Whether the folder has a library."""
        return has_version(self.table("meta"))

    @property
    def marker(self) -> Path:
        """The file that says that the folder is a library; written before anything else."""
        return self.folder / MARKER

    def has_marker(self) -> bool:
        """Raises `LibraryReadOnly` where the marker is there and cannot be read."""
        try:
            content = json.loads(self.marker.read_bytes())
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError):
            return False
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise LibraryReadOnly(
                f"{self.marker}: cannot be read ({reason}); check its permissions"
            ) from error
        return isinstance(content, dict) and content.get("format") == MARKER_CONTENT["format"]

    def is_library(self) -> bool:
        """Whether the folder may be written: it has the marker, or all tables of a library without one."""
        return self.has_marker() or all(has_version(self.table(name)) for name in PLAIN_TABLES)

    def is_vacant(self) -> bool:
        """Whether a library may be made here: the folder is missing or empty.

        Raises `LibraryReadOnly` where that cannot be seen.
        """
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return True
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise LibraryReadOnly(
                f"{self.folder}: no library can be kept here ({reason}); name another --library"
            ) from error
        # A killed writer may leave the marker under its temporary name.
        return all(name in SYSTEM_NAMES or name.startswith(f"{MARKER}.") for name in names)

    def write_marker(self) -> None:
        """Make the folder and its marker, by a rename. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(prefix=f"{MARKER}.", dir=self.folder)
        try:
            with os.fdopen(fd, "w", encoding="ascii") as file:
                file.write(json.dumps(MARKER_CONTENT) + "\n")
            os.chmod(name, 0o644)
            os.replace(name, self.marker)
        except BaseException:
            os.unlink(name)
            raise


def absolute_path(path: str | os.PathLike[str]) -> str:
    """The path from the root, normalized, with its links kept.

    Raises `UsageError` for an empty path: it would stand for the working folder.
    """
    text = os.fspath(path)
    if not text:
        raise UsageError("a path is empty; a shell variable may be unset; the working folder is named: .")
    return os.path.abspath(text)


def find_library(start: Path | None = None, *, library: Path | None = None) -> Path:
    """The library's folder: `library` if given, else `.rag` in `start` or the nearest parent that has one.

    `start` defaults to the working directory. Where there is none, the answer is
    where a new one would go: `start/.rag`. Nothing is made or opened.
    """
    if library is not None:
        return library.absolute()
    here = (start or Path.cwd()).absolute()
    for folder in (here, *here.parents):
        if Layout(folder / LIBRARY_NAME).exists():
            return folder / LIBRARY_NAME
    return here / LIBRARY_NAME


def index_command(folder: Path) -> str:
    """The command that makes a library in `folder`, which it names where that is not the default."""
    if folder.absolute() == find_library():
        return "rag index FOLDER"
    return f"rag index FOLDER --library {shlex.quote(os.fspath(folder))}"


def nothing_indexed(folder: Path) -> LibraryNotFound:
    """The error for a library without content, with the command that indexes into it."""
    return LibraryNotFound(f"{folder}: nothing is indexed here yet; run: {index_command(folder)}")


def require_library(folder: Path) -> Layout:
    """Raises `LibraryNotFound` where `folder` holds no library."""
    layout = Layout(folder.absolute())
    if not layout.exists():
        raise LibraryNotFound(f"{layout.folder}: no library here; make one with: {index_command(folder)}")
    return layout


def writable_library(folder: Path, *, create: bool = True) -> Layout:
    """The library in `folder`, or the vacant folder for a new one with `create`; writes nothing.

    Raises `LibraryNotFound` for any other folder, and without `create` for one without a library.
    """
    layout = Layout(folder.absolute()) if create else require_library(folder)
    if not layout.is_library() and not (create and layout.is_vacant()):
        raise LibraryNotFound(
            f"{layout.folder}: holds files and is not a library; "
            "nothing was written; name a new or empty folder with --library"
        )
    return layout
