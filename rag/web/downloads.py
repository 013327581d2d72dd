"""The cache of downloads: each file once, under the hash of its content, whatever leads to it."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

from corpora.errors import os_reason
from corpora.identity import content_hash
from rag.errors import UnreadableFile, WebUnusable
from rag.web.catalogue import Catalogue, VideoEntry
from rag.web.protocol import Downloaded


class Downloads:
    """Files below `folder`, which is made at the first download. Hard links where the disk allows them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._ids: dict[str, str] = {}
        self._whole: dict[Path, tuple[int, int]] = {}

    def fetch(self, catalogue: Catalogue, entry: VideoEntry) -> Downloaded:
        """The entry's file in the cache, whole and verified. Raises `WebUnusable`."""
        with self._lock:
            source = _source(catalogue, entry)
            video_id = self._id(source, entry)
            path = self._folder / f"{video_id}{source.suffix.lower()}"
            try:
                if not self._is_whole(path, video_id):
                    self._store(source, path, video_id)
                    self._whole[path] = _stamp(path)
                return Downloaded(entry.url, str(path), video_id, path.stat().st_size, False)
            except OSError as error:
                raise WebUnusable(f"{self._folder}: cannot keep downloads: {os_reason(error)}") from error

    def content_id(self, catalogue: Catalogue, entry: VideoEntry) -> str:
        """As the catalogue has it, else by reading the file once. Raises `WebUnusable`."""
        with self._lock:
            return entry.content_id or self._id(_source(catalogue, entry), entry)

    def _is_whole(self, path: Path, video_id: str) -> bool:
        """Whether the cache has the file with its content; read once, and again when it has changed."""
        if not path.is_file():
            return False
        stamp = _stamp(path)
        if self._whole.get(path) != stamp:
            if _hash(path) != video_id:
                return False
            self._whole[path] = stamp
        return True

    def _id(self, source: Path, entry: VideoEntry) -> str:
        if entry.content_id:
            return entry.content_id
        if entry.file not in self._ids:
            self._ids[entry.file] = _hash(source)
        return self._ids[entry.file]

    def _store(self, source: Path, path: Path, video_id: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
        unfinished.unlink(missing_ok=True)
        try:
            os.link(source.resolve(), unfinished)
        except OSError:
            shutil.copyfile(source, unfinished)
        if _hash(unfinished) != video_id:
            unfinished.unlink()
            raise WebUnusable(f"{source}: not the file that this web was built with; build the web again")
        unfinished.replace(path)


def _source(catalogue: Catalogue, entry: VideoEntry) -> Path:
    path = catalogue.path(entry)
    if path is None or not os.path.isfile(path):
        raise WebUnusable(f"{path or entry.url}: the web's file is gone; build the web again")
    return path


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _hash(path: Path) -> str:
    try:
        return content_hash(path)
    except UnreadableFile as error:
        raise WebUnusable(str(error)) from error
