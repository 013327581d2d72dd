"""The server as one ASGI application: the page, the API below `/v1`, media and MCP, behind the same checks.

A part is a module with a `router`; `ROUTERS` is the table of them.
"""

from __future__ import annotations

import contextlib
import mimetypes
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.middleware import Middleware
from starlette.staticfiles import StaticFiles

import rag
from rag.server import exports, job_routes, library_routes, media, openai, page, questions
from rag.server.mcp.http import McpEndpoint
from rag.server.problems import ProblemDocument, add_handlers
from rag.server.security import HEADERS, AccessPolicy, SecurityMiddleware
from rag.server.service import Service

ROUTERS: tuple[APIRouter, ...] = (
    questions.router,
    library_routes.router,
    media.router,
    exports.router,
    openai.router,
    job_routes.router,
    page.router,
)
TELEMETRY: Any = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False)
"""FastAPI instruments itself with OpenTelemetry unless that is switched off."""


def build_app(service: Service, policy: AccessPolicy | None = None) -> FastAPI:
    """The application of one server; `policy`: default that of a loopback address."""

    policy = policy or AccessPolicy()
    mcp = McpEndpoint(service)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        with contextlib.closing(service):
            async with mcp.lifetime():
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
    # GET would open a stream without an end, and without sessions there is nothing to delete.
    app.add_route("/mcp", mcp, methods=["POST"], include_in_schema=False)  # type: ignore[arg-type]  # an application
    # What the machine's own table says of them differs.
    for kind, suffix in (("text/javascript", ".js"), ("text/css", ".css"), ("image/svg+xml", ".svg")):
        mimetypes.add_type(kind, suffix)
    app.mount("/static", StaticFiles(directory=page.STATIC))
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
