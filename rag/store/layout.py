"""Where a library lies: the folder, what is in it, and how it is found."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from rag.errors import LibraryNotFound, LibraryReadOnly

LIBRARY_NAME = ".rag"


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
    folder: Path

    @property
    def tables(self) -> Path:
        """The LanceDB database; each table is a folder `<name>.lance`."""
        return self.folder / "tables"

    @property
    def lock(self) -> Path:
        return self.folder / "writer.lock"

    @property
    def readers(self) -> Path:
        """Readers hold this file shared, so that a writer knows whether an old version is in use."""
        return self.folder / "readers.lock"

    @property
    def scan_cache(self) -> Path:
        return self.folder / "scan.sqlite"

    def table(self, name: str) -> Path:
        return self.tables / f"{name}.lance"

    def table_names(self) -> list[str]:
        """Tables that have a version, sorted."""
        return sorted(
            path.name.removesuffix(".lance") for path in self.tables.glob("*.lance") if has_version(path)
        )

    def exists(self) -> bool:
        return has_version(self.table("meta"))


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


def require_library(folder: Path) -> Layout:
    """Raises `LibraryNotFound` where `folder` holds no library."""
    layout = Layout(folder.absolute())
    if not layout.exists():
        raise LibraryNotFound(f"{layout.folder}: no library here; make one with: rag index FOLDER")
    return layout
