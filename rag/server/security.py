"""What every request passes, to the page, the API, media and MCP alike: host, site, token, type and size.

The rules are in docs/how-to/serve.md. The model of the second is Go's `http.CrossOriginProtection`: a browser
says by `Sec-Fetch-Site` whose page asks, and one that does not by `Origin`. Ports share cookies and are one
site, so `same-site` is refused too. Which port `Host` names is not looked at, since a tunnel changes it; a
name that another site has pointed here is refused by the name alone.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag.listening import is_own_name, own_names
from rag.server.problems import Problem, problem_response

LONGEST_BODY = 16 * 2**20
MOST_COMMAS = 100_000
"""Most commas of a body: reading more keys or entries as JSON would hold up all other requests."""
PAGE_PATHS = ("/static/",)
"""Below which the page's own files are: they hold nothing of the library and need no token."""
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "media-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types lit-html"
)
HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
LEAST_TOKEN = 32
"""Characters of a token."""


def new_token() -> str:
    """A token for one run: 32 random bytes."""
    return secrets.token_urlsafe(32)


@dataclass(frozen=True)
class AccessPolicy:
    """Who may ask."""

    host: str = "127.0.0.1"
    """The address that is listened on."""
    port: int = 8650
    token: str | None = None
    names: frozenset[str] = field(default_factory=lambda: own_names("127.0.0.1"))

    @property
    def cookie(self) -> str:
        """Name of the cookie. It has the port: servers of one machine share the browser's cookies."""
        return f"rag-token-{self.port}"

    def check(self, scope: Scope, headers: Headers) -> None:
        """Raises `Problem` for a request that is refused."""
        host = headers.get("host", "")
        if not is_own_name(host, self.host, self.names):
            raise Problem(421, "foreign-host", f"{host or 'no host'}: not a name of this server")
        path, method = scope["path"], scope["method"]
        if not _is_own_site(headers, host, opens_page=method == "GET" and path == "/"):
            raise Problem(403, "foreign-request", "only the page of this server may ask in a browser")
        if path != "/" and not path.startswith(PAGE_PATHS):
            self._check_token(headers)
        if method not in ("GET", "HEAD", "OPTIONS") and _has_body(method, headers):
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                raise Problem(415, "wrong-content-type", "send JSON with Content-Type: application/json")

    def accepts(self, token: str) -> bool:
        """Whether it is the token; in constant time."""
        expected = (self.token or "").encode()
        return secrets.compare_digest(token.encode("utf-8", "surrogatepass"), expected)

    def enter(self, token: str, answer: Response) -> Response:
        """The answer with the token as a cookie. Raises `Problem` for another token than the server's."""
        if self.token is None or not self.accepts(token):
            raise _token_problem("not the server's token; open the address that rag serve printed")
        answer.set_cookie(self.cookie, token, httponly=True, samesite="strict", path="/")
        return answer

    def _check_token(self, headers: Headers) -> None:
        if self.token is None:
            return
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            given = ""
            try:
                cookies = SimpleCookie(headers.get("cookie", ""))
            except CookieError:
                cookies = SimpleCookie()
            if self.cookie in cookies:
                given = cookies[self.cookie].value
        if not self.accepts(given.strip()):
            raise _token_problem(
                "send the token as Authorization: Bearer, or open the address that rag serve printed"
            )


class SecurityMiddleware:
    """Refuses what `AccessPolicy` refuses, limits bodies, and gives every answer the headers above."""

    def __init__(self, app: ASGIApp, policy: AccessPolicy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; a websocket is closed."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        try:
            self._policy.check(scope, headers)
        except Problem as problem:
            await problem_response(problem, scope["path"])(scope, receive, guarded)
            return
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token")
        if scope["path"] == "/" and given and self._policy.token is not None:
            try:
                answer = self._policy.enter(given[0], RedirectResponse("/", 303))
            except Problem as problem:
                answer = problem_response(problem, "/")
            await answer(scope, receive, guarded)
            return
        await self._app(scope, _limited(receive), guarded)


def _token_problem(detail: str) -> Problem:
    return Problem(401, "token-missing", detail, {"WWW-Authenticate": "Bearer"})


def _is_own_site(headers: Headers, host: str, *, opens_page: bool) -> bool:
    site = headers.get("sec-fetch-site")
    if site is not None:
        if site in ("same-origin", "none"):
            return True
        navigates = (
            headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        )
        return opens_page and navigates
    origin = headers.get("origin")
    return origin is None or origin in (f"http://{host}", f"https://{host}")


def _has_body(method: str, headers: Headers) -> bool:
    return method != "DELETE" or headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _limited(receive: Receive) -> Receive:
    """Bodies with more bytes or more entries are refused."""
    read = commas = 0

    async def limited() -> Message:
        nonlocal read, commas
        message = await receive()
        body = message.get("body", b"")
        read, commas = read + len(body), commas + body.count(b",")
        if read > LONGEST_BODY or commas > MOST_COMMAS:
            raise HTTPException(413, f"a body has at most {LONGEST_BODY} bytes and {MOST_COMMAS} entries")
        return message

    return limited
