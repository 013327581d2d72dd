"""Groups with their files on this machine: objects are fetched one ahead of the one that is decoded."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from corpora.errors import reason_of
from corpora.fetching import LocalCopy, fetch, scratch_folder
from corpora.objects import is_url
from corpora.settings import StorageSettings
from rag.errors import ChangedFile, FileProblem
from rag.indexing.planning import Group


@dataclass(frozen=True, slots=True)
class LocalGroup:
    """A group whose content is known, and where its first file and its sidecars are read."""

    group: Group
    copy: LocalCopy | FileProblem
    """The problem where the object could not be fetched."""

    @contextmanager
    def opened(self) -> Iterator[LocalCopy]:
        """The copy, which is deleted afterwards. Problems met meanwhile name the file, and not its copy.

        Raises what kept the copy from being made.
        """
        copy, path = self.copy, self.group.first.path
        if isinstance(copy, FileProblem):
            raise copy
        try:
            yield copy
        except FileProblem as problem:
            if copy.path == path:
                raise
            raise type(problem)(f"{path}: {reason_of(problem, copy.path)}") from problem
        finally:
            copy.discard()


def local_groups(groups: Iterable[Group], storage: StorageSettings) -> Generator[LocalGroup, None, None]:
    """Each group with its files on this machine; the caller is done with each before it takes the next.

    While one is used the next is fetched: of one reader's files two are there at once. What is left is
    deleted when the generator is closed. Raises `StoreError` and `ScratchFull`.
    """
    with ExitStack() as stack:
        scratch: Path | None = None
        ahead: Future[LocalGroup] | None = None
        for group in groups:
            if scratch is None and _is_remote(group):
                scratch = stack.enter_context(scratch_folder(storage))
            following = _begin(group, scratch, storage)
            if ahead is not None:
                yield ahead.result()
            ahead = following
        if ahead is not None:
            yield ahead.result()


def _is_remote(group: Group) -> bool:
    return any(map(is_url, (group.first.path, *group.sidecars)))


def _begin(group: Group, scratch: Path | None, storage: StorageSettings) -> Future[LocalGroup]:
    """The group, once its files are here. Objects are fetched in a thread that ends with the process."""
    begun: Future[LocalGroup] = Future()

    def run() -> None:
        try:
            begun.set_result(_fetched(group, scratch, storage))
        except BaseException as error:
            begun.set_exception(error)

    if _is_remote(group):
        threading.Thread(target=run, daemon=True).start()
    else:
        begun.set_result(LocalGroup(group, LocalCopy(group.first.path, group.sidecars, group.content_id)))
    return begun


def _fetched(group: Group, scratch: Path | None, storage: StorageSettings) -> LocalGroup:
    assert scratch is not None
    try:
        copy = fetch(group.first, scratch, storage, sidecars=group.sidecars)
        if group.content_id not in ("", copy.content_id):
            copy.discard()
            raise ChangedFile(group.first.path)
    except FileProblem as problem:
        return LocalGroup(group, problem)
    return LocalGroup(replace(group, content_id=copy.content_id), copy)
