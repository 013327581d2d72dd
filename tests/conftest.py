"""What every test stands on: no network, no settings from outside, no hub."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

LOOPBACK = ("127.", "::1", "localhost")


class NetworkDenied(AssertionError):
    """A test, or the code under it, reached for an address outside this machine."""


def _deny_network(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        address = args[1]
        if isinstance(address, tuple) and not str(address[0]).startswith(LOOPBACK):
            raise NetworkDenied(f"connection to {address!r}")
    elif event == "socket.getaddrinfo":
        host = args[0].decode() if isinstance(args[0], bytes) else args[0]
        if host and not str(host).startswith(LOOPBACK):
            raise NetworkDenied(f"name look-up of {host!r}")


sys.addaudithook(_deny_network)


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """No RAG_* setting, no hub cache and no models folder of the person who runs the tests."""
    for name in list(os.environ):
        if name.startswith("RAG_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg-data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg-cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf-home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
