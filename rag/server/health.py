"""What health says: whether the server answers, and what the library that it has open holds.

Light to import: it is answered before the application is imported.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from typing_extensions import TypedDict

import rag
from rag.errors import LibraryError, LibraryNotFound
from rag.records import is_still

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from rag.library import Library
    from rag.server.session import LibrarySession


HealthStatus = Literal["starting", "ready", "empty", "failed"]
ModelState = Literal["cold", "loading", "ready", "failed"]


class LibraryItem(TypedDict):
    """The library that is served."""

    library_id: str
    folder: str
    version: str
    """Changes when something that was indexed or removed is seen by searches."""
    videos: int
    photographs: int
    documents: int
    video_hours: float
    images: bool
    """Whether the library has an image encoder, so that what is seen can be found."""
    unsearchable: list[str]
    """What its videos have that no search finds, and the command that changes that, a line each."""


class HealthDocument(TypedDict):
    """`rag.health/1`."""

    schema: Literal["rag.health/1"]
    version: str
    status: HealthStatus
    models: ModelState
    problem: str | None
    library: LibraryItem | None
    indexing: bool


def health_of(session: LibrarySession, *, indexing: bool, models: ModelState) -> HealthDocument:
    """`rag.health/1` of what the session has open now; `indexing`: whether jobs may index.

    Raises what kept the library from being opened, unless that is a `LibraryError`.
    """
    library, failure = session.look()
    status: HealthStatus = "starting" if library is None else "ready"
    if failure is not None:
        if not isinstance(failure, LibraryError):
            raise failure
        status = "empty" if isinstance(failure, LibraryNotFound) else "failed"
    return {
        "schema": "rag.health/1",
        "version": rag.__version__,
        "status": status,
        "models": models,
        "problem": None if failure is None else str(failure),
        "library": library,
        "indexing": indexing,
    }


def facts_of(library: Library, folder: os.PathLike[str], version: str) -> LibraryItem:
    """`library` of `rag.health/1`; `version` changes with what searches see. Raises as its reader does."""
    from rag.rendering.shapes import plain

    reader = library.engine.reader
    videos = reader.videos()
    stills = sum(is_still(0.0, video.duration) for video in videos)
    return {
        "library_id": library.library_id,
        "folder": os.fspath(folder),
        "version": version,
        "videos": len(videos) - stills,
        "photographs": stills,
        "documents": sum(row.kind == "passages" for row in reader.file_rows()),
        "video_hours": plain(sum(video.duration for video in videos) / 3600),
        "images": reader.meta is not None and reader.meta.image_encoder is not None,
        "unsearchable": list(unsearchable(library)),
    }


def unsearchable(library: Library, video_ids: Collection[str] | None = None) -> Iterator[str]:
    """What these videos (default: all) have that no search finds, and the command that changes that, a line
    each: `speech of 12 videos (rag models pull NAME, rag remove, rag index)`."""
    from rag.rendering.terminal import counted
    from rag.retrieval.unread import unsearched

    for found in unsearched(library.engine.reader, library.settings, video_ids):
        yield f"{found.what} of {counted(len(found.video_ids), 'video')} ({found.advice})"
