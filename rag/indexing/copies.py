"""Groups with their files on this machine: objects are fetched one ahead of the one that is decoded."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable
from contextlib import ExitStack
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
    copy: LocalCopy | None
    """None where the object could not be fetched, for `problem`."""
    problem: FileProblem | None = None

    @property
    def read(self) -> str:
        """The path that is read; that of the object where there is no copy."""
        return self.copy.path if self.copy is not None else self.group.first.path

    def problem_of(self, problem: FileProblem) -> FileProblem:
        """The problem of what is read, as one of the file."""
        path = self.group.first.path
        return problem if self.read == path else type(problem)(f"{path}: {reason_of(problem, self.read)}")

    def require(self) -> LocalCopy:
        """The copy. Raises what kept it from being made."""
        if self.copy is None:
            assert self.problem is not None
            raise self.problem
        return self.copy

    def discard(self) -> None:
        """Delete the copy."""
        if self.copy is not None:
            self.copy.discard()


def local_groups(groups: Iterable[Group], storage: StorageSettings) -> Generator[LocalGroup, None, None]:
    """Each group with its files on this machine; the caller discards each copy before it takes the next.

    While one is used the next is fetched: of one reader's files two are there at once. What is left is
    deleted when the generator is closed. Raises `StoreError` and `ScratchFull`.
    """
    with ExitStack() as stack:
        scratch: Path | None = None
        ahead: _Fetching | None = None
        for group in groups:
            if scratch is None and _is_remote(group):
                scratch = stack.enter_context(scratch_folder(storage))
            following = _Fetching(group, scratch, storage)
            if ahead is not None:
                yield ahead.result()
            ahead = following
        if ahead is not None:
            yield ahead.result()


def _is_remote(group: Group) -> bool:
    return any(map(is_url, (group.first.path, *group.sidecars)))


class _Fetching:
    """One group that is fetched in a thread, which ends with the process."""

    def __init__(self, group: Group, scratch: Path | None, storage: StorageSettings) -> None:
        self._group = group
        self._done: LocalGroup | None = None
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        if scratch is None or not _is_remote(group):
            copy = LocalCopy(group.first.path, group.sidecars, group.content_id)
            self._done = LocalGroup(group, copy)
        else:
            self._thread = threading.Thread(target=self._run, args=(scratch, storage), daemon=True)
            self._thread.start()

    def _run(self, scratch: Path, storage: StorageSettings) -> None:
        group = self._group
        try:
            copy = fetch(group.first, scratch, storage, sidecars=group.sidecars)
            if group.content_id not in ("", copy.content_id):
                copy.discard()
                raise ChangedFile(group.first.path)
            self._done = LocalGroup(replace(group, content_id=copy.content_id), copy)
        except FileProblem as problem:
            self._done = LocalGroup(group, None, problem)
        except BaseException as error:
            self._error = error

    def result(self) -> LocalGroup:
        if self._thread is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._done is not None
        return self._done
