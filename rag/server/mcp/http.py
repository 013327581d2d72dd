"""`/mcp`: the MCP server over HTTP, in the one application and behind its checks.

The protocol's library is imported at the first request: the page starts without it.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus
from starlette.types import Receive, Scope, Send

from rag.server.service import Service

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


class McpEndpoint:
    """The sessions of one application, as an ASGI application: the answers are the protocol library's own."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._making = anyio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None
        self._group: TaskGroup | None = None

    @contextlib.asynccontextmanager
    async def lifetime(self) -> AsyncIterator[None]:
        """Sessions are there from the first request to the end of the block."""
        async with anyio.create_task_group() as self._group:
            yield
            self._group.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        async with self._making:
            if self._manager is None:
                assert self._group is not None
                made = await anyio.to_thread.run_sync(self._make)
                await self._group.start(_run, made)
                self._manager = made
        await self._manager.asgi_app(scope, receive, send)

    def _make(self) -> StreamableHTTPSessionManager:
        from mcp.server.transport_security import TransportSecuritySettings

        from rag.server.mcp.server import build_server

        # Host, Origin, token and size are checked by `rag.server.security`, as for every other route.
        unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server = build_server(self._service)
        server.streamable_http_app(json_response=True, stateless_http=True, transport_security=unchecked)
        return server.session_manager


async def _run(manager: StreamableHTTPSessionManager, *, task_status: TaskStatus[None]) -> None:
    async with manager.run():
        task_status.started()
        await anyio.sleep_forever()
