"""Workers of Ray, without a cluster."""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rag.errors import RagError, SettingsError
from rag.indexing import ray_workers
from rag.indexing.ray_workers import RayPool
from rag.indexing.report import Progress
from rag.settings import ClusterSettings, Settings


class Died(Exception):
    """As `WorkerCrashedError`."""


class RayTaskError(Died):
    """What a task raised; Ray's own is a `RayError` too."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(cause)
        self.cause = cause


class FakeRay:
    """Ray that runs a task when its result is asked for; `room` is in cores."""

    exceptions = SimpleNamespace(RayError=Died, RayTaskError=RayTaskError)

    def __init__(self, room: float = 4.0) -> None:
        self.ended = False
        self.most_at_once = 0
        self._room = room

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": self._room}

    def remote(self, given: Any) -> Any:
        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=partial(partial, given)))

    def get(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Died:
            raise
        except Exception as error:
            raise RayTaskError(error) from None

    def wait(self, calls: list[Any], **_: Any) -> tuple[list[Any], list[Any]]:
        self.most_at_once = max(self.most_at_once, len(calls))
        return calls[:1], calls[1:]

    def shutdown(self) -> None:
        self.ended = True


class Lines(Progress):
    def __init__(self) -> None:
        self.doing: list[str] = []

    def status(self, line: str) -> None:
        self.doing.append(line)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeRay], FakeRay]:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)

    def connect(ray: FakeRay) -> FakeRay:
        monkeypatch.setattr(ray_workers, "_connect", lambda _: ray)
        return ray

    return connect


def work(name: str) -> str:
    if name == "dies":
        raise Died
    if name == "fails":
        raise SettingsError("no such encoder")
    return name.upper()


def test_a_machine_without_room_for_a_worker_is_refused(use: Callable[[FakeRay], FakeRay]) -> None:
    """Ray itself would wait for room without a word."""
    ray = use(FakeRay())
    with pytest.raises(SettingsError, match=r"no room for a worker of 2 cores and 0.1 GPUs"):
        RayPool(Settings(cluster=ClusterSettings(worker_gpus=0.1)), Progress())
    assert ray.ended


def test_tasks_report_results_and_losses(use: Callable[[FakeRay], FakeRay]) -> None:
    ray, lines = use(FakeRay()), Lines()
    with RayPool(Settings(), lines) as pool:
        assert list(pool.run(work, [["a"], ["dies"], ["b"]])) == [(0, "A"), (1, None), (2, "B")]
    assert ray.most_at_once == pool.workers == 2
    assert lines.doing[0] == "starting Ray"
    assert lines.doing[-2:] == ["shards in work: 1, done: 2 of 3", ""]


def test_what_a_task_raises_ends_the_run(use: Callable[[FakeRay], FakeRay]) -> None:
    ray = use(FakeRay())
    with pytest.raises(SettingsError, match="no such encoder"), RayPool(Settings(), Progress()) as pool:
        list(pool.run(work, [["fails"]]))
    assert ray.ended


def test_an_address_where_nothing_listens_is_refused_before_ray_asks_it() -> None:
    with socket.socket() as held:  # bound, and not listening
        held.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(RagError, match=rf"^{address}: no cluster of Ray .*; start one with: ray start"):
            ray_workers._require_listener(address)
    for other in ("", "auto", "ray://127.0.0.1:1"):
        ray_workers._require_listener(other)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "import sys; print('a note'); print('no node'); print('a warning', file=sys.stderr); sys.exit(1)",
            "no node",
        ),
        ("import os; os.abort()", "exit status -6"),
        ("import time; time.sleep(60)", "no answer in 0.5 s"),
    ],
)
def test_a_cluster_that_cannot_be_joined_is_one_line(
    code: str, reason: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ray_workers, "_JOIN", code)
    monkeypatch.setattr(ray_workers, "JOIN_SECONDS", 0.5 if "sleep" in code else 30.0)
    with pytest.raises(RagError) as raised:
        ray_workers._require_cluster("head:6379")
    assert str(raised.value).startswith(
        f"head:6379: no cluster of Ray can be used there ({reason}); name its"
    )
    assert capfd.readouterr() == ("", "")


def test_a_cluster_is_tried_without_modules_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logging.py").write_text("open('imported', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ray_workers, "_JOIN", "import logging")
    ray_workers._require_cluster("head:6379")
    assert not (tmp_path / "imported").exists()
