"""Bundles that wait for the library's writer, below `staging/` of the library.

`<made for>/<made with>/<name>`: the library's encoders and settings, the settings of the run, and the content
id with a hash of its paths. Each is written by conditional create, so that of several workers the first has
staged a content, and none ever sees half a bundle. There is no lock: workers only add, and only the library's
writer removes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

from corpora.objects import Refused, StoredObject
from corpora.scan import FoundFile
from rag.store.bundles import Bundle, BundleHead, read_bundle
from rag.store.error_mapping import write_errors
from rag.store.records import DEVICES, Meta, NotedProblem

_BUNDLE = re.compile(r"[0-9a-f]{24}/[0-9a-f]{24}/[^/@+]*[@+][0-9a-f]{24}")
"""Keys of bundles; what else is there is not ours."""
_DRAFT = re.compile(r"\.[0-9a-f]{16}")
DRAFT_SECONDS = 24 * 3600
"""A file under a temporary name that is older is what a killed worker left."""


class Located(Protocol):
    """A content with the paths that hold it."""

    @property
    def content_id(self) -> str:
        """Hash of the content."""

    @property
    def files(self) -> tuple[FoundFile, ...]:
        """Its paths."""


Content = TypeVar("Content", bound=Located)


class Objects(Protocol):
    """Files by key: an object store (`corpora.objects.ObjectStore`) or a folder."""

    def list(self, prefix: str = "") -> Iterator[StoredObject]:
        """Every object whose key begins with the path `prefix`, in no particular order."""

    def read(self, key: str) -> tuple[bytes, StoredObject] | None:
        """Content and description; None where there is none."""

    def create(self, key: str, content: bytes) -> str:
        """Write an object that is not there. Raises `Refused` where it is there already."""

    def delete(self, keys: Iterable[str]) -> None:
        """Those that are not there are skipped."""


class FolderObjects:
    """A folder as `Objects`, without a package for object stores."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def list(self, prefix: str = "") -> Iterator[StoredObject]:
        """As `Objects.list`; drafts are left out."""
        for base, _, names in os.walk(self._folder / prefix):
            for name in names:
                path = Path(base, name)
                if not name.startswith("."):
                    try:
                        yield self._described(path)
                    except FileNotFoundError:
                        continue

    def read(self, key: str) -> tuple[bytes, StoredObject] | None:
        """As `Objects.read`."""
        path = self._folder / key
        try:
            return path.read_bytes(), self._described(path)
        except FileNotFoundError:
            return None

    def create(self, key: str, content: bytes) -> str:
        """By a draft beside it and a link, which fails where the name is taken."""
        path = self._folder / key
        draft = path.with_name(f".{secrets.token_hex(8)}")
        with write_errors(self._folder.parent):
            try:
                _write(draft, content)
                _link(draft, path)
            except FileExistsError as error:
                raise Refused(f"{path}: it is there already") from error
            finally:
                draft.unlink(missing_ok=True)
        return ""

    def delete(self, keys: Iterable[str]) -> None:
        """As `Objects.delete`; with drafts that a killed worker left, and folders that are empty then."""
        for key in keys:
            (self._folder / key).unlink(missing_ok=True)
        for base, folders, names in os.walk(self._folder, topdown=False):
            for name in names:
                path = Path(base, name)
                if _DRAFT.fullmatch(name) and _age(path) > DRAFT_SECONDS:
                    path.unlink(missing_ok=True)
            for name in folders:
                try:
                    Path(base, name).rmdir()
                except OSError:
                    continue

    def _described(self, path: Path) -> StoredObject:
        status = path.stat()
        key = path.relative_to(self._folder).as_posix()
        return StoredObject(key, status.st_size, "", datetime.fromtimestamp(status.st_mtime, UTC))


def _write(draft: Path, content: bytes) -> None:
    while True:
        draft.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_bytes(content)
            return
        except FileNotFoundError:  # a writer has just removed the empty folder
            continue


def _link(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links. Two that stage a content at once write the same rows.
        if path.exists():
            raise FileExistsError(path) from None
        draft.replace(path)


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


class Staging:
    """The bundles of one library. `made_with`: settings of this run that decide the rows, as JSON values;
    None where it stages nothing."""

    def __init__(self, objects: Objects, meta: Meta, made_with: Mapping[str, Any] | None = None) -> None:
        self._objects = objects
        encoders = [ref.fingerprint if ref else "" for ref in (meta.image_encoder, meta.text_encoder)]
        settings = {name: value for name, value in meta.settings.items() if name != DEVICES}
        self._made_for = _digest([encoders, settings])
        self._made_with = self._made_for if made_with is None else f"{self._made_for}/{_digest(made_with)}"

    def missing(self, groups: Iterable[Content]) -> list[Content]:
        """Those whose content is not staged with the settings of this run.

        New paths of a content that is staged are staged with it.
        """
        names, contents, files = self._names()
        left = []
        for group in groups:
            if not group.content_id and _digest_of_files(group.files) in files:
                continue  # an object of which that alone is known
            if group.content_id not in contents:
                left.append(group)
            elif f"{group.content_id}@{_digest_of_files(group.files)}" not in names:
                self.put_paths(group)
        return left

    def new(self, groups: Iterable[Content]) -> list[Content]:
        """Those of which neither content nor files are staged, with the settings of this run or, where it
        stages nothing, with any; writes nothing."""
        _, contents, files = self._names()
        return [
            group
            for group in groups
            if group.content_id not in contents and _digest_of_files(group.files) not in files
        ]

    def _names(self) -> tuple[set[str], set[str], set[str]]:
        """What is staged with the settings of this run: names, and contents and digests of files of those."""
        names = {key.rpartition("/")[2] for key in self._keys(self._made_with)}
        pairs = [name.partition("@") for name in names if "@" in name]
        return names, {content for content, _, _ in pairs}, {files for _, _, files in pairs}

    def put(self, bundle: Bundle) -> bool:
        """Stage a content; False where it was staged already, under the same paths."""
        head = bundle.head
        name = f"{head.content_id}@{_digest_of_files(head.files)}"
        if head.known or not head.content_id:
            name = f"{head.content_id}+{_digest(asdict(head))}"
        try:
            self._objects.create(f"{self._made_with}/{name}", bundle.to_bytes())
        except Refused:
            return False
        return True

    def put_paths(self, group: Located) -> None:
        """Stage paths of a content that is staged, or in the library."""
        self.put(Bundle(BundleHead(group.content_id, group.files, known=True), {}))

    def put_problems(self, problems: Iterable[NotedProblem]) -> None:
        """Stage problems of files that were not read."""
        if found := tuple(problems):
            self.put(Bundle(BundleHead("", problems=found), {}))

    def waiting(self) -> list[StoredObject]:
        """Every bundle that fits the library: contents in the order of their ids, then paths alone.

        Of one content that was staged with several settings the last comes first, and is committed.
        """
        found = [o for o in self._objects.list(self._made_for) if _BUNDLE.fullmatch(o.key)]
        found.sort(key=lambda o: (o.modified, o.key), reverse=True)
        return sorted(found, key=lambda o: ("+" in o.key, content_of(o)))

    def others(self) -> int:
        """How many bundles were made for other encoders or settings than the library's."""
        keys = filter(_BUNDLE.fullmatch, self._keys(""))
        return sum(not key.startswith(f"{self._made_for}/") for key in keys)

    def read(self, staged: StoredObject) -> Bundle | None:
        """None where it is gone. Raises `BundleInvalid`."""
        held = self._objects.read(staged.key)
        return None if held is None else read_bundle(held[0])

    def remove(self, staged: Iterable[StoredObject]) -> None:
        """After their commit."""
        self._objects.delete([o.key for o in staged])

    def _keys(self, prefix: str) -> list[str]:
        return [o.key for o in self._objects.list(prefix)]


def content_of(staged: StoredObject) -> str:
    """The content of a bundle by its name."""
    return staged.key.rpartition("/")[2].replace("+", "@").partition("@")[0]


def _digest_of_files(files: Iterable[FoundFile]) -> str:
    return _digest([(found.path, found.stamp) for found in files])


def _digest(value: object) -> str:
    return hashlib.blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=12).hexdigest()
