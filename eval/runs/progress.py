"""Progress of making data, before there is a query: videos rendered, then files indexed, in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

ProgressCallback = Callable[[str], None]
"""Called with each step in words: `rendered 3 of 48 videos`, `indexing file 2 of 48`."""


@dataclass
class FileCounter:
    """A `Progress` of rendering and of indexing: says each file, and passes over notes."""

    say: ProgressCallback
    line: Callable[[int, int], str]
    files: int = 0
    total: int = 0

    def start(self, total_seconds: float, total_files: int) -> None:  # noqa: ARG002 (the protocol's)
        """Begin a count of files."""
        self.files, self.total = 0, total_files

    def file(self, path: str) -> None:  # noqa: ARG002 (the protocol's)
        """Count one file."""
        self.files += 1
        self.say(self.line(self.files, self.total))

    def advance(self, seconds: float) -> None:
        """Ignored: files are counted, not seconds."""

    def note(self, line: str) -> None:
        """Ignored."""

    def done(self) -> None:
        """Ignored."""


def rendering(say: ProgressCallback | None) -> FileCounter | None:
    """For what renders videos; a file is said when it is finished."""
    return say and FileCounter(say, lambda done, total: f"rendered {done} of {total} videos")


def indexing(say: ProgressCallback | None) -> FileCounter | None:
    """For `Library.index`; a file is said when its turn comes."""
    return say and FileCounter(say, lambda at, total: f"indexing file {at} of {total}")
