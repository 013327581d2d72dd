"""Base of the error tree, and what can be wrong with a file; `rag.errors` shows the whole tree.

The message of each is one line that says what is wrong and what to do next.
"""

from __future__ import annotations


class RagError(Exception):
    """Base of all errors that a user can cause or correct."""

    exit_code = 1


class UsageError(RagError):
    """Arguments that cannot be used; exit code 2."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting that is unknown or out of range."""


class FileProblem(RagError):
    """A file that cannot be indexed, or not completely."""


class UnreadableFile(FileProblem):
    """The operating system refuses to read the file."""


class UnsupportedFile(FileProblem):
    """A format or codec that is not supported."""


class DamagedFile(FileProblem):
    """The content does not follow its format."""


class StalledFile(FileProblem):
    """Decoding stopped making progress and was ended."""
