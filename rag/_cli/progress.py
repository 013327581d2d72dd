"""Progress of indexing: a bar over media and documents on a terminal, a line every 10 s elsewhere.

For the server, which runs the command as a child process, it is JSON lines.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from rag._cli.output import echo_stderr, print_event
from rag.indexing.report import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from corpora.records import Problem

QUIET_SECONDS = 10.0
"""Without progress for this long, the display shows for how long."""
PROBLEMS_OF_A_KIND = 20
"""Files with one reason that are named; the others are counted. The JSON report has all."""
EVENT_SECONDS = 0.5
"""Between two events within one file."""
MEASURED_SECONDS = 2.0
"""Least time of work from which a speed is taken."""
BATCH_APART = 0.1
"""Least seconds before the first step of a batch."""
LONGEST_BATCH = 1.0
"""Most seconds that the further steps of a batch take; the next step then begins another."""
MOST_UNMEASURED = 0.5
"""Share of what is left, by its size alone, whose speed may be unknown where seconds are estimated."""


@dataclass
class _Pace:
    """How fast media, or documents, advance; sizes in seconds of media.

    Steps that come right after each other are of one batch. Its time is known with its first step, and its
    size when the next batch begins. The first batch counts for nothing: models are loaded for it.
    """

    total: float = 0.0
    done: float = 0.0
    _measured: float = 0.0
    _spent: float = 0.0
    _batches: int = 0
    _size: float = 0.0
    """Of the open batch."""
    _seconds: float = 0.0
    _later: float = 0.0
    """Seconds of the open batch after its first step."""

    def advance(self, size: float, seconds: float) -> None:
        """`size` is done, `seconds` after the step before it, of whatever kind."""
        self.done += size
        if seconds >= BATCH_APART or self._later >= LONGEST_BATCH or not self._batches:
            if self._batches > 1:
                self._measured += self._size
                self._spent += self._seconds
            self._batches += 1
            self._size, self._seconds, self._later = 0.0, 0.0, -seconds
        self._size += size
        self._seconds += seconds
        self._later += seconds

    @property
    def left(self) -> float:
        """What is not done."""
        return max(0.0, self.total - self.done)

    @property
    def cost(self) -> float | None:
        """Seconds that a second of media takes; None where too little was measured."""
        return (
            self._spent / self._measured if self._spent >= MEASURED_SECONDS and self._measured > 0 else None
        )


class ProgressDisplay(Progress):
    """Progress as a context manager that keeps the lines it printed.

    The displays show seconds of media, files and documents done, the current file or what workers do, and
    the time since the last progress.
    """

    def __init__(self) -> None:
        self.printed: list[str] = []
        self.total_files = 0
        self.total_documents = 0
        self.files_begun = 0
        self.documents_done = 0.0
        self.current_file = ""
        self.status_line = ""
        self._media, self._documents = _Pace(), _Pace()
        self._stepped_at = self._moved_at = time.monotonic()
        self._bad_files: set[str] = set()
        self._files_by_kind: Counter[tuple[str, str]] = Counter()

    def start(self, total_seconds: float, total_files: int) -> None:
        """Begin with seconds of media and files: a part of the run, whose counts are its own.

        A part without files leaves the end of the one before.
        """
        if total_files == 0 and self.total_files:
            return
        self.total_files, self.files_begun, self.current_file = total_files, 0, ""
        self.total_documents, self.documents_done = 0, 0.0
        self._media, self._documents = _Pace(total_seconds), _Pace()
        self._stepped_at = self._moved_at = time.monotonic()

    def start_documents(self, total: int, seconds: float) -> None:
        """So many of the files are documents, which take about as long as `seconds` of media."""
        self.total_documents, self._documents = total, _Pace(seconds)

    def file(self, path: str) -> None:
        """The next file begins."""
        self.files_begun += 1
        self.current_file = path
        self._moved_at = time.monotonic()

    def advance(self, seconds: float) -> None:
        """So many seconds of media are done."""
        self._step(self._media, seconds, moves=seconds > 0)

    def advance_documents(self, documents: float, seconds: float) -> None:
        """So many more documents are done, or parts of one: of those `seconds`, so many."""
        self.documents_done += documents
        self._step(self._documents, seconds, moves=documents > 0)

    def _step(self, pace: _Pace, size: float, *, moves: bool) -> None:
        now = time.monotonic()
        pace.advance(size, now - self._stepped_at)
        self._stepped_at = now
        if moves:
            self._moved_at = now
        self._show()

    def _show(self) -> None:
        """Called after each step of media or documents."""

    def status(self, line: str) -> None:
        """Shown in place of the current file."""
        if line != self.status_line:
            self.status_line = line
            self._moved_at = time.monotonic()

    def note(self, line: str) -> None:
        """Print one line."""
        self.printed.append(line)
        echo_stderr(line)

    def problem(self, problem: Problem) -> None:
        """Print what is wrong with a file; of many with one reason the first ones."""
        if self._add_problem(problem):
            self.note(f"{problem.path}: {problem.reason}; {problem.action}")

    def is_new(self, problem: Problem) -> bool:
        """Whether a problem of the report is to be printed: its file was not met before."""
        return problem.path not in self._bad_files and self._add_problem(problem)

    def _add_problem(self, problem: Problem) -> bool:
        """Count a problem; whether it is one of the first of its kind, which are named."""
        kind = (problem.reason, problem.action)
        self._bad_files.add(problem.path)
        self._files_by_kind[kind] += 1
        return self._files_by_kind[kind] <= PROBLEMS_OF_A_KIND

    def unnamed_problems(self) -> Iterator[str]:
        """A line for each kind of problem of which more files were met than were named."""
        for (reason, action), count in self._files_by_kind.items():
            if count > PROBLEMS_OF_A_KIND:
                more = count - PROBLEMS_OF_A_KIND
                yield f"{more} more files: {reason}; {action} (all: rag stats --problems)"

    def done(self) -> None:
        """End the display."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.done()

    def media_count(self, between: str) -> str:
        """`05:03 of 12:00` of media; empty without media."""
        from rag.rendering.terminal import clock

        media = self._media
        return f"{clock(media.done)}{between}{clock(media.total)}" if media.total > 0 else ""

    def file_count(self, between: str) -> str:
        """`60 of 200 documents`, from the first of them on; before, `3 of 9` files."""
        if self.total_documents and (self.documents_done or self.total_documents == self.total_files):
            return f"{int(self.documents_done + 1e-6)}{between}{self.total_documents} documents"
        return f"{self.files_begun}{between}{self.total_files}"

    def share(self) -> float:
        """Of all media and documents, done; in [0, 1], and 0 where there are none."""
        total = self._media.total + self._documents.total
        return min(1.0, (self._media.done + self._documents.done) / total) if total > 0 else 0.0

    def stall(self) -> str:
        """`no progress for 12 s`, or empty."""
        still = time.monotonic() - self._moved_at
        return f"no progress for {still:.0f} s" if still >= QUIET_SECONDS else ""

    def seconds_left(self) -> float | None:
        """Estimated seconds left, of media and of documents by the speed of each so far.

        None at the end, and while the speed of most of what is left is not measured.
        """
        paces = (self._media, self._documents)
        costs = [pace.cost for pace in paces]
        known = [cost for cost in costs if cost is not None]
        left = sum(pace.left for pace in paces)
        unmeasured = sum(pace.left for pace, cost in zip(paces, costs, strict=True) if cost is None)
        if not known or left <= 0 or unmeasured > MOST_UNMEASURED * left:
            return None
        return sum(
            pace.left * (max(known) if cost is None else cost)
            for pace, cost in zip(paces, costs, strict=True)
        )


def open_progress(*, events: bool = False) -> ProgressDisplay:
    """A bar where stderr is a terminal, else lines; `events`: JSON lines in any case."""
    if events:
        return JsonProgress()
    return BarProgress() if sys.stderr.isatty() else LineProgress()


class JsonProgress(ProgressDisplay):
    """Events `progress` and `problem`; of what advances within one file at most one each half second."""

    def __init__(self) -> None:
        super().__init__()
        self._printed_at = 0.0

    def start(self, total_seconds: float, total_files: int) -> None:
        """Begin, with seconds of media and files to index: models are loaded next."""
        super().start(total_seconds, total_files)
        self._print("prepare" if self.files_begun == 0 else "finish")

    def file(self, path: str) -> None:
        """The next file begins."""
        super().file(path)
        self._print("index")

    def _show(self) -> None:
        ended = self.files_begun >= self.total_files and self.share() > 1 - 1e-9
        if ended or time.monotonic() - self._printed_at >= EVENT_SECONDS:
            self._print("finish" if ended else "index")

    def note(self, line: str) -> None:
        """Kept: the report has the lines of the stages."""
        self.printed.append(line)

    def problem(self, problem: Problem) -> None:
        """An event for each bad file."""
        super().problem(problem)
        print_event("problem", path=problem.path, reason=problem.reason, action=problem.action)

    def _print(self, stage: str) -> None:
        self._printed_at = time.monotonic()
        left = self.seconds_left()
        print_event(
            "progress",
            media_seconds_done=round(min(self._media.done, self._media.total), 3),
            media_seconds_total=round(self._media.total, 3),
            documents_done=int(self.documents_done + 1e-6),
            documents_total=self.total_documents,
            share=round(self.share(), 4),
            files_begun=self.files_begun,
            files_total=self.total_files,
            eta_seconds=None if left is None else round(left, 1),
            file=self.current_file or None,
            stage=stage,
        )


class LineProgress(ProgressDisplay):
    """One line every `interval` seconds during the work; none for work that ends sooner."""

    def __init__(self, interval: float = 10.0) -> None:
        super().__init__()
        self._interval = interval
        self._ended = threading.Event()
        self._clock: threading.Thread | None = None

    def start(self, total_seconds: float, total_files: int) -> None:
        """Begin, and start the clock that prints lines."""
        super().start(total_seconds, total_files)
        if self._clock is None:
            self._clock = threading.Thread(target=self._tick, name="rag-progress", daemon=True)
            self._clock.start()

    def done(self) -> None:
        """Stop the clock."""
        self._ended.set()
        if self._clock is not None:
            self._clock.join()

    def _tick(self) -> None:
        while not self._ended.wait(self._interval):
            echo_stderr(self.line())

    def line(self) -> str:
        """`[ 42%] 05:03 of 12:00, file 3 of 9, about 8 min 20 s left: path`."""
        from rag.rendering.terminal import duration

        count = self.file_count(" of ")
        parts = [self.media_count(" of "), count if count.endswith("documents") else f"file {count}"]
        parts = [", ".join(filter(None, parts))]
        if self._media.total + self._documents.total > 0:
            parts[0] = f"[{self.share():4.0%}] {parts[0]}"
        left = self.seconds_left()
        if left is not None and left >= 0.05:
            parts.append(f"about {duration(left)} left")
        if self.stall():
            parts.append(self.stall())
        current = self.status_line or self.current_file
        return ", ".join(parts) + (f": {current}" if current else "")


class BarProgress(ProgressDisplay):
    """A live bar on stderr; lines printed meanwhile appear above it."""

    def __init__(self) -> None:
        super().__init__()
        self._bar: RichProgress | None = None
        self._task: Any = None

    def start(self, total_seconds: float, total_files: int) -> None:
        """Begin, and show the bar where there is anything to do."""
        super().start(total_seconds, total_files)
        if total_files == 0:
            return
        if self._bar is not None:
            self._bar.reset(self._task, total=1.0)
            return
        self._bar = _rich_bar(self)
        self._task = self._bar.add_task("", total=1.0)
        self._bar.start()

    def _show(self) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=self.share())

    def note(self, line: str) -> None:
        """Print one line above the bar."""
        if self._bar is None:
            super().note(line)
            return
        from rich.text import Text

        from corpora.escaping import visible

        self.printed.append(line)
        self._bar.console.print(Text(visible(line)), soft_wrap=True)

    def done(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _rich_bar(counted: ProgressDisplay) -> RichProgress:
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, Task
    from rich.progress import Progress as RichProgress
    from rich.text import Text

    from rag.rendering.terminal import duration, excerpt

    class _Where(ProgressColumn):
        """Recomputed at each refresh, so that a stall is counted without any call."""

        max_refresh = 0.5

        def render(self, task: Task) -> Text:  # noqa: ARG002 (rich passes it)
            left = counted.seconds_left()
            eta = f"  {duration(left)} left" if left is not None else ""
            head = f"{counted.media_count('/')}{eta}"
            current = counted.status_line or excerpt(os.path.basename(counted.current_file), 40)
            tail = f"  {counted.file_count('/')} {current}"
            stall = f"  {counted.stall()}" if counted.stall() else ""
            return Text(head) + Text(tail, style="dim") + Text(stall, style="yellow")

    console = Console(stderr=True)
    return RichProgress(
        BarColumn(bar_width=20), _Where(), console=console, transient=True, redirect_stdout=False
    )


class BytesProgress:
    """A bar over bytes with the time left, on a terminal, for work that takes longer than a moment."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._bar: RichProgress | None = None
        self._task: Any = None

    def update(self, done: int, of: int) -> None:
        """So many bytes are done."""
        if self._bar is None and sys.stderr.isatty() and time.monotonic() - self._begun > 0.5:
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

            columns = (BarColumn(bar_width=20), DownloadColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("comparing", total=of)
            self._bar.start()
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=of)

    def stop(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


@contextlib.contextmanager
def bytes_progress() -> Iterator[BytesProgress]:
    """A bar that is removed at the end."""
    progress = BytesProgress()
    try:
        yield progress
    finally:
        progress.stop()
