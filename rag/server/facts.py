"""What health says of an open library."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from indexers.models.lookup import image_encoder_advice
from rag.library import Library
from rag.rendering.terminal import counted
from rag.retrieval.unread import unread_text


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    """`library` of `rag.health/1`."""

    library_id: str
    folder: str
    version: str
    """Changes when something that was indexed or removed is seen by searches."""
    videos: int
    documents: int
    video_hours: float
    images: bool
    """Whether the library has an image encoder, so that what is seen can be found."""
    unsearchable: tuple[str, ...]
    """What its videos have that no search finds, and how to change that, a sentence each."""


def facts_of(library: Library, folder: Path, version: str) -> LibraryFacts:
    """The facts of a library in `folder`; `version` as `LibraryFacts` has it. Raises as its reader does."""
    reader = library.engine.reader
    videos = reader.videos()
    return LibraryFacts(
        library.library_id,
        os.fspath(folder),
        version,
        len(videos),
        sum(row.kind == "passages" for row in reader.file_rows()),
        sum(video.duration for video in videos) / 3600,
        _has_images(library),
        tuple(unsearchable(library)),
    )


def _has_images(library: Library) -> bool:
    meta = library.engine.reader.meta
    return meta is not None and meta.image_encoder is not None


def unsearchable(library: Library) -> Iterator[str]:
    """What its videos have that no search finds, and how to change that, a sentence each."""
    reader = library.engine.reader
    if not _has_images(library) and (seen := sum(video.width > 0 for video in reader.videos())):
        yield f"What is seen in {counted(seen, 'video')}: {image_encoder_advice()}"
    for found in unread_text(reader, library.settings):
        yield f"The {found.what} of {counted(len(found.video_ids), 'video')}: {found.advice}"
