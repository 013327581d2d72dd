"""Jobs: indexing and forecasts, each a child process that runs `rag index`.

A child leaves the server's threads and memory alone, and can be interrupted at any time without harm to the
library. It writes what happens as lines of JSON on stderr, and its result on stdout. Jobs end with the
server: indexing that was stopped continues where it was, when it is started again.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import SecretStr
from typing_extensions import TypedDict

from corpora.platforms import KILL, yield_to_others
from rag.errors import RagError, UnreadableFile, UsageError
from rag.rendering.shapes import plain
from rag.server.problems import Problem
from rag.settings import Settings
from rag.store.layout import Location

log = logging.getLogger(__name__)

State = Literal["queued", "running", "cancelling", "done", "partial", "failed", "cancelled"]

COMMAND = (sys.executable, "-P", "-m", "rag._cli.main")
"""`rag`, whatever is in the working folder."""
MOST_KEPT = 100
"""Jobs that have ended and are still known."""
MOST_WAITING = 100
"""Jobs that are queued; another one is refused."""
MOST_PROBLEMS = 1000
"""Problems that the document of a job has."""
LAST_WORDS = 20
"""Lines of text of a child that are kept."""
LOOK_SECONDS = 0.1
"""Between two looks at a child."""
SIGNALS = ((0.0, signal.SIGINT), (2.0, signal.SIGTERM), (2.5, KILL))
"""What a child is sent that is cancelled, or whose server stops, and after how many seconds: with the
first it commits what is finished; the library survives all of them."""
NICE = 10
"""Children yield to questions."""


class ProblemItem(TypedDict):
    """A file that cannot be used, or only in part."""

    path: str
    reason: str
    action: str


class ProgressItem(TypedDict):
    """How far indexing is: in files, and as a share of all work in [0, 1]."""

    share: float
    files_begun: int
    files_total: int
    eta_seconds: float | None
    file: str | None
    stage: Literal["prepare", "index", "finish"]


def resolved_roots(folders: Collection[Path]) -> tuple[Path, ...]:
    """The folders of `--allow-index` without links. Raises `UsageError` for one that is no folder."""
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"{folder}: no such folder; --allow-index names one that exists")
    return tuple(folder.resolve() for folder in folders)


def _now() -> str:
    """`2026-11-23T06:27:00.250Z`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(kw_only=True)
class Job:
    """`rag.job/1`: one job, as far as its child has written what happens."""

    schema: Literal["rag.job/1"] = "rag.job/1"
    job_id: str = field(default_factory=lambda: secrets.token_hex(8))
    kind: Literal["index"] = "index"
    folder: str
    dry_run: bool
    prune: bool
    state: State = "queued"
    created: str | None = field(default_factory=_now)
    started: str | None = None
    ended: str | None = None
    forecast: dict[str, Any] | None = None
    progress: ProgressItem | None = None
    problems: list[ProblemItem] = field(default_factory=list)
    problem_count: int = 0
    result: dict[str, Any] | None = None
    error: str | None = None

    def __post_init__(self) -> None:
        self._said = deque[str](maxlen=LAST_WORDS)
        """What the child wrote that is no event: why it fails."""

    def shape(self) -> dict[str, Any]:
        """Make the JSON document of the job."""
        made: dict[str, Any] = plain(self)
        return made

    def hear(self, line: bytes) -> None:
        """Take up a line that the child wrote."""
        text = line.strip().decode("utf-8", "replace")
        try:
            event = json.loads(text)
            name = event.pop("event")
            if name == "progress":
                self.progress = event
            elif name == "problem":
                self.problem_count += 1
                if len(self.problems) < MOST_PROBLEMS:
                    self.problems.append(event)
        except (ValueError, KeyError, TypeError, AttributeError):
            if text:
                self._said.append(text)

    def end(self, printed: bytes, code: int, *, closing: bool, failed: str) -> None:
        """The state by what the child printed on stdout, and by its exit code.

        `closing`: the server stops. `failed`: why there was no child.
        """
        self.ended = _now()
        with contextlib.suppress(ValueError):
            found = json.loads(printed)
            if isinstance(found, dict) and isinstance(found.get("problems"), list):
                self.result, self.forecast = found, found.get("forecast")
        if self.result is None:
            stopped = closing or self.state == "cancelling"
            self.state = "cancelled" if stopped else "failed"
            self.error = None if stopped else failed or self._last_words(code)
            return
        problems = self.result["problems"]
        self.problems, self.problem_count = problems[:MOST_PROBLEMS], len(problems)
        self.state = "done" if self.dry_run or not problems else "partial"
        if code == 1 and not self.dry_run:
            self.state, self.error = "failed", self._complaint() or "none of the files can be used"

    def _last_words(self, code: int) -> str:
        """Why the child ended without a result."""
        if said := self._complaint():
            return said
        if code < 0:
            return f"ended by {signal.Signals(-code).name}; start it again to continue"
        return self._said[-1] if self._said else "ended without a result"

    def _complaint(self) -> str:
        """The last line with which the command says what is wrong; empty without one."""
        lines = (line for line in reversed(self._said) if line.startswith("rag: "))
        return next(lines, "").removeprefix("rag: ")


class JobsDocument(TypedDict):
    """`rag.jobs/1`."""

    schema: Literal["rag.jobs/1"]
    jobs: list[Job]
    roots: list[str]


class Jobs:
    """The jobs of one server over its library; safe to share between threads.

    `changed` is called before a job that may have changed the library ends.
    """

    def __init__(
        self, settings: Settings, library: Location, roots: Sequence[Path], changed: Callable[[], None]
    ) -> None:
        """`library`: where it is; `roots`: resolved folders below which a folder may be indexed."""
        self.roots = tuple(roots)
        self._settings = settings
        self._library = library
        self._changed = changed
        self._lock = threading.RLock()
        self._closed = threading.Event()
        self._jobs: dict[str, Job] = {}
        # A library has one writer; a forecast does not wait for it.
        self._indexing, self._forecasting = (ThreadPoolExecutor(1, "rag-server-jobs") for _ in range(2))

    def start_index(self, folder: str, *, dry_run: bool = False, prune: bool = False) -> dict[str, Any]:
        """A new job that indexes a folder or file below a root.

        `dry_run`: only forecast what that would take. `prune`: also remove files below it that no longer
        exist.

        Raises `Problem` for a folder that is not below a root and where too many jobs wait, `UnreadableFile`
        for one that does not exist.
        """
        job = Job(folder=self._allowed(folder), dry_run=dry_run, prune=prune)
        with self._lock:
            if self._closed.is_set():
                raise Problem(503, "stopping", "the server is shutting down")
            if sum(one.state == "queued" for one in self._jobs.values()) >= MOST_WAITING:
                what = f"{MOST_WAITING} jobs are waiting; start this one when some have ended, or cancel some"
                raise Problem(429, "too-many-jobs", what)
            ended = [name for name, one in self._jobs.items() if one.ended is not None]
            for name in ended[:-MOST_KEPT]:
                del self._jobs[name]
            self._jobs[job.job_id] = job
            (self._forecasting if dry_run else self._indexing).submit(self._work, job)
            return job.shape()

    def all(self) -> list[dict[str, Any]]:
        """All jobs, the newest first."""
        with self._lock:
            return [job.shape() for job in reversed(self._jobs.values())]

    def get(self, job_id: str) -> dict[str, Any]:
        """One job. Raises `Problem` for an unknown id."""
        with self._lock:
            return self._known(job_id).shape()

    def cancel(self, job_id: str) -> dict[str, Any]:
        """The job, whose work stops; one that has ended stays so. Raises `Problem` for an unknown id."""
        with self._lock:
            job = self._known(job_id)
            if job.state == "queued":
                job.state, job.ended = "cancelled", _now()
            elif job.state == "running":
                job.state = "cancelling"
            return job.shape()

    def close(self) -> None:
        """Stop, and interrupt the children."""
        self._closed.set()
        for pool in (self._indexing, self._forecasting):
            pool.shutdown(cancel_futures=True)

    def _known(self, job_id: str) -> Job:
        if job_id not in self._jobs:
            raise Problem(404, "unknown-id", f"{job_id}: there is no such job")
        return self._jobs[job_id]

    def _allowed(self, folder: str) -> str:
        """The folder without links.

        Raises `Problem` where it is not below a root, `UnreadableFile` where it does not exist.
        """
        try:
            path = os.path.realpath(os.fsencode(folder))
        except (ValueError, OSError) as error:
            raise Problem(403, "folder-not-allowed", "the folder is no path of this machine") from error
        roots = map(os.fsencode, self.roots)
        inside = any(path == root or path.startswith(root.rstrip(b"/") + b"/") for root in roots)
        if not os.path.isabs(folder):
            what = "give an absolute path, below a folder that --allow-index names"
            raise Problem(403, "folder-not-allowed", f"{folder}: {what}")
        if not inside:
            what = "it is only below a folder that --allow-index names"
            if not self.roots:
                what = "start the server with --allow-index and a folder above it"
            raise Problem(403, "folder-not-allowed", f"{folder}: indexing is not allowed; {what}")
        if not os.path.exists(path):
            raise UnreadableFile(f"{folder}: no such file or folder")
        return os.fsdecode(path)

    def _work(self, job: Job) -> None:
        """Run one job to its end."""
        with self._lock:
            if job.state != "queued" or self._closed.is_set():
                return
            job.state, job.started = "running", _now()
        printed, code, failed = b"", 0, ""
        try:
            printed, code = self._run(job)
        except Exception as error:  # else the job would run for ever
            failed = str(error)
            if not isinstance(error, Problem | RagError | OSError):
                log.error("job %s: bug", job.job_id, exc_info=error)
        if not job.dry_run:
            self._changed()
        with self._lock:
            job.end(printed, code, closing=self._closed.is_set(), failed=failed)

    def _run(self, job: Job) -> tuple[bytes, int]:
        """What the child printed, and its exit code."""
        with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as written:
            child = subprocess.Popen(
                [*COMMAND, *self._words(job)],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=written,
                env=self._environment(),
                start_new_session=True,
            )
            with contextlib.suppress(OSError):
                yield_to_others(child.pid, NICE)
            code = self._follow(job, child, written.fileno())
            printed.seek(0)
            return printed.read(), code

    def _follow(self, job: Job, child: subprocess.Popen[bytes], written: int) -> int:
        """Hear what the child writes until it ends, and interrupt it once that is asked for; its exit code.

        `written`: the file of its stderr, whose position is the child's.
        """
        heard, sent, since = 0, 0, 0.0
        while True:
            code = child.poll()  # first: what it wrote before its end is then read
            text = os.pread(written, os.fstat(written).st_size - heard, heard)
            *lines, rest = text.split(b"\n")
            heard += len(text) - len(rest)
            with self._lock:
                for line in lines:
                    job.hear(line)
            if code is not None:
                return code
            if self._closed.is_set() or job.state == "cancelling":
                since = since or time.monotonic()
                if sent < len(SIGNALS) and time.monotonic() - since >= SIGNALS[sent][0]:
                    child.send_signal(SIGNALS[sent][1])
                    sent += 1
            time.sleep(LOOK_SECONDS)

    def _words(self, job: Job) -> list[str]:
        """The words of the command line."""
        flags = [flag for flag, given in (("--dry-run", job.dry_run), ("--prune", job.prune)) if given]
        library, folder = os.fsdecode(self._library), self._allowed(job.folder)
        return ["index", "--library", library, "--json", "--events", *flags, "--", folder]

    def _environment(self) -> dict[str, str]:
        """The server's own, with its settings in place of those in the child's environment and files."""
        values = self._settings.model_dump(exclude={"library"})
        values["scan"]["within"] = [os.fsdecode(root) for root in self.roots]
        own = {name: value for name, value in os.environ.items() if not name.startswith("RAG_")}
        for name, value in values.items():
            own[f"RAG_{name.upper()}"] = json.dumps(value, default=_text)
        return own


def _text(value: object) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)
