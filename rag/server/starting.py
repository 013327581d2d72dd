"""The server's first second: health is answered while the application is imported and made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio.to_thread
from starlette.types import Receive, Scope, Send

from rag.server.health import health_shape
from rag.server.problems import Document, problem_response, stopped_problem
from rag.server.security import AccessPolicy, SecurityMiddleware

if TYPE_CHECKING:
    from fastapi import FastAPI


class StartingApp:
    """What `make` returns, which is made in a thread once the server listens.

    Meanwhile `/v1/health` is answered (`starting`), by the rules of access; every other request waits, and is
    refused once the server stops.
    """

    def __init__(self, make: Callable[[], FastAPI], policy: AccessPolicy, *, indexing: bool) -> None:
        self._make = make
        self._health = SecurityMiddleware(Document(health_shape("starting", indexing=indexing)), policy)
        self._refusal = SecurityMiddleware(_refuse, policy)
        self._ready = asyncio.Event()
        self.app: FastAPI | None = None
        """Once it is made and its lifespan has started."""
        self.failure: Exception | None = None
        """Of making or ending the application."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the lifespan of the server."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if self.app is None and (scope.get("path"), scope.get("method")) == ("/v1/health", "GET"):
            await self._health(scope, receive, send)
            return
        await self._ready.wait()
        await (self.app or self._refusal)(scope, receive, send)

    def stop(self) -> None:
        """Refuse what waits; in the loop of the server."""
        self._ready.set()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        ended = asyncio.ensure_future(receive())
        # Left to itself where the server is stopped before.
        made = asyncio.ensure_future(anyio.to_thread.run_sync(self._make, abandon_on_cancel=True))
        try:
            await asyncio.wait([ended, made], return_when=asyncio.FIRST_COMPLETED)
            if made.done():
                app = made.result()
                async with app.router.lifespan_context(app):
                    self.app = app
                    self._ready.set()
                    await ended
        except Exception as error:
            self.failure = error
            raise
        finally:
            made.cancel()
        await send({"type": "lifespan.shutdown.complete"})


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    await problem_response(stopped_problem(), scope["path"])(scope, receive, send)
