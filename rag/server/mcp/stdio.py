"""The MCP server on stdin and stdout, for `rag mcp`.

The protocol library gives stdout of the process to stderr while it runs, so nothing that a decoder or a model
prints gets between the messages.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, NoReturn, Self

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from rag.server.cache import cache_folder
from rag.server.mcp.server import build_server
from rag.server.service import Service
from rag.server.session import LibrarySession
from rag.settings import Settings

if TYPE_CHECKING:
    from contextvars import Context

    from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream


class Messages:
    """The messages of a client. A line that is none is answered here: the protocol library drops it, and the
    client waits."""

    def __init__(
        self,
        incoming: ContextReceiveStream[SessionMessage | Exception],
        outgoing: ContextSendStream[SessionMessage],
    ) -> None:
        self._incoming, self._outgoing = incoming, outgoing

    @property
    def last_context(self) -> Context | None:
        """Of the sender of the last message, as the protocol library asks for it."""
        return self._incoming.last_context

    async def receive(self) -> SessionMessage | Exception:
        """The next message. Raises `anyio.EndOfStream` after the last one."""
        while isinstance(item := await self._incoming.receive(), Exception):
            if (refusal := _refusal(item)) is not None:
                await self._outgoing.send(SessionMessage(refusal))
        return item

    async def aclose(self) -> None:
        """Close the stream of lines."""
        await self._incoming.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _refusal(error: Exception) -> JSONRPCError | None:
    """What JSON-RPC 2.0 (section 5.1) answers to a line that is no message; None for an empty line."""
    details = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    if details and details[0]["type"] != "json_invalid":
        why = ErrorData(code=INVALID_REQUEST, message="Invalid Request: the line is no JSON-RPC 2.0 message")
    elif details and not str(details[0]["input"]).strip():
        return None
    else:
        why = ErrorData(code=PARSE_ERROR, message="Parse error: the line is not JSON")
    return JSONRPCError(jsonrpc="2.0", id=None, error=why)


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
    anyio.run(_serve, service)
    _end(service, 0)


async def _serve(service: Service) -> None:
    server = build_server(service)
    async with stdio_server() as (incoming, outgoing):
        messages = Messages(incoming, outgoing)
        await server.run(messages, outgoing, server.create_initialization_options())


def _end(service: Service, code: int) -> NoReturn:
    """End now: a thread that waits for stdin or a language model cannot be joined, and nothing is unsaved."""
    service.stop()
    service.jobs.close()
    sys.stderr.flush()
    os._exit(code)
