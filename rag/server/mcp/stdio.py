"""The MCP server on stdin and stdout, for `rag mcp`.

The protocol library gives stdout of the process to stderr while it runs, so nothing that a decoder or a model
prints gets between the messages.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn

import anyio

from rag.server.mcp.server import build_server
from rag.server.renditions import cache_folder
from rag.server.service import Service
from rag.server.session import LibrarySession
from rag.settings import Settings


def run(settings: Settings, index_roots: tuple[Path, ...] = ()) -> NoReturn:
    """Serve until stdin is closed or a signal comes, then end the process with 0 (130 after an interrupt).

    `index_roots`: of `rag.server.jobs.resolved_roots`.
    """
    service = Service(settings, LibrarySession(settings), cache_folder(), index_roots, address=None)

    def end(number: int, _: FrameType | None) -> None:
        _end(service, 130 if number == signal.SIGINT else 0)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    try:
        anyio.run(build_server(service).run_stdio_async)
    except* BrokenPipeError:
        pass  # who asked is gone
    _end(service, 0)


def _end(service: Service, code: int) -> NoReturn:
    """End now: a thread that waits for stdin or a language model cannot be joined, and nothing is unsaved."""
    service.stop()
    service.jobs.close()
    sys.stderr.flush()
    os._exit(code)
