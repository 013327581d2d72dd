"""A cluster of Ray with two nodes of one core each on loopback, and `rag` as its driver."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.fakes.object_store import KEYS

NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
DRIVER = "import sys; from rag._cli.main import run; sys.argv[0] = 'rag'; run()"
"""`rag` as a program of Python."""


@contextmanager
def open_cluster() -> Iterator[Any]:
    """The cluster; its workers have the keys of `tests.fakes.object_store`."""
    # The workers of a node have the environment that it was started in.
    os.environ.update(KEYS, RAY_USAGE_STATS_ENABLED="0", RAY_raylet_start_wait_time_s="120")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ray.cluster_utils import Cluster

        made = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
        try:
            made.add_node(**NODE)
            yield made
        finally:
            made.shutdown()


def busy_workers(raylet: int) -> list[int]:
    """Processes of a node, by that of its raylet, that have a task now."""
    return [process for process in _children(raylet) if b"run_task" in _command(process)]


def raylets() -> list[int]:
    """Nodes that this process has started."""
    return [process for process in _children(os.getpid()) if b"raylet/raylet" in _command(process)]


def _children(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(entry.name))
    return found


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""
