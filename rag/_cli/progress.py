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
    from rag.records import Usage

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
BATCH_APART = 0.1
"""Least seconds before the first step of a batch."""
LONGEST_BATCH = 1.0
"""Most seconds that the further steps of a batch take; the next step then begins another."""
MOST_UNMEASURED = 0.5
"""Share of what is left, by its size alone, whose speed may be unknown where seconds are estimated."""


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
        """Remove the bar."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _print_lines(self) -> None:
        while not self._ended.wait(self._interval):
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


def _time_left(seconds: float | None) -> str:
    """`, about 40 s left`; empty where it is unknown, and at the end."""
    from rag.rendering.terminal import duration

    return f", about {duration(seconds)} left" if seconds is not None and seconds >= 0.05 else ""


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
    """Progress of indexing, as a context manager that keeps the lines it printed.

    It shows seconds of media, files and documents done, the current file or what workers do, and the time
    since the last progress.
    """

    def __init__(self, interval: float = SECONDS_BETWEEN_LINES) -> None:
        self._display = LiveLine(self.line, self.share, interval)
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
        self._begin()

    def _begin(self) -> None:
        """Called at the start of each part of a run."""
        self._display.start()

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
        """`[ 42%] 05:03 of 12:00, file 3 of 9, about 8 min 20 s left: path`."""
        from rag.rendering.terminal import clock

        media, count = self._media, f"file {self.files_begun} of {self.total_files}"
        if self.total_documents and (self.documents_done or self.total_documents == self.total_files):
            count = f"{int(self.documents_done + 1e-6)} of {self.total_documents} documents"
        if media.total > 0:
            count = f"{clock(media.done)} of {clock(media.total)}, {count}"
        if media.total + self._documents.total > 0:
            count = f"[{self.share():4.0%}] {count}"
        still = time.monotonic() - self._moved_at
        stall = f", no progress for {still:.0f} s" if still >= QUIET_SECONDS else ""
        file = os.path.basename(self.current_file) if sys.stderr.isatty() else self.current_file
        current = self.status_line or file
        return f"{count}{_time_left(self.seconds_left())}{stall}" + (f": {current}" if current else "")

    def share(self) -> float:
        """Of all media and documents, done; in [0, 1], and 0 where there are none."""
        total = self._media.total + self._documents.total
        return min(1.0, (self._media.done + self._documents.done) / total) if total > 0 else 0.0

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


class BytesProgress(LiveLine):
    """Bytes that are done of all, with the time left, of one file after another."""

    def __init__(self) -> None:
        super().__init__(self.line, self.share)
        self._what, self._done, self._of = "", 0, 0
        self._begun = time.monotonic()

    def __enter__(self) -> Self:
        """Nothing is shown before the first bytes."""
        return self

    def update(self, done: int, of: int, what: str = "comparing") -> None:
        """So many bytes of what has `of` are done."""
        self.start()
        if what != self._what:
            self._begun = time.monotonic()
        self._what, self._done, self._of = what, done, of

    def share(self) -> float:
        """Done, in [0, 1]."""
        return self._done / self._of if self._of else 0.0

    def line(self) -> str:
        """`model.safetensors: 1.2 MB of 3.4 MB, about 40 s left`."""
        from rag.rendering.terminal import byte_count

        took = time.monotonic() - self._begun
        left = took * (self._of - self._done) / self._done if self._done else None
        return f"{self._what}: {byte_count(self._done)} of {byte_count(self._of)}{_time_left(left)}"


class RunProgress(LiveLine):
    """Queries that a system has answered; before the first, how much of the data is made.

    The first answer opens what the others find open, so the time left is estimated from the answers after it.
    """

    def __init__(self, preparing: str = "", prices: tuple[float, float] = (0.0, 0.0)) -> None:
        """`prices`: of a million tokens of prompt and of completion."""
        super().__init__(self.line, self.share)
        self._label = self._made = ""
        self._preparing, self._prices = preparing, prices
        self._total = self._done = self._prompt = self._completion = 0
        self._first = self._begun = time.monotonic()

    def made(self, step: str) -> None:
        """Of the data, before the first query: `drew 3 of 48 videos`."""
        self._made = step

    def begin(self, label: str, total: int) -> None:
        """`total` queries follow."""
        self._label, self._total = label, total
        self._begun = time.monotonic()

    def advance(self, usage: Usage) -> None:
        """Count one query and its tokens."""
        self._done += 1
        self._prompt += usage.prompt_tokens
        self._completion += usage.completion_tokens
        if self._done == 1:
            self._first = time.monotonic()

    def share(self) -> float:
        """Answered, in [0, 1]."""
        return self._done / self._total if self._total else 0.0

    def line(self) -> str:
        """`localized, seed 0: 120 of 396, 51,200 tokens, 830/s, cost 0.12, about 40 s left`.

        After one answer the time left is unknown. Tokens stand where a model was called, the cost where
        prices are set, in their currency.
        """
        from rag.rendering.terminal import duration

        now = time.monotonic()
        if not self._label:
            made = f": {self._made}" if self._made else ""
            took = duration(now - self._begun)
            return f"{self._preparing}: the first use prepares its data{made}; {took} so far"
        line = f"{self._label}: {self._done} of {self._total}"
        if tokens := self._prompt + self._completion:
            line += f", {tokens:,} tokens, {tokens / max(1e-3, now - self._begun):,.0f}/s"
            prompt, completion = self._prices
            if cost := (self._prompt * prompt + self._completion * completion) / 1e6:
                line += f", cost {cost:.2f}"
        after = self._done - 1
        left = (now - self._first) * (self._total - self._done) / after if after > 0 else None
        return line + _time_left(left)
