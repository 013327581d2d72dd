"""Jobs: indexing, forecasts and agents, each a child process that runs the command line.

A child leaves the server's threads and memory alone, can be interrupted at any time without harm to the
library, and is seen by a server that is started later: what is known of a job is in its log on disk
(`rag.server.job_log`). The logs are in the user's state folder and not in the library, whose folder may not
exist yet, and must be empty for the first index.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from corpora.errors import os_reason
from corpora.platforms import KILL, take_lock, yield_to_others
from rag.errors import RagError, UnreadableFile, UsageError
from rag.server.agents import AgentSpec
from rag.server.job_log import JobLog, State, read_events
from rag.server.problems import MOST_ERRORS, Problem
from rag.settings import Settings
from rag.store.finding import real_name
from rag.store.layout import Location

if TYPE_CHECKING:
    from filelock import FileLock

log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-P", "-m", "rag._cli.main")
"""`rag`, whatever is in the working folder."""
MOST_KEPT = 100
"""Jobs that have ended of which the logs are kept."""
MOST_QUEUED = 100
LOOK_SECONDS = 0.1
"""Between two looks at the children while any runs."""
RETRY_SECONDS = 10.0
"""Until the next look after one that failed, as with a full disk."""
SIGNALS = ((0.0, signal.SIGINT), (0.8, signal.SIGTERM), (5.0, KILL))
"""What a cancelled child is sent, and after how many seconds: the library survives all of them."""
CLOSE_SECONDS = 1.5
"""That a child has to end once the server stops."""
NICE = 10
"""Children yield to questions."""


def state_folder() -> Path:
    """Where the logs of jobs are kept: below `$XDG_STATE_HOME`."""
    root = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(root) / "rag" / "serve"


def resolved_roots(folders: Collection[Path]) -> tuple[Path, ...]:
    """The folders of `--allow-index` without links. Raises `UsageError` for one that is no folder."""
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"{folder}: no such folder; --allow-index names one that exists")
    return tuple(folder.resolve() for folder in folders)


EVENTS = ("state", "progress", "problem", "step")


JobEvent = tuple[str, Mapping[str, Any]]
"""One event of a job: `job` (its state has changed), `progress`, `problem` or `step`, with its document."""


class Jobs:
    """The jobs of one library; safe to share between threads.

    `changed` is called when a job that may have changed the library has ended. Every method raises `Problem`
    where another server of this library has the jobs.
    """

    def __init__(
        self,
        settings: Settings,
        library: Location,
        roots: Sequence[Path],
        agents: Callable[[], Sequence[AgentSpec]],
        changed: Callable[[], None],
        state: Path,
    ) -> None:
        """`library`: where it is; `roots`: resolved folders below which a folder may be indexed."""
        name = hashlib.blake2b(os.fsencode(real_name(library)), digest_size=16).hexdigest()
        self.folder = state / name
        self.roots = tuple(roots)
        self._settings = settings
        self._library = library
        self._agents = agents
        self._changed = changed
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._closed = False
        self._owned: FileLock | None = None
        self._jobs: dict[str, JobLog] = {}
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._cancelled: dict[str, tuple[float, int]] = {}
        """When a job was cancelled, and how many of the signals were sent."""
        self._thread: threading.Thread | None = None

    @cached_property
    def agents(self) -> tuple[AgentSpec, ...]:
        """The agents that can be run."""
        return tuple(self._agents())

    def open(self) -> None:
        """Take up the jobs of an earlier server, if there were any: what waits goes on waiting, then runs."""
        if self.folder.is_dir():
            with contextlib.suppress(Problem), self._owner():
                pass

    def start_index(self, folder: str, *, dry_run: bool = False, prune: bool = False) -> dict[str, Any]:
        """A new job that indexes a folder or file below a root, as `rag.job/1`.

        `dry_run`: only forecast what that would take. `prune`: also remove files below it that no longer
        exist.

        Raises `Problem` for a folder that is not below a root, `UnreadableFile` for one that does not exist.
        """
        path = self._allowed(folder)
        return self._create("index", {"folder": path, "dry_run": dry_run, "prune": prune})

    def start_agent(self, agent: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A new job that runs an agent, as `rag.job/1`. Raises `Problem` for one that cannot be run."""
        spec = next((spec for spec in self.agents if agent in (spec.agent, spec.also)), None)
        if spec is None:
            raise Problem(404, "unknown-id", f"{agent}: there is no such agent")
        if problems := spec.problems(arguments):
            rows = problems[:MOST_ERRORS]
            errors = [{"loc": ["body", "arguments", name], "msg": reason} for name, reason in rows]
            name, reason = problems[0]
            raise Problem(422, "invalid-request", f"{name}: {reason}", errors=errors)
        return self._create("agent", {"agent": spec.agent, "arguments": dict(arguments)})

    def all(self) -> list[dict[str, Any]]:
        """All jobs, the newest first, without the steps and results of agents."""
        with self._reader() as jobs:
            ordered = sorted(jobs.values(), key=lambda job: job.created, reverse=True)
            return [job.shape(brief=True) for job in ordered]

    def get(self, job_id: str) -> dict[str, Any]:
        """One job. Raises `Problem` for an unknown id."""
        with self._reader() as jobs:
            return _known(jobs, job_id).shape()

    def cancel(self, job_id: str) -> dict[str, Any]:
        """The job, whose work stops; one that has ended stays so. Raises `Problem` for an unknown id."""
        with self._reader() as jobs:
            job = _known(jobs, job_id)
            job.read()
            if job.state == "queued":
                self._enter(job, "cancelled")
            elif job.state == "running":
                self._enter(job, "cancelling")
                self._signal(job)
            self._wake.set()
            return job.shape()

    def events(self, job_id: str, after: int | None = None) -> tuple[list[JobEvent], int, bool]:
        """What happened behind an offset of the log, the offset to go on from, and whether that is the end.

        Without an offset the job as it is. Of the progress only the last event is given. Raises `Problem` for
        an unknown id.
        """
        with self._reader() as jobs:
            job = _known(jobs, job_id)
            if after is None:
                return [("job", job.shape())], job.offset, job.has_ended
            events: list[JobEvent] = []
            for event, offset in read_events(job.path, after):
                if offset > job.offset:
                    break
                if isinstance(event, str) or event.get("event") not in EVENTS:
                    continue
                name = event.pop("event")
                if name == "state":
                    name, event = "job", job.shape()
                elif name == "step":
                    event = event.get("step", {})
                if events and events[-1][0] == name and name in ("job", "progress"):
                    events.pop()
                events.append((name, event))
            return events, job.offset, job.has_ended

    def close(self) -> None:
        """Stop: the children are interrupted. What was being indexed goes on when a server is started."""
        with self._lock:
            self._closed = True
            self._wake.set()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            if self._owned is None:
                return
            running = [job for job in self._jobs.values() if job.process is not None]
            for job in running:
                self._send(job, signal.SIGINT)
            limit = time.monotonic() + CLOSE_SECONDS
            for job in running:
                while self._runs(job) and time.monotonic() < limit:
                    time.sleep(0.02)
                self._send(job, KILL)
                with contextlib.suppress(OSError):
                    self._settle(job, stopped=True)
            self._owned.release()
            self._owned = None

    def _create(self, kind: str, request: dict[str, Any]) -> dict[str, Any]:
        with self._owner() as jobs:
            if self._closed:
                raise Problem(503, "stopping", "the server is shutting down")
            if sum(job.state == "queued" for job in jobs.values()) >= MOST_QUEUED:
                raise Problem(409, "too-many-jobs", f"{MOST_QUEUED} jobs wait already; cancel some")
            job_id = secrets.token_hex(8)
            job = JobLog(self.folder / f"{job_id}.jsonl")
            with _disk_errors(self.folder):
                job.write("created", job_id=job_id, kind=kind, time=time.time(), request=request)
            jobs[job_id] = job
            self._forget_old()
            self._look()
            self._wake.set()
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

    @contextmanager
    def _owner(self) -> Iterator[dict[str, JobLog]]:
        """The jobs, with the right to change them: one server has it. Raises `Problem` otherwise."""
        with self._lock:
            if self._owned is None and not self._closed:
                with _disk_errors(self.folder):
                    self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                    held = take_lock(self.folder / "lock")
                    if held is None:
                        raise Problem(409, "jobs-elsewhere", "another server of this library has its jobs")
                    try:
                        self._load()
                    except BaseException:
                        held.release()
                        raise
                self._owned = held
                self._thread = threading.Thread(target=self._supervise, name="rag-server-jobs", daemon=True)
                self._thread.start()
            yield self._jobs

    @contextmanager
    def _reader(self) -> Iterator[dict[str, JobLog]]:
        """The jobs; none where there was never any."""
        with self._lock:
            if self._owned is None and not self.folder.is_dir():
                yield {}
                return
            with self._owner() as jobs:
                yield jobs

    def _load(self) -> None:
        for path in self.folder.glob("*.jsonl"):
            job = JobLog(path)
            with contextlib.suppress(OSError):
                job.read()
            if job.job_id != path.stem:
                continue  # cut off before its first line was written
            self._jobs[job.job_id] = job

    def _forget_old(self) -> None:
        ended = sorted((job for job in self._jobs.values() if job.has_ended), key=lambda job: job.created)
        for job in ended[:-MOST_KEPT]:
            del self._jobs[job.job_id]
            for path in (job.path, job.result_path):
                path.unlink(missing_ok=True)

    def _supervise(self) -> None:
        """Follow the children until the jobs are closed."""
        while not self._closed:
            with self._lock:
                try:
                    pause = LOOK_SECONDS if self._look() else None
                except Exception as error:  # with the thread every job would stop, without a word
                    log.error("%s: jobs cannot be followed: %s", self.folder, error, exc_info=error)
                    pause = RETRY_SECONDS
            self._wake.wait(pause)
            self._wake.clear()

    def _look(self) -> bool:
        """Read what the children wrote, settle those that ended, and start what waits; whether any runs."""
        for job in [job for job in self._jobs.values() if job.process is not None]:
            runs = self._runs(job)  # first: what it wrote before its end is then read
            job.read()
            if not runs:
                self._settle(job)
            elif job.state == "cancelling":
                self._signal(job)
        queued = sorted((j for j in self._jobs.values() if j.state == "queued"), key=lambda job: job.created)
        for job in queued:
            if job.kind == "agent" and not self.agents:
                continue  # it waits for a server that has agents
            if not self._closed and not any(
                other.queue == job.queue for other in self._jobs.values() if other.process is not None
            ):
                self._spawn(job)
        return any(job.process is not None for job in self._jobs.values())

    def _spawn(self, job: JobLog) -> None:
        try:
            words = self._words(job)
            with open(job.result_path, "wb") as result, open(job.path, "ab") as written:
                child = subprocess.Popen(
                    [*COMMAND, *words],
                    stdin=subprocess.DEVNULL,
                    stdout=result,
                    stderr=written,
                    env=self._environment(job),
                    start_new_session=True,
                )
        except (Problem, RagError, OSError) as error:
            self._enter(job, "failed", error=str(error))
            return
        with contextlib.suppress(OSError):
            yield_to_others(child.pid, NICE)
        self._children[job.job_id] = child
        self._enter(job, "running", process=[child.pid, _begun(child.pid)])

    def _words(self, job: JobLog) -> list[str]:
        """The words of the command line."""
        options = ["--library", os.fsdecode(self._library), "--json", "--events"]
        if job.kind == "agent":
            spec = next((spec for spec in self.agents if spec.agent == job.request["agent"]), None)
            if spec is None or spec.problems(job.request["arguments"]):
                raise Problem(422, "invalid-request", "this version has no such agent or option")
            return ["agent", spec.agent, *options, *spec.words(job.request["arguments"])]
        path = self._allowed(job.request["folder"])
        flags = [flag for flag in ("dry_run", "prune") if job.request[flag]]
        return ["index", *options, *(f"--{flag.replace('_', '-')}" for flag in flags), "--", path]

    def _environment(self, job: JobLog) -> dict[str, str]:
        """The server's own, with its settings in place of those in the child's environment and files."""
        values = self._settings.model_dump(exclude={"library"})
        if job.kind == "index":
            values["scan"]["within"] = [os.fsdecode(root) for root in self.roots]
        own = {name: value for name, value in os.environ.items() if not name.startswith("RAG_")}
        for name, value in values.items():
            own[f"RAG_{name.upper()}"] = json.dumps(value, default=_plain)
        return own

    def _runs(self, job: JobLog) -> bool:
        """Whether the child of a job that was started still runs."""
        child = self._children.get(job.job_id)
        if child is not None:
            return child.poll() is None
        if job.process is None:
            return False
        pid, begun = job.process
        return bool(begun) and _begun(pid) == begun

    def _send(self, job: JobLog, number: signal.Signals) -> None:
        """Send a signal to the child, if it is still the process that was started."""
        if job.process is not None and self._runs(job):
            with contextlib.suppress(OSError):
                os.kill(job.process[0], number)

    def _signal(self, job: JobLog) -> None:
        """Send the next of the signals to a cancelled child, if it is time."""
        since, sent = self._cancelled.get(job.job_id, (time.monotonic(), 0))
        if sent < len(SIGNALS) and time.monotonic() - since >= SIGNALS[sent][0]:
            self._send(job, SIGNALS[sent][1])
            sent += 1
        self._cancelled[job.job_id] = since, sent

    def _settle(self, job: JobLog, *, stopped: bool = False) -> None:
        """Enter the state of a job whose child has ended; `stopped`: because the server does."""
        child = self._children.pop(job.job_id, None)
        code = child.wait() if child is not None else None
        self._cancelled.pop(job.job_id, None)
        job.read()
        result = job.read_result()
        if result is not None:
            state, error = _outcome(job, result, code)
            self._enter(job, state, error=error)
        elif job.state == "cancelling":
            self._enter(job, "cancelled")
        elif stopped and job.kind == "index":
            self._enter(job, "queued")
        elif stopped:
            self._enter(job, "failed", error="the server was stopped")
        else:
            self._enter(job, "failed", error=_last_words(job, code))
        if job.kind == "index" and not job.request["dry_run"]:
            self._changed()

    def _enter(self, job: JobLog, state: State, **fields: Any) -> None:
        job.write("state", state=state, time=time.time(), **fields)


def _known(jobs: Mapping[str, JobLog], job_id: str) -> JobLog:
    if job_id not in jobs:
        raise Problem(404, "unknown-id", f"{job_id}: there is no such job")
    return jobs[job_id]


def _outcome(job: JobLog, result: Mapping[str, Any], code: int | None) -> tuple[State, str | None]:
    """The state of a job that has a result, by the exit code of `rag index`.

    `code`: None of a child that another server has started.
    """
    if job.kind == "agent" or job.request["dry_run"]:
        return "done", None
    if code == 1:
        return "failed", _complaint(job) or "none of the files can be used"
    return ("partial" if result["problems"] else "done"), None


def _last_words(job: JobLog, code: int | None) -> str:
    """Why a child ended without a result."""
    if said := _complaint(job):
        return said
    if code is not None and code < 0:
        return f"ended by {signal.Signals(-code).name}; start it again to go on"
    if job.said:
        return job.said[-1]
    return "ended together with the server; start it again to go on"


def _complaint(job: JobLog) -> str:
    """The last line with which the command says what is wrong; empty without one."""
    lines = (line for line in reversed(job.said) if line.startswith("rag: "))
    return next(lines, "").removeprefix("rag: ")


def _begun(pid: int) -> str:
    """When a process was started, in ticks since the start of the machine; empty where it has ended."""
    try:
        facts = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if facts[0] == "Z" else facts[19]


@contextmanager
def _disk_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = os_reason(error)
        raise Problem(507, "jobs-unavailable", f"{folder}: jobs cannot be kept: {reason}") from error


def _plain(value: object) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)
