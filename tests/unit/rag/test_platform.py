"""Where the program runs: without what POSIX has; no network in tests; addresses of this machine alone."""

import os
import socket
from pathlib import Path

import pytest

from corpora import platforms
from rag.errors import RagError
from rag.listening import authority, bind_listener, is_loopback
from rag.store.reading import Reader
from rag.store.writing import Writer
from tests.fakes.store_material import fill


def test_a_library_is_written_and_read_without_locks_that_can_be_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platforms, "fcntl", None)
    monkeypatch.setattr(platforms, "SHARES_LOCKS", False)
    fill(tmp_path / "lib", videos=(1,), sources=(1,))
    with Reader.open(tmp_path / "lib") as reader, Writer.open(tmp_path / "lib") as writer:
        assert platforms.is_marked(tmp_path / "lib" / "readers.lock")
        writer.maintain()
        assert len(reader.videos()) == 1


def test_what_is_done_instead_gives_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A pipe without `readv`, and a file without `preadv`."""
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    read, write = os.pipe()
    handle = os.open(path, platforms.LOOK)
    for _ in range(2):
        os.write(write, b"abc")
        assert platforms.readable(read, 1.0)
        data = memoryview(bytearray(8))
        assert (platforms.read_into(read, data), bytes(data[:3])) == (3, b"abc")
        assert (platforms.read_at(handle, data[:4], 3), bytes(data[:4])) == (4, b"3456")
        assert not platforms.readable(read, 0.0)
        monkeypatch.delattr(os, "readv", raising=False)
        monkeypatch.delattr(os, "preadv", raising=False)
    os.close(write)
    assert platforms.readable(read, 0.0)
    for each in (read, handle):
        os.close(each)


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
