"""Jobs: indexing, forecasts and agents, each a child process that runs the command line.

A child leaves the server's threads and memory alone, and can be interrupted at any time without harm to the
library. It writes what happens as lines of JSON on stderr, and its result on stdout. Jobs end with the
server: indexing that was stopped goes on where it was, when it is started again.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal, NotRequired

from pydantic import SecretStr
from typing_extensions import TypedDict

from corpora.platforms import KILL, yield_to_others
from rag.errors import RagError, UnreadableFile, UsageError
from rag.server.problems import VIDEO_ID, Problem
from rag.settings import Settings
from rag.store.layout import Location

log = logging.getLogger(__name__)

State = Literal["queued", "running", "cancelling", "done", "partial", "failed", "cancelled"]

COMMAND = (sys.executable, "-P", "-m", "rag._cli.main")
"""`rag`, whatever is in the working folder."""
MOST_KEPT = 100
"""Jobs that have ended and are still known."""
MOST_QUEUED = 100
MOST_PROBLEMS = 1000
"""Problems and steps that the document of a job has."""
LAST_WORDS = 20
"""Lines of text of a child that are kept."""
LOOK_SECONDS = 0.1
"""Between two looks at a child."""
SIGNALS = ((0.0, signal.SIGINT), (0.8, signal.SIGTERM), (5.0, KILL))
"""What a cancelled child is sent, and after how many seconds: the library survives all of them."""
CLOSING = ((0.0, signal.SIGINT), (0.8, signal.SIGTERM), (1.5, KILL))
"""The same where the server stops."""
NICE = 10
"""Children yield to questions."""


AGENTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "investigate": ("video-detective", ("video", "question")),
    "browse": ("video-browser", ("question",)),
    "shots": ("shotfinder", ("description",)),
    "recall": ("raclo", ()),
}
"""Each agent: the name of its paper's system, which works too, and the arguments of its command."""
AGENT_OPTIONS = {
    *("after", "audio", "before", "color", "constraints", "frames", "global", "look", "looks"),
    *("loops", "min_height", "moment", "must_choose", "option", "preset", "queries"),
    *("resolution", "seed", "sound", "sparse", "style", "tone", "urls", "videos"),
}
"""Options of agents that a job may set: those that name no file of the server."""


class ProblemItem(TypedDict):
    """A file that cannot be used, or only in part."""

    path: str
    reason: str
    action: str


class ProgressItem(TypedDict):
    """How far indexing is: in seconds of media, in documents, in files, and as a share of all in [0, 1]."""

    media_seconds_done: float
    media_seconds_total: float
    documents_done: int
    documents_total: int
    share: float
    files_begun: int
    files_total: int
    eta_seconds: float | None
    file: str | None
    stage: Literal["prepare", "index", "finish"]


class JobDocument(TypedDict):
    """`rag.job/1`: the keys of an index, or those of an agent."""

    schema: Literal["rag.job/1"]
    job_id: str
    kind: Literal["index", "agent"]
    folder: NotRequired[str]
    dry_run: NotRequired[bool]
    prune: NotRequired[bool]
    agent: NotRequired[str]
    arguments: NotRequired[dict[str, Any]]
    state: State
    created: str
    started: str | None
    ended: str | None
    forecast: dict[str, Any] | None
    progress: ProgressItem | None
    problems: list[ProblemItem]
    problem_count: int
    steps: list[dict[str, Any]]
    result: dict[str, Any] | None
    error: str | None


class JobsDocument(TypedDict):
    """`rag.jobs/1`."""

    schema: Literal["rag.jobs/1"]
    jobs: list[JobDocument]
    roots: list[str]


def resolved_roots(folders: Collection[Path]) -> tuple[Path, ...]:
    """The folders of `--allow-index` without links. Raises `UsageError` for one that is no folder."""
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"{folder}: no such folder; --allow-index names one that exists")
    return tuple(folder.resolve() for folder in folders)


@dataclass
class Job:
    """One job, as far as its child has written what happens."""

    kind: Literal["index", "agent"]
    request: dict[str, Any]
    """What was asked for: `folder`, `dry_run`, `prune`; or `agent`, `arguments`."""
    job_id: str = field(default_factory=lambda: secrets.token_hex(8))
    state: State = "queued"
    created: float = field(default_factory=time.time)
    started: float | None = None
    ended: float | None = None
    error: str | None = None
    progress: dict[str, Any] | None = None
    problems: list[dict[str, Any]] = field(default_factory=list)
    problem_count: int = 0
    steps: list[dict[str, Any]] = field(default_factory=list)
    result: dict[str, Any] | None = None
    said: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_WORDS))
    """What the child wrote that is no event: why it fails."""

    @property
    def queue(self) -> str:
        """One job of each queue runs at a time: a library has one writer, and agents use a model."""
        return "forecast" if self.request.get("dry_run") else self.kind

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
            elif name == "step" and len(self.steps) < MOST_PROBLEMS:
                self.steps.append(event["step"])
        except (ValueError, KeyError, TypeError, AttributeError):
            if text:
                self.said.append(text)

    def end(self, printed: bytes, code: int, *, closing: bool, failed: str) -> None:
        """The state by what the child printed on stdout, and by its exit code.

        `closing`: the server stops. `failed`: why there was no child.
        """
        self.ended = time.time()
        with contextlib.suppress(ValueError):
            found = json.loads(printed)
            if isinstance(found, dict) and (self.kind == "agent" or isinstance(found.get("problems"), list)):
                self.result = found
        if self.result is None:
            stopped = closing or self.state == "cancelling"
            self.state = "cancelled" if stopped else "failed"
            self.error = None if stopped else failed or self._last_words(code)
            return
        self.state = "done"
        if self.kind == "agent":
            return
        problems = self.result["problems"]
        self.problems, self.problem_count = problems[:MOST_PROBLEMS], len(problems)
        if not self.request["dry_run"]:
            self.state = "failed" if code == 1 else "partial" if problems else "done"
            if code == 1:
                self.error = self._complaint() or "none of the files can be used"

    def _last_words(self, code: int) -> str:
        """Why the child ended without a result."""
        if said := self._complaint():
            return said
        if code < 0:
            return f"ended by {signal.Signals(-code).name}; start it again to go on"
        return self.said[-1] if self.said else "ended without a result"

    def _complaint(self) -> str:
        """The last line with which the command says what is wrong; empty without one."""
        lines = (line for line in reversed(self.said) if line.startswith("rag: "))
        return next(lines, "").removeprefix("rag: ")

    def shape(self, *, brief: bool = False) -> dict[str, Any]:
        """`rag.job/1`; `brief`: without the steps and the result of an agent."""
        of_agent = brief and self.kind == "agent"
        return {
            "schema": "rag.job/1",
            "job_id": self.job_id,
            "kind": self.kind,
            **self.request,
            "state": self.state,
            "created": _timestamp(self.created),
            "started": _timestamp(self.started),
            "ended": _timestamp(self.ended),
            "forecast": (self.result or {}).get("forecast") if self.kind == "index" else None,
            "progress": self.progress,
            "problems": list(self.problems),
            "problem_count": self.problem_count,
            "steps": [] if of_agent else list(self.steps),
            "result": None if of_agent else self.result,
            "error": self.error,
        }


class Jobs:
    """The jobs of one server over its library; safe to share between threads.

    `changed` is called when a job that may have changed the library has ended.
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
        self._workers: dict[str, tuple[threading.Thread, SimpleQueue[Job | None]]] = {}
        """By queue."""

    def start_index(self, folder: str, *, dry_run: bool = False, prune: bool = False) -> dict[str, Any]:
        """A new job that indexes a folder or file below a root, as `rag.job/1`.

        `dry_run`: only forecast what that would take. `prune`: also remove files below it that no longer
        exist.

        Raises `Problem` for a folder that is not below a root, `UnreadableFile` for one that does not exist.
        """
        path = self._allowed(folder)
        return self._create(Job("index", {"folder": path, "dry_run": dry_run, "prune": prune}))

    def start_agent(self, agent: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A new job that runs an agent, as `rag.job/1`. Raises `Problem` for one that cannot be run."""
        name = next((name for name, (paper, _) in AGENTS.items() if agent in (name, paper)), None)
        if name is None:
            raise Problem(404, "unknown-id", f"{agent}: there is no such agent")
        needed = AGENTS[name][1]
        for wrong in sorted({*arguments} - AGENT_OPTIONS - {*needed}):
            raise Problem(422, "invalid-request", f"{wrong}: a job of an agent has no such argument")
        for missing in (each for each in needed if not isinstance(arguments.get(each), str)):
            raise Problem(422, "invalid-request", f"{missing}: a text is needed")
        if "video" in needed and not re.fullmatch(VIDEO_ID, arguments["video"]):
            raise Problem(422, "invalid-request", "video: it is the id of a video")
        return self._create(Job("agent", {"agent": name, "arguments": dict(arguments)}))

    def all(self) -> list[dict[str, Any]]:
        """All jobs, the newest first, without the steps and results of agents."""
        with self._lock:
            return [job.shape(brief=True) for job in reversed(self._jobs.values())]

    def get(self, job_id: str) -> dict[str, Any]:
        """One job. Raises `Problem` for an unknown id."""
        with self._lock:
            return self._known(job_id).shape()

    def cancel(self, job_id: str) -> dict[str, Any]:
        """The job, whose work stops; one that has ended stays so. Raises `Problem` for an unknown id."""
        with self._lock:
            job = self._known(job_id)
            if job.state == "queued":
                job.state, job.ended = "cancelled", time.time()
            elif job.state == "running":
                job.state = "cancelling"
            return job.shape()

    def close(self) -> None:
        """Stop, and interrupt the children."""
        self._closed.set()
        for thread, waiting in self._workers.values():
            waiting.put(None)
            thread.join()

    def _known(self, job_id: str) -> Job:
        if job_id not in self._jobs:
            raise Problem(404, "unknown-id", f"{job_id}: there is no such job")
        return self._jobs[job_id]

    def _create(self, job: Job) -> dict[str, Any]:
        with self._lock:
            if self._closed.is_set():
                raise Problem(503, "stopping", "the server is shutting down")
            if sum(one.state == "queued" for one in self._jobs.values()) >= MOST_QUEUED:
                raise Problem(409, "too-many-jobs", f"{MOST_QUEUED} jobs wait already; cancel some")
            ended = [name for name, one in self._jobs.items() if one.ended is not None]
            for name in ended[:-MOST_KEPT]:
                del self._jobs[name]
            self._jobs[job.job_id] = job
            if job.queue not in self._workers:
                waiting: SimpleQueue[Job | None] = SimpleQueue()
                thread = threading.Thread(
                    target=self._work, args=[waiting], name="rag-server-jobs", daemon=True
                )
                self._workers[job.queue] = thread, waiting
                thread.start()
            self._workers[job.queue][1].put(job)
            return job.shape()

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
        if not os.path.isabs(folder) or not inside:
            what = "it is only below a folder that --allow-index names"
            if not self.roots:
                what = "start the server with --allow-index and a folder above it"
            raise Problem(403, "folder-not-allowed", f"{folder}: indexing is not allowed; {what}")
        if not os.path.exists(path):
            raise UnreadableFile(f"{folder}: no such file or folder")
        return os.fsdecode(path)

    def _work(self, waiting: SimpleQueue[Job | None]) -> None:
        """Run the jobs of one queue until the server stops."""
        while (job := waiting.get()) is not None:
            with self._lock:
                if job.state != "queued" or self._closed.is_set():
                    continue
                job.state, job.started = "running", time.time()
            printed, code, failed = b"", 0, ""
            try:
                printed, code = self._run(job)
            except Exception as error:  # with the thread every later job would stop
                failed = str(error)
                if not isinstance(error, Problem | RagError | OSError):
                    log.error("job %s: bug", job.job_id, exc_info=error)
            with self._lock:
                job.end(printed, code, closing=self._closed.is_set(), failed=failed)
            if job.queue == "index":
                self._changed()

    def _run(self, job: Job) -> tuple[bytes, int]:
        """What the child printed, and its exit code."""
        with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as written:
            child = subprocess.Popen(
                [*COMMAND, *self._words(job)],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=written,
                env=self._environment(job),
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
            closing = self._closed.is_set()
            if closing or job.state == "cancelling":
                since = since or time.monotonic()
                signals = CLOSING if closing else SIGNALS
                if sent < len(signals) and time.monotonic() - since >= signals[sent][0]:
                    child.send_signal(signals[sent][1])
                    sent += 1
            time.sleep(LOOK_SECONDS)

    def _words(self, job: Job) -> list[str]:
        """The words of the command line."""
        options = ["--library", os.fsdecode(self._library), "--json", "--events"]
        if job.kind == "agent":
            return ["agent", job.request["agent"], *options, *agent_words(**job.request)]
        path = self._allowed(job.request["folder"])
        flags = [flag for flag in ("dry_run", "prune") if job.request[flag]]
        return ["index", *options, *(f"--{flag.replace('_', '-')}" for flag in flags), "--", path]

    def _environment(self, job: Job) -> dict[str, str]:
        """The server's own, with its settings in place of those in the child's environment and files."""
        values = self._settings.model_dump(exclude={"library"})
        if job.kind == "index":
            values["scan"]["within"] = [os.fsdecode(root) for root in self.roots]
        own = {name: value for name, value in os.environ.items() if not name.startswith("RAG_")}
        for name, value in values.items():
            own[f"RAG_{name.upper()}"] = json.dumps(value, default=_plain)
        return own


def agent_words(agent: str, arguments: Mapping[str, Any]) -> Iterator[str]:
    """The words behind `rag agent NAME`; what is wrong with a value, the command says."""
    needed = AGENTS[agent][1]
    for name, value in arguments.items():
        flag = f"--{name.replace('_', '-')}"
        for one in () if name in needed else value if isinstance(value, list) else (value,):
            if one is not False:
                # Of any other option: a flag alone would take the next word for its value.
                yield flag if one is True and name == "must_choose" else f"{flag}={one}"
    yield "--"
    yield from (arguments[name] for name in needed)


def _timestamp(seconds: float | None) -> str | None:
    """`2026-11-23T06:27:00.250Z` of seconds since 1970."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(value: object) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)
