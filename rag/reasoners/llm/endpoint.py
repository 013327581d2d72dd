"""The one place a request may go: the server the user named, and nowhere else.

An httpx transport under the OpenAI client. That client would follow redirects,
use proxies and organization names of the environment, send facts about this
machine in headers, and take a body of any size or kind; this one does not.
"""

from __future__ import annotations

import json

import httpx

from rag.reasoners.llm.exchanges import LARGEST_COUNT

MAX_REPLY_BYTES = 8 * 2**20

KEPT_HEADERS = ("host", "accept", "content-type", "content-length", "connection")


class NotAChatReply(Exception):
    """The server answered 2xx with something that is no chat completion."""


def parse_base_url(base_url: str) -> httpx.URL:
    """The address of an OpenAI-compatible server; else `ValueError`."""
    try:
        url = httpx.URL(base_url.strip())
    except httpx.InvalidURL as error:
        raise ValueError(str(error)) from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError("it is no http address with a host")
    if url.userinfo:
        raise ValueError("it holds a password; that goes into RAG_REASONER__API_KEY")
    return url


class Endpoint(httpx.AsyncBaseTransport):
    """Carries requests to `base_url` only, with `api_key` as the only credential."""

    def __init__(self, base_url: httpx.URL, api_key: str) -> None:
        self._base_url = base_url
        self._authorization = f"Bearer {api_key}"
        self._inner = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request within the endpoint's bounds of size and time."""
        here, there = self._base_url, request.url
        if (there.scheme, there.host, there.port) != (here.scheme, here.host, here.port):
            raise httpx.UnsupportedProtocol(f"refused to contact {there.host}", request=request)
        kept = {name: request.headers[name] for name in KEPT_HEADERS if name in request.headers}
        request.headers = httpx.Headers(
            {
                **kept,
                "accept-encoding": "identity",
                "authorization": self._authorization,
                "user-agent": "offline-video-rag",
            }
        )
        response = await self._inner.handle_async_request(request)
        body = await _bounded(response)
        headers = [pair for pair in response.headers.raw if pair[0].lower() not in _FRAMING]
        if response.is_success:
            body = _chat_only(body)
            headers = [(b"content-type", b"application/json")]
        return httpx.Response(response.status_code, headers=headers, content=body, request=request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


# The body is whole by now: how it came, and in what pieces, is over.
_FRAMING = (b"content-length", b"transfer-encoding", b"content-encoding")


async def _bounded(response: httpx.Response) -> bytes:
    body = bytearray()
    try:
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > MAX_REPLY_BYTES:
                raise NotAChatReply(f"a reply of more than {MAX_REPLY_BYTES // 2**20} MiB")
    except httpx.DecodingError as error:
        raise NotAChatReply("a reply that does not decompress") from error
    finally:
        await response.aclose()
    return bytes(body)


def _chat_only(body: bytes) -> bytes:
    """What is used of a chat completion, in the one form that the client library is sure to read.

    A server may send a reply without a role, odd tool calls, or counts that are none; all that goes.
    """
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NotAChatReply("no JSON") from error
    match reply:
        case {"choices": [{"message": {"content": str() | None as content}} as choice, *_]}:
            pass
        case _:
            raise NotAChatReply("JSON that is no chat completion")
    finish = choice.get("finish_reason")
    # A lone surrogate has no UTF-8: such a reply could not be shown to the model again.
    said = None if content is None else content.encode("utf-8", "replace").decode()
    plain = {
        "id": "",
        "object": "chat.completion",
        "created": 0,
        "model": "",
        "choices": [
            {
                "index": 0,
                "finish_reason": "length" if finish == "length" else "stop",
                "message": {"role": "assistant", "content": said},
            }
        ],
        "usage": _usage(reply.get("usage")),
    }
    return json.dumps(plain).encode()


def _usage(told: object) -> dict[str, object]:
    """The counts that are counts: whole numbers from 0."""
    if not isinstance(told, dict):
        return {}
    details = told.get("prompt_tokens_details")
    counts = {name: _count(told.get(name)) for name in ("prompt_tokens", "completion_tokens", "total_tokens")}
    images = _count(details.get("image_tokens")) if isinstance(details, dict) else None
    return {**counts, "prompt_tokens_details": {"image_tokens": images}}


def _count(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_COUNT:
        return value
    return None
