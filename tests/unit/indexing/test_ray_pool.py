"""Workers of Ray, without a cluster."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from rag.errors import SettingsError
from rag.indexing import ray_workers
from rag.indexing.ray_workers import RayPool
from rag.indexing.report import Silent
from rag.settings import ClusterSettings, Settings


def test_a_machine_without_room_for_a_worker_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray itself would wait for room without a word."""
    ended: list[bool] = []
    ray = SimpleNamespace(cluster_resources=lambda: {"CPU": 4.0}, shutdown=lambda: ended.append(True))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray_workers, "_connect", lambda _: ray)
    with pytest.raises(SettingsError, match=r"no room for a worker of 2 cores and 0.1 GPUs"):
        RayPool(Settings(cluster=ClusterSettings(worker_gpus=0.1)), Silent())
    assert ended
