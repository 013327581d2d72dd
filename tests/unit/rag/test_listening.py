"""Listening on an address."""

from __future__ import annotations

import asyncio
import socket

import pytest

from rag import listening
from rag.errors import ExtraMissing, RagError
from rag.listening import authority, bind_listener, is_loopback, require_serving


def test_answers_in_two_writes_do_not_wait_for_each_other() -> None:
    """Nagle's algorithm is off on the connections that asyncio accepts from the listener."""

    async def accepted() -> int:
        found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def client(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            sock = writer.get_extra_info("socket")
            found.set_result(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with bind_listener("127.0.0.1", 0) as listener:
            async with await asyncio.start_server(client, sock=listener):
                _, writer = await asyncio.open_connection(*listener.getsockname())
                writer.close()
                return await found

    assert asyncio.run(accepted()) != 0


def test_serving_needs_the_library_of_mcp_too(monkeypatch: pytest.MonkeyPatch) -> None:
    require_serving()
    monkeypatch.setattr(listening, "find_spec", lambda _: None)
    with pytest.raises(ExtraMissing, match=r"\[serve\]"):
        require_serving()


def test_a_taken_port_is_an_error_that_names_the_option() -> None:
    with bind_listener("127.0.0.1", 0) as listener, pytest.raises(RagError, match="--port"):
        bind_listener(*listener.getsockname())


def test_addresses_of_this_machine_alone() -> None:
    hosts = ("127.0.0.1", "127.8.9.1", "::1", "localhost", "0.0.0.0", "::", "192.0.2.7", "host.example")
    assert [is_loopback(host) for host in hosts] == [True] * 4 + [False] * 4
    assert [authority(host, 80) for host in ("::1", "127.0.0.1")] == ["[::1]:80", "127.0.0.1:80"]
