"""Errors as `application/problem+json` (RFC 9457), and documents: the one JSON writer of the server."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from rag import errors
from rag.rendering.shapes import to_json
from rag.store.error_mapping import TableGone

if TYPE_CHECKING:
    from fastapi import FastAPI

log = logging.getLogger(__name__)

STATUS: tuple[tuple[type[errors.RagError], int], ...] = (
    (errors.UsageError, 400),
    (errors.FileProblem, 422),
    (errors.LibraryNotFound, 409),
    (errors.LibraryBusy, 409),
    (errors.LibraryReadOnly, 507),
    (errors.LibraryFull, 507),
    (errors.LibraryTooNew, 500),
    (TableGone, 409),
    (errors.LibraryCorrupt, 500),
    (errors.EncoderMismatch, 503),
    (errors.LibraryError, 409),
    (errors.ModelError, 503),
    (errors.BudgetSpent, 504),
    (errors.ReasonerError, 502),
    (errors.StoreError, 503),
    (errors.ScratchFull, 507),
    (errors.RagError, 500),
)
"""The first class that an error is an instance of gives its status."""
VIDEO_ID = r"^[0-9a-zA-Z_-]{1,64}$"
WINDOW = r"^[0-9a-zA-Z_-]{1,64}@[0-9]{1,7}(\.[0-9]{1,6})?-[0-9]{1,7}(\.[0-9]{1,6})?$"
CITATION = r"^[0-9a-zA-Z_.:@+-]{1,200}$"
JOB_ID = "^[0-9a-f]{16}$"
FORMS = {
    VIDEO_ID: "the id of a video, as of /v1/videos",
    WINDOW: "a window, VIDEO_ID@START-END in seconds",
    CITATION: "a citation, as of an answer or a hit",
    JOB_ID: "the id of a job, as of /v1/jobs",
}
"""What the patterns of requests stand for, in words."""
LONGEST_TEXT = 10_000
"""Characters of a question."""
MOST_KEYS = 100
"""An object in a body has at most so many keys."""
MOST_ERRORS = 20
"""Errors that a problem lists at most."""
BUSY_SECONDS = 5
"""After which a busy library may be asked again."""


class ProblemDocument(BaseModel):
    """An error, as RFC 9457 has it; `detail` is the sentence of the command line."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: list[dict[str, Any]] | None = None


class Problem(Exception):
    """What the server itself refuses: an id that is unknown, a request that is not its own page's."""

    def __init__(
        self, status: int, kind: str, detail: str, headers: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(detail)
        self.status, self.kind = status, kind
        self.headers, self.more = dict(headers or {}), more


class Document(Response):
    """A document of `rag.rendering.shapes` as ASCII JSON, names that are not UTF-8 included."""

    def __init__(
        self,
        shape: Mapping[str, Any],
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        kind: str = "application/json",
    ) -> None:
        super().__init__(to_json(shape), status, {"Cache-Control": "no-store", **(headers or {})}, kind)


def problem_shape(error: Exception, instance: str) -> dict[str, Any]:
    """The problem document of a `Problem` or a `RagError`, as a shape for `to_json`."""
    if isinstance(error, Problem):
        kind, status, more = error.kind, error.status, error.more
        title = kind.replace("-", " ").capitalize()
    else:
        name = type(error).__name__
        kind = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()
        status, more = next((code for known, code in STATUS if isinstance(error, known)), 500), {}
        title = (type(error).__doc__ or name).strip().splitlines()[0].split(";")[0].rstrip(".")
    shape = {"type": f"urn:rag:problem:{kind}", "title": title, "status": status}
    return {**shape, "detail": str(error), "instance": instance, **more}


def problem_response(error: Exception, instance: str) -> Response:
    """The answer to a request that ended with a `Problem` or a `RagError`."""
    shape = problem_shape(error, instance)
    headers = error.headers if isinstance(error, Problem) else {}
    if isinstance(error, errors.LibraryBusy):
        headers = {"Retry-After": str(BUSY_SECONDS)}
    return Document(shape, shape["status"], headers, "application/problem+json")


def stopped_problem() -> Problem:
    """Make the problem of a request that was given up."""
    return Problem(503, "stopping", "given up: the client has gone, or the server stops")


def unknown_video(name: str) -> Problem:
    """A `Problem` for a video that the library does not have."""
    return Problem(404, "unknown-id", f"{name}: no such video in the library")


def add_handlers(app: FastAPI, headers: Mapping[str, str]) -> None:
    """Every error that a route raises becomes a problem document.

    `headers`: of the answer to a bug, which is made outside the middleware.
    """
    from fastapi.exceptions import RequestValidationError

    app.add_exception_handler(errors.RagError, _refused)
    app.add_exception_handler(Problem, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, partial(_bug, headers))


async def _refused(request: Request, error: Exception) -> Response:
    return problem_response(error, request.url.path)


async def _invalid(request: Request, error: Any) -> Response:
    rows = error.errors() or [{"type": "", "loc": (), "msg": "the request is invalid"}]
    found = [{"loc": [*map(str, row["loc"])], "msg": _in_words(row)} for row in rows[:MOST_ERRORS]]
    detail = f"{'.'.join(found[0]['loc'])}: {found[0]['msg']}"
    if len(rows) > MOST_ERRORS:
        detail += f"; {len(rows)} errors in all"
    return problem_response(Problem(422, "invalid-request", detail, errors=found), request.url.path)


def _in_words(row: Mapping[str, Any]) -> str:
    """The message of an error that pydantic found; a form in words in place of its pattern."""
    form = FORMS.get(row.get("ctx", {}).get("pattern", ""))
    return f"{row['input']!r:.100} is not {form}" if form else str(row["msg"])


HTTP_KINDS = {404: "not-found", 405: "method-not-allowed", 413: "body-too-large"}


async def _http(request: Request, error: Exception) -> Response:
    """What Starlette refuses itself: no such address, another method, a body that is no JSON."""
    assert isinstance(error, HTTPException)
    kind = HTTP_KINDS.get(error.status_code, "invalid-request")
    problem = Problem(error.status_code, kind, str(error.detail), error.headers)
    return problem_response(problem, request.url.path)


async def _bug(headers: Mapping[str, str], request: Request, error: Exception) -> Response:
    number = secrets.token_hex(4)
    log.error("%s %s: bug %s", request.method, request.url.path, number, exc_info=error)
    detail = f"a bug, logged as {number}; it says what went wrong on the server's terminal"
    problem = Problem(500, "internal-error", detail, headers)
    return problem_response(problem, f"{request.url.path}#{number}")


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """`responses=` of a route: these statuses, and those that every route may answer."""
    everywhere = (400, 401, 403, 409, 413, 415, 421, 422, 500, 503, 507)
    return {
        status: {
            "description": "A problem",
            "content": {
                "application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}
            },
        }
        for status in sorted({*everywhere, *statuses})
    }
