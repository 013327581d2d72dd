"""The HTTP interface as an ASGI application: requests become calls of the web.

Handlers are plain functions, which Starlette runs in threads: a slow answer does not delay others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Literal, TypeVar

import uvicorn
from pydantic import BaseModel, Field, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from corpora.kinds import media_type
from rag.errors import AccessRefused, NoMedia, NoTranscript, PageGone, RagError, UsageError
from rag.listening import LONGEST_GOODBYE, authority, bind_listener, is_own_name, own_names
from rag.rendering.webvtt import webvtt
from rag.web.catalogue import VideoEntry
from rag.web.mock import LARGEST_PAGE, Web
from rag.web.serving import pages, shapes
from rag.web.serving.pages import Links

STATUS: tuple[tuple[type[RagError], int], ...] = (
    (PageGone, 404),
    (NoTranscript, 404),
    (NoMedia, 404),
    (AccessRefused, 403),
    (UsageError, 400),
    (RagError, 500),
)
YOUTUBE_LARGEST = 50
HOST = "127.0.0.1"
PORT = 8640
LONGEST_BODY = 65536
MOST_SHOWN = 80
"""Characters that an error repeats of a parameter."""


def build_app(web: Web, host: str = HOST) -> Starlette:
    """`host`: the address that is listened on; requests for other names than its own are refused."""
    face = _Face(web)
    return Starlette(
        routes=[
            Route("/", face.front),
            Route("/watch", face.watch),
            Route("/pages/{name:path}", face.text),
            Route("/media/{name:path}.mp4", face.media),
            Route("/transcripts/{name:path}.vtt", face.transcript),
            Route("/youtube/v3/search", face.youtube_search),
            Route("/youtube/v3/videos", face.youtube_videos),
            Route("/search", face.serper_search, methods=["GET", "POST"]),
            Route("/videos", face.serper_videos, methods=["GET", "POST"]),
        ],
        middleware=[Middleware(_OwnNames, host=host)],
        exception_handlers={RagError: _failed},
    )


class _OwnNames:
    """Refuses requests for other names than the server's."""

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app, self._host, self._names = app, host, own_names(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = Headers(scope=scope).get("host", "")
            if not is_own_name(given, self._host, self._names):
                await PlainTextResponse("not a name of this server", 400)(scope, receive, send)
                return
        await self._app(scope, receive, send)


class _Face:
    """One handler a route."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def front(self, _: Request) -> Response:
        held = self._web.catalogue
        return HTMLResponse(pages.front_page(len(held.videos), len(held.pages)))

    def watch(self, request: Request) -> Response:
        entry = self._video(request.query_params.get("v", ""))
        kind = media_type(entry.file) if entry.file else ""
        return HTMLResponse(pages.watch_page(entry, _links(request), kind))

    def text(self, request: Request) -> Response:
        entry = self._web.catalogue.pages_by_id.get(request.path_params["name"])
        if entry is None:
            raise PageGone(f"{request.url}: not on this web")
        return HTMLResponse(pages.text_page(entry))

    def media(self, request: Request) -> Response:
        got = self._web.download(self._url(request.path_params["name"]))
        return FileResponse(got.path, media_type=media_type(got.path))

    def transcript(self, request: Request) -> Response:
        said = self._web.transcript(self._url(request.path_params["name"]))
        lines = ((line.start, line.end, line.text) for line in said)
        return Response(webvtt(lines), media_type="text/vtt")

    def youtube_search(self, request: Request) -> Response:
        asked = _checked(YouTubeSearch, request.query_params)
        found = self._web.search_videos(asked.q, page=asked.page, page_size=asked.max_results)
        return JSONResponse(shapes.youtube_search(found, asked.max_results))

    def youtube_videos(self, request: Request) -> Response:
        asked = request.query_params
        names = [name for name in asked.get("id", "").split(",") if name][:YOUTUBE_LARGEST]
        if not names:
            raise UsageError("id: name the videos, as in id=ID,ID")
        found: list[VideoEntry] = []
        for name in names:
            with contextlib.suppress(PageGone):
                found.append(self._video(name))
        parts = asked.get("part", "snippet").split(",")
        return JSONResponse(shapes.youtube_videos([shapes.youtube_video(page, parts) for page in found]))

    async def serper_search(self, request: Request) -> Response:
        asked = await _serper_asked(request)
        found = await run_in_threadpool(self._web.search, asked.q, page=asked.page, page_size=asked.num)
        return JSONResponse(shapes.serper_pages(found, _links(request), asked.num))

    async def serper_videos(self, request: Request) -> Response:
        asked = await _serper_asked(request)
        found = await run_in_threadpool(
            self._web.search_videos, asked.q, page=asked.page, page_size=asked.num
        )
        return JSONResponse(shapes.serper_videos(found, _links(request), asked.num))

    def _video(self, name: str) -> VideoEntry:
        """The page of a video. Raises `PageGone`."""
        entry = self._web.open(self._url(name))
        if not isinstance(entry, VideoEntry):
            raise PageGone(f"{name}: no video of this web")
        return entry

    def _url(self, name: str) -> str:
        """The address in the catalogue of an id of ours; an unknown one leads nowhere, in its own words."""
        entry = self._web.catalogue.by_id.get(name)
        return entry.url if entry is not None else f"watch?v={name}"


class YouTubeSearch(BaseModel):
    """What is read of a request for `search.list`; other parameters are ignored."""

    q: str = ""
    type: Literal["video"] = "video"
    order: Literal["relevance"] = "relevance"
    max_results: int = Field(5, ge=1, le=YOUTUBE_LARGEST, alias="maxResults")
    page: int = Field(1, ge=1, le=10**6, alias="pageToken")


class SerperSearch(BaseModel):
    """What is read of a request to serper.dev."""

    q: str
    page: int = Field(1, ge=1, le=10**6)
    num: int = Field(10, ge=1, le=LARGEST_PAGE)


Asked = TypeVar("Asked", bound=BaseModel)


def _checked(model: type[Asked], given: bytes | Mapping[str, str]) -> Asked:
    """Raises `UsageError` that names the parameter."""
    try:
        return model.model_validate_json(given) if isinstance(given, bytes) else model(**given)
    except ValidationError as error:
        first = error.errors()[0]
        named = ".".join(map(str, first["loc"]))
        wrong = f"{named}={first['input']}"[:MOST_SHOWN] if named else "the body"
        raise UsageError(f"{wrong}: {first['msg']}") from error


async def _serper_asked(request: Request) -> SerperSearch:
    """Read a search from a GET or a JSON body. Raises `UsageError`."""
    given = request.query_params if request.method == "GET" else await _body(request)
    return _checked(SerperSearch, given)


async def _body(request: Request) -> bytes:
    """Raises `UsageError` as soon as it is longer than any query, with no more of it read."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST_BODY:
            raise UsageError(f"the body is longer than {LONGEST_BODY} bytes")
    return bytes(body)


def _failed(request: Request, error: Exception) -> Response:
    """An error of the web as the API that was asked would say it."""
    status = next((code for kind, code in STATUS if isinstance(error, kind)), 500)
    message = str(error)
    path = request.url.path
    if path.startswith("/youtube/"):
        return JSONResponse(shapes.youtube_error(status, message), status)
    if path in ("/search", "/videos"):
        return JSONResponse({"message": message, "statusCode": status}, status)
    return HTMLResponse(pages.gone_page(message), status)


def _links(request: Request) -> Links:
    return Links(str(request.base_url).rstrip("/"))


def serve(
    web: Web,
    host: str = HOST,
    port: int = PORT,
    *,
    started: Callable[[str], None] | None = None,
    verbose: bool = False,
) -> None:
    """Blocks until an interrupt. `port` 0 takes a free one; `started` is called with the base URL; `verbose`
    names every request on stderr.

    Only requests that name the address, or this machine, are answered: a page in a browser cannot reach
    the web under a name of its own. Raises `RagError` where the port is taken.
    """
    listener = bind_listener(host, port)
    config = uvicorn.Config(
        build_app(web, host),
        log_config=None,
        log_level="info" if verbose else "critical",
        access_log=verbose,
        timeout_graceful_shutdown=LONGEST_GOODBYE,
    )
    server = uvicorn.Server(config)
    if started is not None:
        started(f"http://{authority(host, listener.getsockname()[1])}")
    with listener:
        server.run(sockets=[listener])
