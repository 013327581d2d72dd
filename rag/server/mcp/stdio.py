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
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from pydantic import ValidationError

from rag.server.cache import cache_folder
from rag.server.mcp.envelope import refusal
from rag.server.mcp.server import build_server
from rag.server.service import Service
from rag.server.session import LibrarySession
from rag.settings import Settings

LAST_ANSWERS = 60.0
"""Seconds after the end of stdin in which what was asked before it is still answered."""


def _is_blank(error: Exception) -> bool:
    """Whether what could not be read is an empty line."""
    details = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    return bool(details) and details[0]["type"] == "json_invalid" and not str(details[0]["input"]).strip()


def run(settings: Settings, index_roots: tuple[Path, ...] = ()) -> NoReturn:
    """Serve until stdin is closed or a signal comes, then end the process with 0 (130 after an interrupt).

    `index_roots`: of `rag.server.jobs.resolved_roots`.
    """
    service = Service(settings, LibrarySession(settings), cache_folder(), index_roots, address=None)
    if index_roots:
        service.jobs.open()

    def end(number: int, _: FrameType | None) -> None:
        _end(service, 130 if number == signal.SIGINT else 0)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    try:
        anyio.run(_serve, service)
    except* BrokenPipeError:
        pass  # who asked is gone
    _end(service, 0)


async def _serve(service: Service) -> None:
    """A line that is no message is answered here: the protocol library drops it, and the client waits. So are
    requests before the end of stdin, as when they are piped in: the library drops them with it."""
    server = build_server(service)
    passed, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()
    answered, answers = anyio.create_memory_object_stream[SessionMessage]()
    waiting, one_less = set[str | int | None](), anyio.Condition()
    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as tasks:

        async def pass_on() -> None:
            async with passed:
                async for item in incoming:
                    refused = refusal(item if isinstance(item, Exception) else item.message)
                    if refused is not None:
                        if not (isinstance(item, Exception) and _is_blank(item)):
                            await outgoing.send(SessionMessage(refused))
                    elif not isinstance(item, Exception):
                        match item.message:
                            case JSONRPCRequest(id=asked):
                                waiting.add(asked)
                            case JSONRPCNotification(
                                method="notifications/cancelled", params={"requestId": asked}
                            ):
                                # The library never answers it.
                                waiting.difference_update([asked])
                        await passed.send(item)
                with anyio.move_on_after(LAST_ANSWERS):
                    async with one_less:
                        while waiting:
                            await one_less.wait()

        async def pass_back() -> None:
            async with outgoing:
                async for item in answers:
                    await outgoing.send(item)
                    if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                        async with one_less:
                            waiting.difference_update([item.message.id])
                            one_less.notify()

        tasks.start_soon(pass_on)
        tasks.start_soon(pass_back)
        await server.run(messages, answered, server.create_initialization_options())


def _end(service: Service, code: int) -> NoReturn:
    """End now: a thread that waits for stdin or a language model cannot be joined, and nothing is unsaved."""
    service.stop()
    service.jobs.close()
    sys.stderr.flush()
    os._exit(code)
