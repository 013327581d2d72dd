"""The guard of conftest.py is itself proven: it must refuse what it is there to refuse."""

from __future__ import annotations

import socket

import pytest


def test_an_outside_address_is_refused() -> None:
    with socket.socket() as client, pytest.raises(AssertionError, match="connection to"):
        client.connect(("192.0.2.1", 9))


def test_an_outside_name_is_not_looked_up() -> None:
    with pytest.raises(AssertionError, match="name look-up"):
        socket.getaddrinfo("example.org", 80)


def test_loopback_is_allowed() -> None:
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())
        assert client.getpeername() == server.getsockname()
