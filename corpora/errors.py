"""Base of the error tree, and what can be wrong with a file; `rag.errors` shows the whole tree.

The message of each is one line that says what is wrong and what to do next.
"""

from __future__ import annotations

import errno
import os
from typing import Literal


def os_reason(error: OSError) -> str:
    """What the operating system says, in lower case: "permission denied"."""
    return (error.strerror or str(error)).lower()


class RagError(Exception):
    """Base of all errors that a user can cause or correct."""

    exit_code = 1


def reason_of(error: RagError, path: str) -> str:
    """What is wrong with a file or object, without the path or address that the message begins with."""
    return str(error).removeprefix(f"{path}: ")


class UsageError(RagError):
    """Arguments that cannot be used; exit code 2."""

    exit_code = 2


class DiskError(RagError):
    """A disk that is full, read-only or not permitted, for a file that a user named."""


_NAMED_WRONGLY = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP}
)


def file_error(
    path: str | os.PathLike[str], error: OSError, action: Literal["read", "written"] = "written"
) -> RagError:
    """What is raised for a file that a user named, and that cannot be read or written.

    A `UsageError` where the path itself is wrong, as below a folder that does not exist; for what is wrong
    with the disk, full, read-only or not permitted, a `DiskError`.
    """
    kind = UsageError if error.errno in _NAMED_WRONGLY else DiskError
    return kind(f"{os.fspath(path)}: cannot be {action}: {os_reason(error)}")


class SettingsError(UsageError):
    """A setting that is unknown or out of range."""


class FileProblem(RagError):
    """A file that cannot be indexed, or not completely."""

    lasting = True
    """Whether it holds until the file changes; what does not is tried again in the next run."""


class UnreadableFile(FileProblem):
    """The operating system refuses to read the file."""


class UnsupportedFile(FileProblem):
    """A format or codec that is not supported."""


class DamagedFile(FileProblem):
    """The content does not follow its format."""


class StalledFile(FileProblem):
    """Reading stopped making progress and was ended, or its subprocess was."""

    lasting = False


class OverLimit(StalledFile):
    """Reading took more than the settings `reading` allow, or crashed: so it will with the same limits."""

    lasting = True


class ChangedFile(UnreadableFile):
    """A file that changed while it was read."""

    lasting = False

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path}: it changed while it was read; run the same command again when it is complete"
        )


class StaleFile(FileProblem):
    """A file that changed since it was indexed."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path}: changed since it was indexed; run rag index on its folder")


class UnfetchedFile(UnreadableFile):
    """An object that its store, which answers, does not give."""

    lasting = False


class ScratchFull(RagError):
    """The folder for copies of objects has no room for the next one."""
