"""Listening on an address: what the program's servers have in common."""

from __future__ import annotations

import ipaddress
import re
import socket
from importlib.util import find_spec

from corpora.errors import os_reason
from rag.errors import ExtraMissing, RagError

HOST = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[0-9A-Za-z._-]+))(?::[0-9]{1,5})?")
LONGEST_GOODBYE = 5
"""Seconds that unfinished requests have once a server is stopped."""


def require_serving() -> None:
    """Raises `ExtraMissing` without the extra `serve`."""
    if any(find_spec(name) is None for name in ("fastapi", "uvicorn", "mcp")):
        raise ExtraMissing("serving needs the extra `serve`: pip install -e '.[serve]' (in the checkout)")


def bind_listener(host: str, port: int) -> socket.socket:
    """A listening socket; `port` 0 takes a free one. Raises `RagError` where the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named, asyncio switches Nagle off: answers in two writes else wait 40 ms for an ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise RagError(f"{host}:{port}: {os_reason(error)}; choose another with --port") from error
    return listener


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def own_names(host: str) -> frozenset[str]:
    """The names that a request may have in `Host` beside addresses, lower-case."""
    names = {"localhost", host.lower()}
    if not is_loopback(host):
        names.add(socket.gethostname().lower())
    return frozenset(names)


def is_own_name(given: str, host: str, names: frozenset[str]) -> bool:
    """Whether `given`, the header `Host` of a request, names a server that listens on `host`.

    By one of `names`, or by an address, which no other site can point here as it can a name of its own.
    """
    found = HOST.fullmatch(given)
    if found is None:
        return False
    name = (found["address"] or found["name"]).lower()
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name in names
    return address.is_loopback or not is_loopback(host)


def authority(host: str, port: int) -> str:
    """Host and port as an address has them: `127.0.0.1:8650`, `[::1]:8650`."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
