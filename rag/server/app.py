"""The server as one ASGI application: the page, the API below `/v1`, media and MCP, behind the same checks.

A part is a module with a `router`; `ROUTERS` is the table of them. One that needs the length of the server's
life, as MCP's sessions do, has an asynchronous context manager over the service in `LIFETIMES`.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.middleware import Middleware

import rag
from rag.server import exports, job_routes, library_routes, media, openai, page, questions
from rag.server.mcp import http as mcp
from rag.server.problems import ProblemDocument, add_handlers
from rag.server.security import HEADERS, AccessPolicy, SecurityMiddleware
from rag.server.service import Service

ROUTERS: tuple[APIRouter, ...] = (
    questions.router,
    library_routes.router,
    media.router,
    exports.router,
    openai.router,
    mcp.router,
    job_routes.router,
    page.router,
)
LIFETIMES: tuple[Callable[[Service], AbstractAsyncContextManager[None]], ...] = (mcp.lifetime,)
TELEMETRY: Any = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False)
"""FastAPI instruments itself with OpenTelemetry unless that is switched off."""


def build_app(service: Service, policy: AccessPolicy | None = None) -> FastAPI:
    """The application of one server; `policy`: default that of a loopback address."""

    policy = policy or AccessPolicy()

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(service.close)
            service.jobs.open()
            for lifetime in LIFETIMES:
                await stack.enter_async_context(lifetime(service))
            yield
            service.stop()

    app = FastAPI(
        title="offline-video-rag",
        version=rag.__version__,
        description="Search, ask and look in a library of videos and documents.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        middleware=[Middleware(SecurityMiddleware, policy=policy)],
        telemetry=TELEMETRY,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.service, app.state.policy = service, policy
    for router in ROUTERS:
        app.include_router(router)
    add_handlers(app, HEADERS)
    _describe(app)
    return app


def _describe(app: FastAPI) -> None:
    """Add the problem document to the description, to which all errors refer, and take FastAPI's own out."""
    described = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = described()
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            schemas["ProblemDocument"] = ProblemDocument.model_json_schema()
            for name in ("HTTPValidationError", "ValidationError"):
                schemas.pop(name, None)
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way to extend it
