"""Base of the error tree, and what can be wrong with a file; `rag.errors` shows the whole tree.

The message of each is one line that says what is wrong and what to do next.
"""

from __future__ import annotations

__all__ = [
    "DamagedFile",
    "FileProblem",
    "RagError",
    "SettingsError",
    "StalledFile",
    "UnreadableFile",
    "UnsupportedFile",
    "UsageError",
]


class RagError(Exception):
    """Base of all errors that a user can cause or mend."""

    exit_code = 1


class UsageError(RagError):
    exit_code = 2


class SettingsError(UsageError): ...


class FileProblem(RagError): ...


class UnreadableFile(FileProblem): ...


class UnsupportedFile(FileProblem): ...


class DamagedFile(FileProblem): ...


class StalledFile(FileProblem): ...
