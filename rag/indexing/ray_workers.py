"""The shards of a run as tasks of Ray, on a cluster that Ray knows or on this machine.

Ray places the tasks, carries what they are given, and runs one again whose worker or node died. What a task
did is in its shard's library, so nothing of Ray is needed to continue.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rag.errors import ExtraMissing, RagError, SettingsError
from rag.indexing.encoders import choose_encoders
from rag.indexing.report import Progress
from rag.settings import ClusterSettings, Settings

if TYPE_CHECKING:
    from rag.store.records import Meta

INSTALL = "install it with: pip install -e '.[cluster]' (in the checkout)"
ATTEMPTS = 3
"""How often a task is run whose worker or node dies."""
CONNECT_SECONDS = 5.0
JOIN_SECONDS = 60.0
"""How long a cluster may take to accept a process; what listens and is no Ray would be waited for without
end."""
START_SECONDS = 120
"""A busy machine needs longer than Ray's 30 s to start a node."""


def choose(settings: Settings) -> Meta:
    """What a new library is made with, chosen where it will be encoded."""
    return choose_encoders(settings).meta


class RayPool:
    """The tasks of one run. A context manager."""

    def __init__(self, settings: Settings, progress: Progress) -> None:
        """Raises `ExtraMissing` without Ray, `RagError` where the cluster cannot be reached, `SettingsError`
        where this machine has no room for a worker."""
        self._settings = settings
        self._cluster = settings.cluster
        self._progress = progress
        progress.status("starting Ray")
        self._ray = _connect(self._cluster)
        room = self._workers_that_fit()
        if not room:
            wanted = f"{self._cluster.worker_cpus:g} cores and {self._cluster.worker_gpus:g} GPUs"
            if not _address(self._cluster):
                self._ray.shutdown()
                raise SettingsError(
                    f"this machine has no room for a worker of {wanted}; set cluster.worker_cpus and "
                    "cluster.worker_gpus"
                )
            progress.note(f"the cluster has no room for a worker of {wanted}; waiting until it has")
        self.workers = self._cluster.workers or max(1, room)
        """Tasks that run at once."""

    def __enter__(self) -> RayPool:
        return self

    def __exit__(self, *_: object) -> None:
        self._ray.shutdown()

    def choose(self) -> Meta:
        """What a new library is made with, chosen by one of the workers."""
        self._progress.status("a worker opens encoders")
        call = self._remote(choose).remote(self._settings)
        meta: Meta | None = self._result(call)
        if meta is None:
            raise RagError(f"{ATTEMPTS} workers died while they opened encoders; see the logs of Ray")
        return meta

    def run(self, work: Callable[..., Any], given: Sequence[Sequence[Any]]) -> Iterator[tuple[int, Any]]:
        """Call `work` with each of `given`; yields the index and the result as they end.

        None for one whose worker died in each attempt. Raises what a task raises.
        """
        waiting, calls, ended = list(range(len(given))), dict[Any, int](), 0
        while waiting or calls:
            while waiting and len(calls) < self.workers:
                task = waiting.pop(0)
                calls[self._remote(work).remote(*given[task])] = task
            self._progress.status(f"shards in work: {len(calls)}, done: {ended} of {len(given)}")
            for call in self._ray.wait(list(calls), num_returns=1)[0]:
                ended += 1
                yield calls.pop(call), self._result(call)
        self._progress.status("")

    def _remote(self, function: Callable[..., Any]) -> Any:
        options = {"num_cpus": self._cluster.worker_cpus, "num_gpus": self._cluster.worker_gpus}
        return self._ray.remote(function).options(**options, max_retries=ATTEMPTS - 1)

    def _result(self, call: Any) -> Any:
        """The result of a task; None where its worker died in each attempt."""
        try:
            return self._ray.get(call)
        except self._ray.exceptions.RayTaskError as error:
            raise _cause(error) from None
        except self._ray.exceptions.RayError:
            return None

    def _workers_that_fit(self) -> int:
        resources = self._ray.cluster_resources()
        fit = [resources.get("CPU", 0.0) / self._cluster.worker_cpus]
        if self._cluster.worker_gpus:
            fit.append(resources.get("GPU", 0.0) / self._cluster.worker_gpus)
        return int(min(fit))


def _address(cluster: ClusterSettings) -> str:
    """The address of a running cluster; empty for one on this machine alone."""
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
    # Read when Ray is imported: nothing of a run leaves the machines, and stdout is the command's own.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
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
