"""The page: `/` and the files below `/static/`, which hold nothing of the library."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import FileResponse, Response

from rag.records import span_name
from rag.server.problems import Problem
from rag.server.security import AccessPolicy
from rag.server.service import Served

STATIC = Path(__file__).resolve().parent / "static"
MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
"""A table of our own: what `mimetypes` knows depends on the machine."""
router = APIRouter(include_in_schema=False)


@router.api_route("/", methods=["GET", "HEAD"])
async def index(service: Served) -> Response:
    """The page; its models load meanwhile."""
    service.warm_up()
    return _file("index.html")


class TokenBody(BaseModel):
    """What a person pastes who opened the page without its token."""

    token: str = Field(max_length=1000)


@router.post("/")
async def enter(request: Request, body: TokenBody) -> Response:
    """The token as a cookie, as the address that `rag serve` printed sets it."""
    policy: AccessPolicy = request.app.state.policy
    return policy.enter(body.token.strip(), Response(status_code=204))


@router.api_route("/static/{name:path}", methods=["GET", "HEAD"])
async def static(name: str) -> Response:
    """One of the page's own files."""
    return _file(name)


def _file(name: str) -> Response:
    path = STATIC / name
    try:
        path = path.resolve()
        known = path.is_relative_to(STATIC) and path.is_file() and not name.endswith("/")
    except (OSError, ValueError):  # too long, or with a null byte
        known = False
    kind = MEDIA_TYPES.get(path.suffix)
    if kind is None or not known:
        raise Problem(404, "not-found", f"{name}: the page has no such file")
    return FileResponse(path, media_type=kind, headers={"Cache-Control": "no-cache"})


def address_of(server: str, citation: Mapping[str, Any]) -> str:
    """Where the page of a server shows a result or a citation, given by its shape."""
    if citation["kind"] == "passage":
        return f"{server}/#/p/{quote(citation['passage_id'], safe='')}"
    times = span_name(citation["start"], citation["end"]).replace("-", ",")
    return f"{server}/#/v/{citation['video_id']}?t={times}"
