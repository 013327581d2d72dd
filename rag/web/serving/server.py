"""Serves a web over HTTP until it is stopped; on loopback, unless another address is named."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable

from rag.errors import ExtraMissing, RagError
from rag.web.mock import MockWeb
from rag.web.serving.app import build_app

HOST = "127.0.0.1"
PORT = 8640
LONGEST_GOODBYE = 5
"""Seconds that unfinished requests have once the server is stopped."""


def serve(
    web: MockWeb, host: str = HOST, port: int = PORT, *, started: Callable[[str], None] | None = None
) -> None:
    """Blocks until an interrupt. `port` 0 takes a free one; `started` is called with the base URL.

    On a loopback address only requests that name it, or localhost, are answered: a page in a browser
    cannot reach the web under a name of its own. Raises `ExtraMissing` without the extra `serve`, and
    `RagError` where the port is taken.
    """
    try:
        import uvicorn
        from starlette import applications  # noqa: F401 (only whether it is there)
    except ImportError as error:
        raise ExtraMissing(
            "serving needs the extra `serve`: pip install 'offline-video-rag[serve]'"
        ) from error
    listener = _bound(host, port)
    taken = listener.getsockname()[1]
    name = f"[{host}]" if ":" in host else host
    hosts = ("127.0.0.1", "localhost", name) if _is_loopback(host) else ("*",)
    # A cut transfer is an error to the server's log, and a wish of the user's.
    config = uvicorn.Config(
        build_app(web, hosts),
        log_level="critical",
        access_log=False,
        timeout_graceful_shutdown=LONGEST_GOODBYE,
    )
    server = uvicorn.Server(config)
    if started is not None:
        started(f"http://{name}:{taken}")
    with listener:
        server.run(sockets=[listener])


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        reason = (error.strerror or str(error)).lower()
        raise RagError(f"{host}:{port}: {reason}; choose another with --port") from error
    return listener


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
