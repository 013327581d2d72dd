"""Where the program runs: no network in tests; addresses of this machine alone."""

from __future__ import annotations

import socket

import pytest

from rag.errors import RagError
from rag.listening import authority, bind_listener, is_loopback


def test_an_outside_address_is_refused() -> None:
    with socket.socket() as client, pytest.raises(AssertionError, match="connection to"):
        client.connect(("192.0.2.1", 9))


def test_an_outside_name_is_not_looked_up() -> None:
    with pytest.raises(AssertionError, match="name look-up"):
        socket.getaddrinfo("example.org", 80)


def test_a_taken_port_is_an_error_that_names_the_option() -> None:
    with bind_listener("127.0.0.1", 0) as listener, pytest.raises(RagError, match="--port"):
        bind_listener(*listener.getsockname())


def test_addresses_of_this_machine_alone() -> None:
    hosts = ("127.0.0.1", "127.8.9.1", "::1", "localhost", "0.0.0.0", "::", "192.0.2.7", "host.example")
    assert [is_loopback(host) for host in hosts] == [True] * 4 + [False] * 4
    assert [authority(host, 80) for host in ("::1", "127.0.0.1")] == ["[::1]:80", "127.0.0.1:80"]
