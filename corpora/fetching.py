"""Copies of objects on this machine, for the time they are indexed; identity is the hash of what was copied.

A run has a folder of its own in the scratch folder, locked while it lives and deleted at its end; folders
of runs that were killed are deleted by the next one.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.errors import ChangedFile, ScratchFull, UnfetchedFile, os_reason
from corpora.identity import content_hash
from corpora.objects import StoreError, is_url, locate
from corpora.platforms import take_lock
from corpora.scan import FoundFile
from corpora.settings import StorageSettings

if TYPE_CHECKING:
    from filelock import FileLock

PREFIX = "rag-scratch-"


@dataclass(frozen=True, slots=True)
class LocalCopy:
    """A file and its sidecars where they can be read."""

    path: str
    sidecars: tuple[str, ...]
    """In the order in which they were asked for; one that is gone is left out."""
    content_id: str
    folder: Path | None = None
    """What was made for it; None where the file itself is on this machine."""

    def discard(self) -> None:
        """Delete what was copied."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def scratch_folder(storage: StorageSettings) -> Iterator[Path]:
    """An empty folder for copies, deleted at the end with all it holds. Raises `ScratchFull`."""
    parent = storage.scratch or Path(tempfile.gettempdir())
    with _disk_errors(parent):
        parent.mkdir(parents=True, exist_ok=True)
        _sweep(parent)
        folder, lock = _locked_folder(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()


def _locked_folder(parent: Path) -> tuple[Path, FileLock]:
    """A new folder with its lock, which is held."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        # Another run that starts now may take it for that of a killed one.
        with contextlib.suppress(FileNotFoundError):
            lock = take_lock(folder / "lock")
            if lock is not None and (folder / "lock").exists():
                return folder, lock


def _sweep(parent: Path) -> None:
    """Delete the folders of runs that were killed."""
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # another user's
            lock = take_lock(folder / "lock")
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                lock.release()


def fetch(
    found: FoundFile, scratch: Path, storage: StorageSettings, *, sidecars: Sequence[str] | None = None
) -> LocalCopy:
    """The file and its sidecars on this machine, copied into a folder in `scratch` where they are objects.

    The copy is one state of the object: the one that was listed, where `found` has its ETag. Its content id
    is hashed on the way.
    `sidecars`: default those of `found`.
    Raises `ChangedFile` where the object is no longer the one listed, or changes meanwhile, `UnfetchedFile`
    where the store gives others and not this one, `StoreError` where the store does not answer,
    `ScratchFull`, and for a file `UnreadableFile`.
    """
    beside = found.sidecars if sidecars is None else tuple(sidecars)
    if not any(map(is_url, (found.path, *beside))):
        return LocalCopy(found.path, beside, content_hash(found.path))
    with _disk_errors(scratch, found):
        folder = Path(tempfile.mkdtemp(dir=scratch))
        copy = LocalCopy("", (), "", folder)
        try:
            path, content_id = found.path, ""
            if is_url(path):
                if shutil.disk_usage(folder).free < found.size:
                    raise OSError(errno.ENOSPC, "no room")
                path = os.fspath(folder / _name(path))
                with Path(path).open("wb") as file:
                    content_id = _read(found, storage, file.write)
            copied = [_sidecar(each, folder / f"{k:04d}", storage) for k, each in enumerate(beside)]
            return LocalCopy(path, tuple(filter(None, copied)), content_id or content_hash(path), folder)
        except BaseException:
            copy.discard()
            raise


def content_id(found: FoundFile, storage: StorageSettings) -> str:
    """The hash of the content; of an object by reading it, without a copy. Raises as `fetch`."""
    if not is_url(found.path):
        return content_hash(found.path)
    return _read(found, storage, len)


def _read(found: FoundFile, storage: StorageSettings, write: Callable[[bytes], object]) -> str:
    """Pass the content of an object to `write`; returns its hash."""
    with _object_errors(found.path, storage):
        store, key = locate(found.path, storage)
        before, parts = store.parts(key)
        if before.size != found.size or (found.etag and before.etag != found.etag):
            raise ChangedFile(found.path)
        digest = hashlib.blake2b(digest_size=16)
        count = 0
        try:
            for part in parts:
                digest.update(part)
                count += len(part)
                write(part)
        except StoreError as error:
            if store.head(key) != before:
                raise ChangedFile(found.path) from error
            raise
        if count != before.size or store.head(key) != before:
            raise ChangedFile(found.path)
    return digest.hexdigest()


def _sidecar(path: str, folder: Path, storage: StorageSettings) -> str:
    """Where a sidecar can be read; empty for one that is gone."""
    if not is_url(path):
        return path
    content = read_sidecar(path, storage)
    if content is None:
        return ""
    folder.mkdir()
    target = folder / _name(path)
    target.write_bytes(content)
    return os.fspath(target)


def _name(path: str) -> str:
    """The end of a file name: keys may be longer than the names of files, and endings matter."""
    return Path(path).name.encode()[-200:].decode(errors="ignore")


def read_sidecar(path: str, storage: StorageSettings) -> bytes | None:
    """The content of a small object; None where there is none. Raises as `fetch`."""
    with _object_errors(path, storage):
        store, key = locate(path, storage)
        found = store.read(key)
    return None if found is None else found[0]


@contextmanager
def _object_errors(address: str, storage: StorageSettings) -> Iterator[None]:
    """A store that refuses one object and lists its neighbours has a problem with that object alone."""
    try:
        yield
    except StoreError as error:
        store, key = locate(address, storage)
        next(store.list(os.path.dirname(key)), None)
        raise UnfetchedFile(str(error)) from error


@contextmanager
def _disk_errors(folder: Path, found: FoundFile | None = None) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        what = f" for {found.path} ({found.size:,} bytes)" if found is not None else ""
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise ScratchFull(
                f"{folder}: no room{what}; a worker needs twice its largest file: free some, or name "
                "another folder with storage.scratch"
            ) from error
        reason = os_reason(error)
        raise ScratchFull(
            f"{folder}: cannot be written{what} ({reason}); name another folder with storage.scratch"
        ) from error
