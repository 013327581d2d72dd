"""The first second of a server: health is answered while the application is made, and all else waits."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from rag.errors import RagError
from rag.server import app as app_module
from rag.server import running
from rag.server.app import build_app
from rag.server.running import Started
from rag.server.security import AccessPolicy
from rag.server.service import Service
from rag.server.session import LibrarySession
from rag.server.starting import StartingApp
from rag.settings import Settings

ORIGIN = "http://127.0.0.1:8650"


def test_health_is_answered_by_the_rules_of_access_and_the_rest_waits(tmp_path: Path) -> None:
    settings, released = Settings(library=tmp_path), threading.Event()

    def make() -> Any:
        assert released.wait(30)
        return build_app(Service(settings, LibrarySession(settings), tmp_path))

    app, reached = StartingApp(make, AccessPolicy(), indexing=True), threading.Event()

    async def noted(scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("path") == "/static/app.js":
            reached.set()
        await app(scope, receive, send)

    with TestClient(noted, base_url=ORIGIN) as client, ThreadPoolExecutor(1) as pool:
        health = client.get("/v1/health")
        assert (health.status_code, health.json()["status"], health.json()["models"]) == (
            200,
            "starting",
            "cold",
        )
        assert health.json()["indexing"] is True
        assert client.get("/v1/health", headers={"Host": "evil.example"}).status_code == 421
        waiting = pool.submit(client.get, "/static/app.js")
        assert reached.wait(30)
        assert client.get("/v1/health").json()["status"] == "starting"
        assert not waiting.done()
        released.set()
        assert waiting.result(30).status_code == 200
        assert client.get("/v1/health").json()["status"] == "empty"


def test_an_application_that_cannot_be_made_ends_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits for it is refused at once, not when the server's time to end is over."""
    reached, waiting = threading.Event(), []

    class Noted(StartingApp):
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            if scope.get("path") == "/v1/videos":
                reached.set()
            await super().__call__(scope, receive, send)

    def ask(server: Started) -> None:
        waiting.append(pool.submit(httpx.get, f"{server.address}/v1/videos", timeout=30))

    def fail(*_: Any) -> None:
        assert reached.wait(30)
        raise RagError("a part is broken")

    monkeypatch.setattr(app_module, "build_app", fail)
    monkeypatch.setattr(running, "StartingApp", Noted)
    with ThreadPoolExecutor(1) as pool, pytest.raises(RagError, match="a part is broken"):
        running.serve(Settings(library=tmp_path), port=0, started=ask)
    (answer,) = [future.result() for future in waiting]
    assert (answer.status_code, answer.json()["type"]) == (503, "urn:rag:problem:stopping")
