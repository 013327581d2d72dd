"""What health says of an open library."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from indexers.models.lookup import image_encoder_advice
from rag.library import Library
from rag.rendering.terminal import counted
from rag.retrieval.unread import unread_text
from rag.server.documents import LibraryItem


def facts_of(library: Library, folder: Path, version: str) -> LibraryItem:
    """`library` of `rag.health/1`; `version` changes with what searches see. Raises as its reader does."""
    reader = library.engine.reader
    videos = reader.videos()
    return {
        "library_id": library.library_id,
        "folder": os.fspath(folder),
        "version": version,
        "videos": len(videos),
        "documents": sum(row.kind == "passages" for row in reader.file_rows()),
        "video_hours": sum(video.duration for video in videos) / 3600,
        "images": _has_images(library),
        "unsearchable": list(unsearchable(library)),
    }


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
