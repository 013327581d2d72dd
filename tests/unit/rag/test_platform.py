"""Where the program runs: no Windows, no network in tests, and addresses of this machine alone."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from corpora import UNSUPPORTED_PLATFORM, require_posix
from rag._cli.main import run
from rag.errors import RagError
from rag.listening import authority, bind_listener, is_loopback


def test_the_command_refuses_windows_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "argv", ["rag", "stats"])
    with pytest.raises(SystemExit) as stop:
        run()
    assert stop.value.code == 2
    assert capsys.readouterr() == ("", f"rag: {UNSUPPORTED_PLATFORM}\n")


def test_readers_refuse_windows_when_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(ImportError, match="on Windows, run it in WSL"):
        require_posix()


def test_the_command_starts_without_what_windows_lacks() -> None:
    """Else the refusal would be a traceback: `fcntl` and `resource` are made to fail as they do there."""
    code = (
        "import sys; sys.modules.update(fcntl=None, resource=None); import rag._cli.main; "
        "assert not {'rag.store.lock', 'corpora.video.ipc'} & sys.modules.keys(); import rag.library"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert found.stderr.splitlines()[-1] == f"ImportError: {UNSUPPORTED_PLATFORM}"


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
