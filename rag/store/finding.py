"""Which folder or address is meant: the library that is found or named, and the paths that users give."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.objects import StoreAddress, is_url
from corpora.scan import path_or_address
from rag.errors import LibraryNotFound, UsageError
from rag.store.head import lost_head, read_head
from rag.store.layout import Layout, Location, open_layout

if TYPE_CHECKING:
    from corpora.settings import StorageSettings

LIBRARY_NAME = ".rag"


def absolute_path(path: str | os.PathLike[str]) -> str:
    """The path from the root, normalized, with its links kept; an address of an object store as it is.

    Raises `UsageError` for an empty path, which would stand for the working folder, and for what is no path.
    """
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"a path is of type {type(path).__name__}; give a text or a Path")
    text = os.fspath(path)
    if "\0" in text:
        raise UsageError("a path has a character NUL, which no file's name has")
    if not text:
        raise UsageError("a path is empty; a shell variable may be unset; the working folder is named: .")
    return path_or_address(text)


def path_list(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
) -> list[str | os.PathLike[str]]:
    """The paths; one alone is a path, where a list of its letters would begin with the root folder.

    Raises `UsageError` for what is neither.
    """
    if not isinstance(paths, str | os.PathLike | Iterable):
        raise UsageError(f"the paths are of type {type(paths).__name__}; give a path, or several in a list")
    return [paths] if isinstance(paths, str | os.PathLike) else [*paths]


def library_location(named: str | os.PathLike[str], storage: StorageSettings | None) -> Location:
    """The folder, or the address on an object store, that a person names. Raises `UsageError` for none."""
    if isinstance(named, StoreAddress):
        return named
    if is_url(named):
        if storage is None:
            raise ValueError("an address needs the section [storage]")
        return StoreAddress(os.fspath(named).rstrip("/"), storage)
    return Path(absolute_path(named))


def find_library(
    start: Path | None = None,
    *,
    library: str | os.PathLike[str] | None = None,
    storage: StorageSettings | None = None,
) -> Location:
    """Where the library is: `library` if given, else `.rag` in `start` or the nearest parent that has one.

    `start` defaults to the working directory. Where there is none, the answer is where a new one would go:
    `start/.rag`. `storage`: how a store is reached. Nothing is made or opened.
    """
    if library is not None:
        return library_location(library, storage)
    here = (start or Path.cwd()).absolute()
    for folder in (here, *here.parents):
        if Layout(folder / LIBRARY_NAME).exists():
            return folder / LIBRARY_NAME
    return here / LIBRARY_NAME


def index_command(folder: Location) -> str:
    """The command that makes a library in `folder`, which it names where that is not the default."""
    return f"rag index FOLDER{library_option(folder)}"


def library_option(folder: Location) -> str:
    """`--library` with a space before it, for an advised command; empty where that is the default."""
    if isinstance(folder, Path) and folder.absolute() == find_library():
        return ""
    return f" --library {shlex.quote(os.fspath(folder))}"


def advice_to_fill(folder: Location) -> str:
    """A sentence on a library without content, with the command that adds some."""
    return f"The library holds nothing yet; fill it with: {index_command(folder)}"


def nothing_indexed(folder: Location) -> LibraryNotFound:
    """The error for a library without content, with the command that indexes into it."""
    return LibraryNotFound(f"{folder}: nothing is indexed here yet; run: {index_command(folder)}")


def require_library(folder: Location) -> Layout:
    """Raises `LibraryNotFound` where `folder` holds no library, `LibraryCorrupt` where its head is lost."""
    layout = open_layout(folder)
    if not layout.exists():
        if layout.has_rows():
            raise lost_head(layout.folder)
        raise LibraryNotFound(f"{layout.folder}: no library here; make one with: {index_command(folder)}")
    return layout


def writable_library(folder: Location, *, create: bool = True) -> Layout:
    """The library in `folder`, or the vacant folder for a new one with `create`; writes nothing.

    Raises `LibraryNotFound` for any other folder, and without `create` for one without a library.
    """
    layout = open_layout(folder) if create else require_library(folder)
    # Another process may have made the library between two looks.
    if not read_head(layout)[0].number and not layout.is_vacant() and not read_head(layout)[0].number:
        if layout.has_rows():
            raise lost_head(layout.folder)
        raise LibraryNotFound(
            f"{layout.folder}: holds files and is not a library; "
            "nothing was written; name a new or empty folder"
        )
    return layout


def real_name(location: Location) -> str:
    """One name for a library however it is named: without links, and as it is on a store."""
    return os.fspath(location) if is_url(location) else os.path.realpath(location)
