"""Progress on stderr: a bar with a line beside it on a terminal, the same line every 10 s elsewhere.

For the server, which runs `rag index` as a child process, it is JSON lines.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from rag._cli.output import echo_stderr, print_event
from rag.indexing.report import Progress

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

    from corpora.records import Problem

SECONDS_BETWEEN_LINES = 10.0
"""Where stderr is no terminal."""
SECONDS_BEFORE_BAR = 0.5
"""Work that ends sooner shows nothing on a terminal."""
QUIET_SECONDS = 10.0
"""Without progress for this long, the display shows for how long."""
PROBLEMS_OF_A_KIND = 20
"""Files with one reason that are named; the others are counted. The JSON report has all."""
EVENT_SECONDS = 0.5
"""Between two events within one file."""
MEASURED_SECONDS = 2.0
"""Least time of work from which a speed is taken."""
MEASURED_SHARE = 0.002
"""A speed is taken from this share of the work on. Less may be what rounding leaves of a file."""
WARM_UP_SECONDS = 1.0
"""What is done within these of the first step counts for no speed: what is done in one batch, too."""


class LiveLine:
    """What is shown during work: a bar and a line on a terminal, else the line every `interval` seconds.

    `line` and `share`, in [0, 1], are asked for at each refresh, so that a stall is seen without any call.
    """

    def __init__(
        self, line: Callable[[], str], share: Callable[[], float], interval: float = SECONDS_BETWEEN_LINES
    ) -> None:
        self._line, self._share, self._interval = line, share, interval
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._live: Live | None = None
        self._printed = False
        """Whether a line was printed, outside of a terminal."""

    def start(self) -> None:
        """Begin; another call does nothing."""
        if self._thread is None:
            run = self._show_bar if sys.stderr.isatty() else self._print_lines
            self._thread = threading.Thread(target=run, name="rag-progress", daemon=True)
            self._thread.start()

    def print(self, line: str) -> None:
        """Print one line, above the bar where there is one."""
        if self._live is None:
            echo_stderr(line)
            return
        from rich.text import Text

        from corpora.escaping import visible

        self._live.console.print(Text(visible(line)), soft_wrap=True)

    def stop(self) -> None:
        """Remove the bar. Where lines were printed, the last one says that all is done, if it is."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        if self._printed and self._share() > 1 - 1e-9:
            echo_stderr(self._line())
        self._printed = False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _print_lines(self) -> None:
        while not self._ended.wait(self._interval):
            self._printed = True
            echo_stderr(self._line())

    def _show_bar(self) -> None:
        if self._ended.wait(SECONDS_BEFORE_BAR):
            return
        from rich.console import Console
        from rich.live import Live

        live = Live(
            get_renderable=self._row,
            console=Console(stderr=True),
            refresh_per_second=2,
            transient=True,
            redirect_stdout=False,
        )
        with live:
            self._live = live
            self._ended.wait()
            self._live = None

    def _row(self) -> Table:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        from corpora.escaping import visible

        row = Table.grid(padding=(0, 1))
        text = Text(visible(self._line()), no_wrap=True, overflow="ellipsis")
        row.add_row(ProgressBar(total=1.0, completed=self._share(), width=20), text)
        return row


@dataclass
class _Pace:
    """How far some work is, and how fast it advances. Before its first step models are loaded."""

    total: float = 0.0
    done: float = 0.0
    _first: float | None = None
    """When the first step was done."""
    _since: float = 0.0
    """Since when the speed is measured, and what was done until then."""
    _before: float = 0.0

    def advance(self, size: float) -> None:
        """So much more is done."""
        now = time.monotonic()
        self.done += size
        self._first = now if self._first is None else self._first
        if now - self._first < WARM_UP_SECONDS:
            self._since, self._before = now, self.done

    @property
    def share(self) -> float:
        """The share that is done, in [0, 1]; 0 where there is nothing to do."""
        return min(1.0, self.done / self.total) if self.total > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimate of the time left; None at the end, and where too little was measured."""
        took, measured = time.monotonic() - self._since, self.done - self._before
        if measured <= MEASURED_SHARE * self.total or took < MEASURED_SECONDS or self.done >= self.total:
            return None
        return (self.total - self.done) * took / measured

    def __str__(self) -> str:
        """`, about 40 s left`; empty where it is unknown, and at the end."""
        from rag.rendering.terminal import duration

        left = self.seconds_left
        return f", about {duration(left)} left" if left is not None and left >= 0.05 else ""


class ProgressDisplay(Progress):
    """Progress of indexing, as a context manager that keeps the lines it printed.

    It shows the share that is done, the current file or what workers do, and the time since the last
    progress.
    """

    def __init__(self, interval: float = SECONDS_BETWEEN_LINES) -> None:
        self._display = LiveLine(self.line, self.share, interval)
        self.printed: list[str] = []
        self.total_files = 0
        self.files_begun = 0
        self.current_file = ""
        self.status_line = ""
        self._pace = _Pace()
        self._moved_at = time.monotonic()
        self._bad_files: set[str] = set()
        self._files_by_kind: Counter[tuple[str, str]] = Counter()

    def start(self, total_seconds: float, total_files: int) -> None:
        """Begin with so much work and files: a part of the run, whose counts are its own.

        A part without files leaves the end of the one before.
        """
        if total_files == 0 and self.total_files:
            return
        self.total_files, self.files_begun, self.current_file = total_files, 0, ""
        self._pace = _Pace(total_seconds)
        self._moved_at = time.monotonic()
        self._begin()

    def _begin(self) -> None:
        """Called at the start of each part of a run."""
        self._display.start()

    def file(self, path: str) -> None:
        """The next file begins."""
        self.files_begun += 1
        self.current_file = path
        self._moved_at = time.monotonic()

    def advance(self, seconds: float) -> None:
        """So much more is done, in seconds of media."""
        self._pace.advance(seconds)
        if seconds > 0:
            self._moved_at = time.monotonic()
        self._show()

    def _show(self) -> None:
        """Called after each step."""

    def status(self, line: str) -> None:
        """Shown in place of the current file."""
        if line != self.status_line:
            self.status_line = line
            self._moved_at = time.monotonic()

    def note(self, line: str) -> None:
        """Print one line."""
        self.printed.append(line)
        self._display.print(line)

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
        self._display.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.done()

    def line(self) -> str:
        """`[ 42%] file 3 of 9, about 8 min 20 s left: path`."""
        count = f"file {self.files_begun} of {self.total_files}"
        if self._pace.total > 0:
            count = f"[{self.share():4.0%}] {count}"
        still = time.monotonic() - self._moved_at
        stall = f", no progress for {still:.0f} s" if still >= QUIET_SECONDS else ""
        file = os.path.basename(self.current_file) if sys.stderr.isatty() else self.current_file
        current = self.status_line or file
        return f"{count}{self._pace}{stall}" + (f": {current}" if current else "")

    def share(self) -> float:
        """Share of all work that is done; in [0, 1], and 0 where there is none."""
        return self._pace.share

    def seconds_left(self) -> float | None:
        """Estimated seconds left; None at the end, and before a speed is measured."""
        return self._pace.seconds_left


def open_progress(*, events: bool = False) -> ProgressDisplay:
    """Progress for people; `events`: JSON lines."""
    return JsonProgress() if events else ProgressDisplay()


class JsonProgress(ProgressDisplay):
    """Events `progress` and `problem`; of what advances within one file at most one each half second."""

    def __init__(self) -> None:
        super().__init__()
        self._printed_at = 0.0

    def _begin(self) -> None:
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
            share=round(self.share(), 4),
            files_begun=self.files_begun,
            files_total=self.total_files,
            eta_seconds=None if left is None else round(left, 1),
            file=self.current_file or None,
            stage=stage,
        )


class CountProgress(LiveLine):
    """How much is done of all, with the time left, of one thing after another.

    `before`: shown until something is counted; without it nothing is. `shown`: a number as it is read.
    """

    def __init__(self, before: str = "", shown: Callable[[float], str] = "{:.0f}".format) -> None:
        super().__init__(self.line, self.share)
        self._what, self._shown, self._pace = before, shown, _Pace()

    def __enter__(self) -> Self:
        if self._what:
            self.start()
        return self

    def update(self, done: float, of: float, what: str = "comparing") -> None:
        """Show that `done` of `of` are done."""
        self.start()
        if what != self._what:
            self._what, self._pace = what, _Pace()
        self._pace.total = of
        if done > self._pace.done:  # the clock begins with what is done first
            self._pace.advance(done - self._pace.done)

    def share(self) -> float:
        """Done, in [0, 1]."""
        return self._pace.share

    def line(self) -> str:
        """`model.safetensors: 1.2 MB of 3.4 MB, about 40 s left`."""
        if not self._pace.total:
            return self._what
        return f"{self._what}: {self._shown(self._pace.done)} of {self._shown(self._pace.total)}{self._pace}"
