"""Progress of an indexing run, and its report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from corpora.kinds import line_on_subtitles, lines_on_ignored
from corpora.records import Problem

if TYPE_CHECKING:
    from corpora.scan import Scan
    from rag.store.layout import Location

Prune = bool | Literal["all"]
"""Whether missing files are removed; `all`: also where they may be on a disk that is not mounted."""


class Progress:
    """Receives the progress of an indexing run; this one shows nothing."""

    def start(self, total_seconds: float, total_files: int) -> None:
        """A run, or a part of one, begins.

        `total_seconds`: its work in seconds of media; a document counts as media that take as long.
        `total_files`: files of all kinds."""

    def file(self, path: str) -> None:
        """Work on this file begins."""

    def advance(self, seconds: float) -> None:
        """`seconds` more of the work are done."""

    def status(self, line: str) -> None:
        """What workers do now, where no single file is in work."""

    def note(self, line: str) -> None:
        """One line to show: a stage that is off, a warning."""

    def problem(self, problem: Problem) -> None:
        """A bad file, as soon as it is known."""

    def done(self) -> None:
        """The run is over."""


MOST_EXAMPLES = 3
"""Ignored files that are named: first those that are indexed when the user names them."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run would do, from headers alone; times are estimates."""

    new_files: int
    media_seconds: float
    seconds: float
    bytes: int


@dataclass(slots=True)
class IndexReport:
    """Counts and problems of one indexing run, which are added as it goes on."""

    library: str = ""
    """The library's folder or address."""
    files_found: int = 0
    """Files of known kinds, those with problems included."""
    indexed: int = 0
    reembedded: int = 0
    """Videos whose images were encoded again, with `--reembed`."""
    unchanged: int = 0
    moved: int = 0
    """Files whose content the library had already: renamed, moved, or a second copy."""
    copies: int = 0
    """Files with the content of another new one, byte for byte: each content is indexed once."""
    missing: int = 0
    """Files of the library that are no longer on disk; kept until `--prune` or `rag remove`."""
    removed: int = 0
    problems: list[Problem] = field(default_factory=list)
    ignored: int = 0
    """Files below the folders that are not read: of unknown kinds, `.json` files, subtitles of no video."""
    ignored_files: tuple[str, ...] = ()
    """The first of them, `.json` files before others."""
    unread: tuple[str, ...] = ()
    """A line for each kind of file that is not read, with what to save it as, and one on subtitles that are
    read as documents."""
    not_included: int = 0
    """Files of known kinds that fit no glob of `--include`."""
    other_shards: int = 0
    """Files of known kinds that `--shard` leaves to the other shards."""
    clips: int = 0
    passages: int = 0
    video_seconds: float = 0.0
    seconds: float = 0.0
    bytes: int = 0
    """Size of the library on disk."""
    stages: list[str] = field(default_factory=list)
    """One line for each stage: on, or off and why; empty where nothing had to be done."""
    forecast: Forecast | None = None

    @property
    def exit_code(self) -> int:
        """0 all was read but for damaged seconds, 1 nothing could be done, 3 some files were not read
        (docs/design/architecture.md)."""
        if all(problem.was_read for problem in self.problems):
            return 0 if self.files_found or self.removed or self.other_shards else 1
        ahead = self.forecast is not None and self.forecast.new_files
        return 3 if self.indexed or self.unchanged or self.moved or ahead else 1


def scan_report(library: Location, found: Scan) -> IndexReport:
    """The files that a scan found; what a run does with them is added by it."""
    return IndexReport(
        library=str(library),
        files_found=found.found,
        ignored=len(found.ignored),
        ignored_files=found.ignored[:MOST_EXAMPLES],
        unread=(*lines_on_ignored(found.ignored), *line_on_subtitles(file.path for file in found.files)),
        not_included=found.not_included,
        other_shards=found.other_shards,
    )
