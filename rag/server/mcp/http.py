"""`/mcp`: the MCP server over HTTP, in the one application and behind its checks.

The protocol's library is imported at the first request: the page starts without it.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from fastapi import APIRouter
from starlette.types import Receive, Scope, Send

from rag.server.problems import Problem
from rag.server.service import Service

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

log = logging.getLogger(__name__)
router = APIRouter(include_in_schema=False)


@dataclass
class McpEndpoint:
    """The session manager of one application: made when it is first asked for, ended with the application."""

    service: Service
    manager: StreamableHTTPSessionManager | None = None
    wanted: anyio.Event = field(default_factory=anyio.Event)
    ready: anyio.Event = field(default_factory=anyio.Event)
    failure: Exception | None = None

    async def run(self) -> None:
        """Run the sessions, from the first request to the end of the application."""
        await self.wanted.wait()
        try:
            self.manager = await anyio.to_thread.run_sync(self._make)
        except Exception as error:
            log.error("/mcp cannot be served: %s", error, exc_info=error)
            self.failure = error
            self.ready.set()
            return
        async with self.manager.run():
            self.ready.set()
            await anyio.sleep_forever()

    def _make(self) -> StreamableHTTPSessionManager:
        from mcp.server.transport_security import TransportSecuritySettings

        from rag.server.mcp.server import build_server

        # Host, Origin, token and size are checked by `rag.server.security`, as for every other route.
        unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server = build_server(self.service)
        server.streamable_http_app(json_response=True, stateless_http=True, transport_security=unchecked)
        return server.session_manager

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        self.wanted.set()
        await self.ready.wait()
        if self.failure is not None:
            raise Problem(500, "internal-error", f"MCP cannot be served: {self.failure}") from self.failure
        assert self.manager is not None
        await self.manager.asgi_app(scope, receive, send)


class _Route:
    """An ASGI application, so that the answer is the protocol library's own."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await scope["app"].state.service.mcp.handle(scope, receive, send)


# GET would open a stream without an end, and without sessions there is nothing to delete.
router.add_route("/mcp", _Route(), methods=["POST"])  # type: ignore[arg-type]  # Starlette takes an application


@contextlib.asynccontextmanager
async def lifetime(service: Service) -> AsyncIterator[None]:
    """The endpoint's sessions, as long as the application lives."""
    service.mcp = McpEndpoint(service)
    async with anyio.create_task_group() as group:
        group.start_soon(service.mcp.run)
        yield
        group.cancel_scope.cancel()
