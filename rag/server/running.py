"""Running the server: its address, its token, and an end within seconds whatever is going on."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn

from rag.errors import UsageError
from rag.listening import authority, bind_listener, is_loopback, own_names
from rag.server.jobs import resolved_roots
from rag.server.renditions import cache_folder
from rag.server.security import LEAST_TOKEN, AccessPolicy, new_token
from rag.server.session import LibrarySession

if TYPE_CHECKING:
    from rag.server.service import Service
    from rag.settings import Settings

HOST = "127.0.0.1"
PORT = 8650
GRACE_SECONDS = 2
"""Seconds that answers under way have once the server is stopped; streams and questions end at once."""
LAST_SECONDS = 0.5
"""Seconds that threads have after that to end."""


def serve(
    settings: Settings,
    host: str = HOST,
    port: int = PORT,
    *,
    token_file: Path | None = None,
    index_roots: tuple[Path, ...] = (),
    started: Callable[[str, str | None], None] | None = None,
) -> None:
    """Blocks until an interrupt. `port` 0 takes a free one; `started` is called once it listens,
    with its address, `http://127.0.0.1:8650`, and its token, None where none is needed.

    Raises `UsageError` for a token file that cannot be used or a root that is no folder, and `RagError` where
    the port is taken.
    """
    token = read_token(token_file) if token_file is not None else None
    if token is None and not is_loopback(host):
        token = new_token()
    roots = resolved_roots(index_roots)
    listener = bind_listener(host, port)
    taken = listener.getsockname()[1]
    # An unspecified address is one to listen on, and none to open.
    shown = socket.gethostname() if host in ("0.0.0.0", "::") else host
    address = f"http://{authority(shown, taken)}"
    if started is not None:
        started(address, token)  # who connects from now on waits until the application is made
    from rag.server.app import build_app
    from rag.server.service import WORKER, Service

    service = Service(settings, LibrarySession(settings), cache_folder(), index_roots=roots, address=address)
    config = uvicorn.Config(
        build_app(service, AccessPolicy(host, taken, token, own_names(host))),
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    with listener:
        _Server(config, service).run(sockets=[listener])
    deadline = time.monotonic() + LAST_SECONDS
    for thread in threading.enumerate():
        if thread.name.startswith(WORKER):
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                # A question that waits for a language model: nothing is left to save, joining takes minutes.
                os._exit(128 + signal.SIGINT)


class _Server(uvicorn.Server):  # type: ignore[misc]  # mypy does not follow its imports
    """Ends streams and questions with the first signal, so that nothing holds the shutdown up."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop the service on SIGINT and SIGTERM."""
        self._service.stop()
        super().handle_exit(sig, frame)


def read_token(path: Path) -> str:
    """The token in a file, without space around it. Raises `UsageError` where it cannot be used."""
    try:
        token = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not ASCII text"
        raise UsageError(f"{path}: the token cannot be read: {reason.lower()}") from error
    if len(token) < LEAST_TOKEN or any(letter.isspace() or not letter.isprintable() for letter in token):
        raise UsageError(f"{path}: a token is one word of at least {LEAST_TOKEN} characters")
    return token
