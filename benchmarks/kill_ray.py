"""Kills of what indexes on Ray over an object store: driver, worker, node; see `benchmarks.kill_index`."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.kill_bench import Result, StoreBench, UnfakedBench
from benchmarks.kill_points import open_server
from rag.store.layout import Location
from tests.fakes.ray_cluster import DRIVER, NODE, busy_workers, open_cluster

WAIT_SECONDS = 300.0


def kill_ray(folder: Path, times: int, seed: int) -> Result:
    """Kill a driver, a worker and a node in each library, `times` times in all."""
    with open_server() as server, open_cluster() as cluster:
        plain = UnfakedBench(folder, server)
        plain.undisturbed()
        expected = plain.rows(0, folder / "after-0")
        plain.corpus(1)  # leaves the first state under its own name
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # the cluster's ends without a result
        killer = _RayKiller(StoreBench(folder / "ray", server, folder), expected, cluster, seed)
        with contextlib.suppress(KeyboardInterrupt):  # what was seen until then is printed
            while killer.result.times < times:
                killer.kill_in_one_library()
        return killer.result


class _RayKiller:
    def __init__(self, bench: StoreBench, expected: list[str], cluster: Any, seed: int) -> None:
        self._bench = bench
        self._expected = expected
        self._cluster = cluster
        self._random = random.Random(seed)
        self.result = Result()

    def kill_in_one_library(self) -> None:
        """A driver dies; the command runs again, and a worker and a node die; the library is compared."""
        bench, result = self._bench, self.result
        library = bench.start(0)
        hit = ["driver"]
        with self._driver(library) as driver:
            self._wait(driver, self._busy)
            time.sleep(self._random.uniform(0, 4))
            driver.send_signal(signal.SIGKILL)
        result.kills["driver"] += driver.returncode == -signal.SIGKILL
        with self._driver(library) as driver:
            if busy := self._wait(driver, self._busy):
                hit.append("worker")
                time.sleep(self._random.uniform(0, 0.3))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(busy[0], signal.SIGKILL)
                    result.kills["worker"] += 1
            if self._wait(driver, self._busy):
                hit.append("node")
                self._cluster.remove_node(self._cluster.worker_nodes.copy().pop(), allow_graceful=False)
                result.kills["node"] += 1
                self._cluster.add_node(**NODE)
            driver.wait(WAIT_SECONDS)
        result.times = result.kills.total()
        result.lives += 1
        print(f"libraries: {result.lives}, kills: {dict(result.kills)}", flush=True)
        failure = bench.failure(driver.returncode)
        if problem := failure or bench.difference(0, library, self._expected):
            result.faults.update(hit)
            result.messages.append(f"killed {hit}: {problem}")
            print(result.messages[-1], flush=True)

    def _driver(self, library: Location) -> subprocess.Popen[bytes]:
        bench = self._bench
        words = ["index", bench.place(bench.corpus(0)), "--library", str(library), "--engine", "ray"]
        words += ["--address", self._cluster.address, "--worker-cpus", "1", "--group", "2"]
        image = {"RAG_ENCODER__IMAGE": f"hf:{bench.encoders[0]}"}
        with (bench.logs / "command.log").open("w") as log:
            return subprocess.Popen(
                [sys.executable, "-c", DRIVER, *words],
                env={**os.environ, **bench.environment, **image},
                stdout=log,
                stderr=log,
            )

    def _busy(self) -> list[int]:
        nodes = [self._cluster.head_node, *self._cluster.worker_nodes]
        return [pid for node in nodes for pid in busy_workers(node.all_processes["raylet"][0].process.pid)]

    def _wait(self, driver: subprocess.Popen[bytes], condition: Callable[[], list[int]]) -> list[int]:
        """Until it holds, or the driver has ended."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not (found := condition()) and driver.poll() is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"nothing goes on: {self._bench.log()}")
            time.sleep(0.01)
        return found
