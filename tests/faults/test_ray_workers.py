"""A cluster of Ray makes the library of a plain run on disk, whatever dies: driver, worker, node.

With the corpus and the library on an object store, and with both on disk.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rag.indexing import index
from rag.settings import Settings, load_settings
from rag.store.layout import Location
from tests.fakes.library_dump import dump
from tests.fakes.object_store import FakeStore
from tests.fakes.ray_cluster import LEASE_SECONDS, SHORT_LEASES, busy_workers, open_cluster
from tests.fakes.synthetic import write_video

pytestmark = pytest.mark.slow
SECONDS = 120.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of one core each on loopback."""
    with open_cluster() as made:
        yield made


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for n in range(6):
        write_video(folder / f"{n}.mp4", 30 + n, fps=1, audio=True)
    shutil.copy(folder / "0.mp4", folder / "copy.mp4")
    (folder / "bad.mp4").write_bytes(b"no video" * 99)
    (folder / "notes.md").write_text("# Bolts\n\nA bolt is too tight.\n")
    return folder


def flags(library: Path | str, cluster: Any) -> dict[str, Any]:
    return {
        "library": library,
        "ocr.mode": "off",
        "encoder.image": "none",
        "cluster.engine": "ray",
        "cluster.address": cluster.address,
        "cluster.worker_cpus": 1.0,
        "cluster.group": 2,
    }


def plain(library: Path) -> Settings:
    return load_settings(flags={"library": library, "ocr.mode": "off", "encoder.image": "none"})


def wait_for(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + SECONDS
    while not (value := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return value


def staged(store: FakeStore) -> bool:
    return any("@" in found.key for found in store.open("library/staging").list())


def run(
    corpus: Path | str, library: Path | str, cluster: Any, log: Path, **environment: str
) -> subprocess.Popen[bytes]:
    """`rag index`: a driver of its own, for Ray ends a process whose cluster is gone."""
    given = {f"RAG_{k.upper().replace('.', '__')}": str(v) for k, v in flags(library, cluster).items()}
    command = [sys.executable, "-c", SHORT_LEASES, "index", str(corpus)]
    with log.open("w") as file:
        return subprocess.Popen(command, env={**os.environ, **given, **environment}, stdout=file, stderr=file)


def rows(library: Location, corpus: Path | str) -> list[str]:
    return [line.replace(json.dumps(str(corpus))[1:-1], "CORPUS") for line in dump(library)]


def test_driver_worker_and_node_die(cluster: Any, corpus: Path, tmp_path: Path, bucket: FakeStore) -> None:
    expected = index([corpus], settings=plain(tmp_path / "plain"))
    bucket.upload(corpus, "videos")
    videos, library, log = f"{bucket.url}/videos", bucket.address("library"), tmp_path / "log"

    def begin() -> subprocess.Popen[bytes]:
        return run(videos, library.url, cluster, log, **bucket.environment)

    with begin() as driver:
        try:
            wait_for(lambda: staged(bucket) or driver.poll() is not None)
        finally:
            driver.send_signal(signal.SIGKILL)
    assert driver.returncode == -signal.SIGKILL, log.read_text()
    time.sleep(LEASE_SECONDS)

    nodes = [cluster.head_node, *cluster.worker_nodes]
    with begin() as driver:
        try:
            busy = wait_for(lambda: [pid for node in nodes for pid in busy_workers(node)])
            os.kill(busy[0], signal.SIGKILL)
            wait_for(lambda: busy_workers(nodes[1]))
            cluster.remove_node(nodes[1], allow_graceful=False)
            driver.wait(SECONDS)
        finally:
            driver.kill()
    assert driver.returncode == expected.exit_code, log.read_text()
    assert rows(library, videos) == rows(tmp_path / "plain", corpus)
    assert not staged(bucket)


def test_workers_of_another_processor_refuse(cluster: Any, corpus: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    from rag.indexing.encoders import choose_encoders
    from rag.store.records import DEVICES
    from rag.store.writing import Writer

    settings = load_settings(flags=flags(tmp_path / "library", cluster))
    with Writer.open(tmp_path / "library") as writer:
        meta = choose_encoders(settings, None)[0]
        writer.set_meta(replace(meta, settings={**meta.settings, DEVICES: ["cpu of another kind"]}))
    with run(corpus, tmp_path / "library", cluster, tmp_path / "log") as driver:
        driver.wait(SECONDS)
    assert driver.returncode == 1
    expected = "no worker can index into this library: this machine encodes"
    assert expected in (tmp_path / "log").read_text()
