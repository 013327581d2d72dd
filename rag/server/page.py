"""The page, `/`, which holds nothing of the library, and its addresses. Its files are below `/static/`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import FileResponse, Response

from rag.records import span_name
from rag.server.security import AccessPolicy
from rag.server.service import Served

STATIC = Path(__file__).resolve().parent / "static"
router = APIRouter(include_in_schema=False)


@router.api_route("/", methods=["GET", "HEAD"])
async def index(service: Served) -> Response:
    """The page; its models load meanwhile."""
    service.warm_up()
    return FileResponse(STATIC / "index.html")


class TokenBody(BaseModel):
    """What a person pastes who opened the page without its token."""

    token: str = Field(max_length=1000)


@router.post("/")
async def enter(request: Request, body: TokenBody) -> Response:
    """The token as a cookie, as the address that `rag serve` printed sets it."""
    policy: AccessPolicy = request.app.state.policy
    return policy.enter(body.token.strip(), Response(status_code=204))


def address_of(server: str, citation: Mapping[str, Any]) -> str:
    """Where the page of a server shows a result or a citation, given by its shape."""
    if citation["kind"] == "passage":
        return f"{server}/#/p/{quote(citation['passage_id'], safe='')}"
    times = span_name(citation["start"], citation["end"]).replace("-", ",")
    return f"{server}/#/v/{citation['video_id']}?t={times}"
