"""Workers of Ray, without a cluster."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from rag.errors import RagError, SettingsError
from rag.indexing import ray_workers
from rag.indexing.ray_workers import RayPool
from rag.indexing.report import Progress
from rag.settings import ClusterSettings, Settings


class FakeRay:
    """Ray with room for so many cores."""

    ended = False

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 4.0}

    def shutdown(self) -> None:
        self.ended = True


def test_a_machine_without_room_for_a_worker_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray itself would wait for room without a word."""
    ray = FakeRay()
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray_workers, "_connect", lambda _: ray)
    with pytest.raises(SettingsError, match=r"no room for a worker of 2 cores and 0.1 GPUs"):
        RayPool(Settings(cluster=ClusterSettings(worker_gpus=0.1)), Progress())
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
