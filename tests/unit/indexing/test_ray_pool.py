"""Workers of Ray, without a cluster."""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from corpora.scan import FoundFile
from rag.errors import RagError, SettingsError
from rag.indexing import ray_workers
from rag.indexing.planning import Group
from rag.indexing.ray_workers import RayPool
from rag.indexing.report import Silent
from rag.indexing.scheduling import ATTEMPTS
from rag.settings import ClusterSettings, Settings
from tests.fakes.store_material import META


class Died(Exception):
    """As `RayActorError`."""


class FakeWorker:
    """An actor: a call of `choose`, `open` or `stage` is the worker's number and that name."""

    def __init__(self, number: int) -> None:
        for name in ("choose", "open", "stage"):
            setattr(self, name, SimpleNamespace(remote=partial(self._call, number, name)))

    @staticmethod
    def _call(number: int, name: str, *_: Any) -> tuple[int, str]:
        return number, name


class FakeRay:
    """Ray whose workers give what `reply` does for their number and the name of a call."""

    exceptions = SimpleNamespace(RayActorError=Died, RayTaskError=KeyError)

    def __init__(self, reply: Callable[[int, str], Any], cores: float = 2.0) -> None:
        self.made = 0
        self.ended = False
        self._reply = reply
        self._cores = cores

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": self._cores}

    def remote(self, _: type) -> Any:
        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=self._new))

    def _new(self) -> FakeWorker:
        self.made += 1
        return FakeWorker(self.made)

    def get(self, call: tuple[int, str]) -> Any:
        return self._reply(*call)

    def wait(self, calls: list[Any], **_: Any) -> tuple[list[Any], list[Any]]:
        return calls[:1], calls[1:]

    def shutdown(self) -> None:
        self.ended = True


class Lines(Silent):
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.doing: list[str] = []

    def note(self, line: str) -> None:
        self.notes.append(line)

    def status(self, line: str) -> None:
        self.doing.append(line)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeRay], FakeRay]:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)

    def connect(ray: FakeRay) -> FakeRay:
        monkeypatch.setattr(ray_workers, "_connect", lambda _: ray)
        return ray

    return connect


def dying(*calls: tuple[int, str]) -> Callable[[int, str], Any]:
    """Workers that die in these calls, and else answer as `RayWorker` does."""

    def reply(number: int, name: str) -> Any:
        if (number, name) in calls:
            raise Died
        return {"choose": META, "open": "", "stage": None}[name]

    return reply


def test_a_machine_without_room_for_a_worker_is_refused(use: Callable[[FakeRay], FakeRay]) -> None:
    """Ray itself would wait for room without a word."""
    ray = use(FakeRay(dying(), cores=4.0))
    with pytest.raises(SettingsError, match=r"no room for a worker of 2 cores and 0.1 GPUs"):
        RayPool(Settings(cluster=ClusterSettings(worker_gpus=0.1)), Silent())
    assert ray.ended


def test_encoders_are_measured_by_another_worker_where_one_dies(use: Callable[[FakeRay], FakeRay]) -> None:
    ray, lines = use(FakeRay(dying((1, "choose"), (2, "choose")))), Lines()
    with RayPool(Settings(), lines) as pool:
        assert pool.choose(None) == META
        assert lines.notes == [
            f"a worker died while it measured encoders ({n} of {ATTEMPTS})" for n in (1, 2)
        ]
        assert staged(pool, ["a"]) == [("a", None)]
    assert ray.made == ATTEMPTS


def test_workers_that_all_die_while_they_measure_end_the_run(use: Callable[[FakeRay], FakeRay]) -> None:
    ray = use(FakeRay(dying(*((n, "choose") for n in range(99)))))
    with RayPool(Settings(), Silent()) as pool, pytest.raises(RagError, match="3 workers died while"):
        pool.choose(None)
    assert ray.made == ATTEMPTS


def staged(pool: RayPool, names: list[str]) -> list[tuple[str, Any]]:
    groups = [Group(n, (FoundFile(n, "video", 1, 2, 3, (), n),), (), ()) for n in names]
    run = pool.run(Path("library"), META, None, groups, dict.fromkeys(names, 60.0), {})
    return [(group.first.path, problem) for group, problem in run]


def test_what_workers_do_is_said_before_anything_is_committed(use: Callable[[FakeRay], FakeRay]) -> None:
    use(FakeRay(dying((1, "open"), (2, "stage"))))
    lines = Lines()
    with RayPool(Settings(), lines) as pool:
        assert staged(pool, ["a", "b"]) == [("a", None), ("b", None)]
    assert lines.doing == [
        "starting Ray",
        "workers loading models: 1, files in work: 0, staged: 0",
        "workers loading models: 1, files in work: 0, staged: 0",
        "files in work: 1, staged: 0",
        "workers loading models: 1, files in work: 0, staged: 0",
        "files in work: 1, staged: 0",
        "files in work: 1, staged: 1",
    ]
    assert lines.notes == ["a worker died or was lost; another one takes its place"] * 2


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
