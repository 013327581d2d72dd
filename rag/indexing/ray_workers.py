"""Workers as actors of Ray: each holds encoders and readers, and stages one content after another.

Ray places the actors, carries what to do, and reports who died; what was done is in staging, so nothing of
Ray is needed to go on. Actors are not restarted by Ray but by the scheduler, which knows what each one did.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rag.errors import EncoderMismatch, ExtraMissing, RagError, SettingsError, WorkerLost
from rag.indexing.encoders import choose_encoders
from rag.indexing.planning import Group
from rag.indexing.report import Progress, Silent
from rag.indexing.scheduling import ATTEMPTS, Scheduler
from rag.indexing.staging import StagingWorker
from rag.settings import ClusterSettings, Settings

if TYPE_CHECKING:
    from rag.store.layout import Location
    from rag.store.records import Meta

INSTALL = "install it with: pip install 'offline-video-rag[cluster]'"
MOST_DEATHS = 100
"""Workers that die with none finishing a content meanwhile; of a larger pool, twice all of them."""
CONNECT_SECONDS = 5.0
JOIN_SECONDS = 60.0
"""How long a cluster may take to accept a process; what listens and is no Ray would be waited for without
end."""
START_SECONDS = 120
"""A busy machine needs longer than Ray's 30 s to start a node."""
POLL_SECONDS = 1.0
"""Between two looks at time limits."""


class RayWorker:
    """One worker, in a process of its own that Ray started."""

    def __init__(self) -> None:
        self._worker: StagingWorker | None = None

    def choose(self, settings: Settings, recommended: str | None) -> Meta:
        """What a new library is made with, measured where it will be encoded."""
        return choose_encoders(settings, recommended)[0]

    def open(self, folder: Location, meta: Meta, settings: Settings, recommended: str | None) -> str:
        """Load what the library is made with; one line where this machine cannot."""
        try:
            self._worker = StagingWorker(folder, meta, settings, Silent(), recommended=recommended)
            self._worker.load()
        except RagError as error:
            return str(error)
        return ""

    def stage(self, group: Group, finished: Mapping[str, Mapping[str, Any]]) -> None:
        """Stage one content; `finished` as of `Stager`."""
        assert self._worker is not None
        self._worker.stage([group], finished)


class RayPool:
    """The workers of one run, on a cluster that Ray knows or on this machine. A context manager."""

    def __init__(self, settings: Settings, progress: Progress) -> None:
        """Raises `ExtraMissing` without Ray, `RagError` where the cluster cannot be reached, `SettingsError`
        where this machine has no room for a worker."""
        self._settings = settings
        self._cluster = settings.cluster
        self._progress = progress
        progress.status("starting Ray")
        self._ray = _connect(self._cluster)
        self._loaded: list[Any] = []
        """Workers that have loaded the libraries and do nothing yet."""
        self._room = self._workers_that_fit()
        if not self._room:
            wanted = f"{self._cluster.worker_cpus:g} cores and {self._cluster.worker_gpus:g} GPUs"
            if not _address(self._cluster):
                self._ray.shutdown()
                raise SettingsError(
                    f"this machine has no room for a worker of {wanted}; set cluster.worker_cpus and "
                    "cluster.worker_gpus"
                )
            progress.note(f"the cluster has no room for a worker of {wanted}; waiting until it has")

    def __enter__(self) -> RayPool:
        return self

    def __exit__(self, *_: object) -> None:
        self._ray.shutdown()

    def choose(self, recommended: str | None) -> Meta:
        """What a new library is made with, chosen by one of the workers; by another one where that dies."""
        for attempt in range(1, ATTEMPTS + 1):
            self._progress.status("a worker measures encoders")
            worker = self._new_worker()
            try:
                meta: Meta = self._ray.get(worker.choose.remote(self._settings, recommended))
            except self._ray.exceptions.RayTaskError as error:
                raise _cause(error) from None
            except self._ray.exceptions.RayActorError:
                self._progress.note(f"a worker died while it measured encoders ({attempt} of {ATTEMPTS})")
                continue
            self._loaded.append(worker)
            return meta
        raise RagError(f"{ATTEMPTS} workers died while they measured encoders; see the logs of Ray")

    def run(
        self,
        folder: Location,
        meta: Meta,
        recommended: str | None,
        groups: Sequence[Group],
        lengths: Mapping[str, float],
        finished: Mapping[str, Mapping[str, Any]],
    ) -> Iterator[tuple[Group, WorkerLost | None]]:
        """Stage contents; yields each as soon as it is staged, or given up.

        `lengths`: seconds of media by the path that is read. Raises `EncoderMismatch` where no worker can
        encode as the library is made, and what else a worker raises that is no problem of a file.
        """
        count = min(self._cluster.workers or max(1, self._room), len(groups))
        scheduler: Scheduler[Any] = Scheduler(lengths, timeout=self._cluster.unit_timeout)
        opening = (folder, meta, self._settings, recommended)
        work = _Work(self._ray, self._new_worker, opening, groups, finished, scheduler, self._progress)
        for _ in range(count):
            work.start()
        while scheduler.left:
            work.assign()
            for worker in scheduler.late(time.monotonic()):
                self._ray.kill(worker)
            self._say(len(work.calls), scheduler.running, len(groups) - scheduler.left)
            for call in self._ended(work.calls):
                yield from work.end(call, most_deaths=max(MOST_DEATHS, 2 * count))

    def _say(self, busy: int, running: int, staged: int) -> None:
        """What goes on until the next commit. `busy`: workers that start or, `running`, index a file."""
        starting = f"workers loading models: {busy - running}, " if busy > running else ""
        self._progress.status(f"{starting}files in work: {running}, staged: {staged}")

    def _ended(self, calls: Mapping[Any, Any]) -> list[Any]:
        if not calls:
            return []
        ended: list[Any] = self._ray.wait(list(calls), num_returns=1, timeout=POLL_SECONDS)[0]
        return ended

    def _new_worker(self) -> Any:
        if self._loaded:
            return self._loaded.pop()
        actor = self._ray.remote(RayWorker)
        options = {"num_cpus": self._cluster.worker_cpus, "num_gpus": self._cluster.worker_gpus}
        return actor.options(**options, max_restarts=0, max_task_retries=0).remote()

    def _workers_that_fit(self) -> int:
        resources = self._ray.cluster_resources()
        fit = [resources.get("CPU", 0.0) / self._cluster.worker_cpus]
        if self._cluster.worker_gpus:
            fit.append(resources.get("GPU", 0.0) / self._cluster.worker_gpus)
        return int(min(fit))


class _Work:
    """What the workers of one run do: load what the library is made with, stage a content, or wait."""

    def __init__(
        self,
        ray: Any,
        new_worker: Callable[[], Any],
        opening: Sequence[Any],
        groups: Sequence[Group],
        finished: Mapping[str, Mapping[str, Any]],
        scheduler: Scheduler[Any],
        progress: Progress,
    ) -> None:
        """`opening`: arguments of `RayWorker.open`."""
        self.calls: dict[Any, Any] = {}
        """Call to the worker that it was made to."""
        self._ray = ray
        self._scheduler = scheduler
        self._new_worker = new_worker
        self._opening = opening
        self._groups = {group.first.path: group for group in groups}
        self._finished = finished
        self._progress = progress
        self._idle: list[Any] = []
        self._refusals: list[str] = []
        self._deaths = 0
        """Since a content was finished last."""

    def start(self) -> None:
        """Let one more worker load."""
        worker = self._new_worker()
        self.calls[worker.open.remote(*self._opening)] = worker

    def assign(self) -> None:
        """Give idle workers what there is for them. Raises `EncoderMismatch` where all have refused."""
        for worker in list(self._idle):
            if (name := self._scheduler.next(worker, time.monotonic())) is not None:
                self._idle.remove(worker)
                group = self._groups[name]
                content = group.content_id
                held = {content: self._finished[content]} if content in self._finished else {}
                self.calls[worker.stage.remote(group, held)] = worker
        if not self.calls and not self._idle:
            raise EncoderMismatch(f"no worker can index into this library: {self._refusals[0]}")

    def end(self, call: Any, most_deaths: int) -> Iterator[tuple[Group, WorkerLost | None]]:
        """A call has ended: yields the content that it staged, or that is given up, where there is one."""
        worker = self.calls.pop(call)
        try:
            refusal = self._ray.get(call)
        except self._ray.exceptions.RayActorError:
            self._deaths += 1
            if self._deaths > most_deaths:
                raise RagError(f"{self._deaths} workers died in a row; see the logs of Ray") from None
            yield from self._replace(worker)
            return
        except self._ray.exceptions.RayTaskError as error:
            raise _cause(error) from None
        if refusal:
            self._refusals.append(refusal)
            self._progress.note(f"a worker is left out: {refusal}")
            self._ray.kill(worker)  # what it holds is another one's
            return
        self._idle.append(worker)
        if refusal is None:
            self._deaths = 0
            yield self._groups[self._scheduler.finish(worker)], None

    def _replace(self, worker: Any) -> Iterator[tuple[Group, WorkerLost]]:
        """Start another one for a worker that is gone."""
        if (name := self._scheduler.lose(worker)) is not None:
            reason = "its worker died, or took too long, in each attempt"
            yield self._groups[name], WorkerLost(f"{name}: {reason}")
        self._progress.note("a worker died or was lost; another one takes its place")
        self.start()


def _address(cluster: ClusterSettings) -> str:
    """Of a running cluster; empty for one on this machine alone."""
    return cluster.address or os.environ.get("RAY_ADDRESS", "")


def _require_listener(address: str) -> None:
    """Raise `RagError` where nothing listens at HOST:PORT: Ray would ask for more than a minute."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RagError(
            f"{address}: no cluster of Ray can be used there ({reason}); start one with: ray start --head"
        ) from error


_JOIN = """
import logging, sys, ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False, logging_level=logging.CRITICAL)
except Exception as error:
    print(str(error).splitlines()[0])
    sys.exit(1)
"""


def _require_cluster(address: str) -> None:
    """Raise `RagError` where a process of this machine cannot join the cluster.

    It is tried by another process: Ray's own writes a warning to stderr for every second that it waits, and
    neither a limit of time nor a signal ends it.
    """
    command = [sys.executable, "-P", "-c", _JOIN, address]
    try:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=JOIN_SECONDS,
        )
    except subprocess.TimeoutExpired:
        reason = f"no answer in {JOIN_SECONDS:g} s"
    else:
        if done.returncode == 0:
            return
        said = done.stdout.decode(errors="replace").strip()
        reason = said.splitlines()[-1][:200] if said else f"exit status {done.returncode}"
    raise RagError(
        f"{address}: no cluster of Ray can be used there ({reason}); name its head by --address HOST:PORT, "
        "and join it on this machine with: ray start --address=HOST:PORT"
    )


def _connect(cluster: ClusterSettings) -> Any:
    # Read when Ray is imported: nothing of a run leaves the machines.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_raylet_start_wait_time_s", str(START_SECONDS))
    try:
        import ray
    except ImportError as error:
        raise ExtraMissing(f"ray is not installed; {INSTALL}") from error
    address = _address(cluster)
    if address:
        _require_listener(address)
        _require_cluster(address)
    local = {} if address else {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    try:
        # Lance warns of every fork, also of one that starts another program at once, as all of Ray's do.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.init(address=address or "local", log_to_driver=False, logging_level=logging.CRITICAL, **local)
    except Exception as error:  # Ray raises that very class where a node does not start
        reason, where = str(error).splitlines()[0][:200], address or "this machine"
        raise RagError(f"{where}: no cluster of Ray can be used there ({reason})") from error
    return ray


def _cause(error: Any) -> BaseException:
    """What a worker raised."""
    with contextlib.suppress(AttributeError):
        if isinstance(error.cause, BaseException):
            return error.cause
    return RuntimeError(str(error))
