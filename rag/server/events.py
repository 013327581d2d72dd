"""Server-sent events, which end when there are no more, when the client goes, or when the server stops."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from rag.rendering.shapes import to_json
from rag.server.service import Service

log = logging.getLogger(__name__)

COMMENT_SECONDS = 15.0
"""Between two comments on a silent stream: proxies close one that is silent for long."""
STOP_SECONDS = 0.2
"""Between two looks at whether the server stops."""


Data = Mapping[str, Any] | str
"""A document, or text of one line."""
Emit = Callable[[str, Data], Coroutine[Any, Any, None]]
"""Send one event to the client: its name, empty for a `message`, and its data."""


def encode(name: str, data: Data) -> bytes:
    """The lines of one event, and the empty one that ends it."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else to_json(data)}\n\n".encode("ascii")


class EventStream(Response):
    """What `produce` emits until it returns, and a comment every 15 s of silence.

    `produce` is cancelled when the client goes or the server stops.
    """

    media_type = "text/event-stream"

    def __init__(self, service: Service, produce: Callable[[Emit], Awaitable[None]]) -> None:
        super().__init__(None, 200, {"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._service = service
        self._produce = produce

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        """Send the events until one of the three ends."""
        lock, silent = anyio.Lock(), 0.0

        async def write(data: bytes, more: bool = True) -> None:
            nonlocal silent
            async with lock:
                silent = 0.0
                await send({"type": "http.response.body", "body": data, "more_body": more})

        async def emit(name: str, data: Data) -> None:
            await write(encode(name, data))

        async def produce() -> None:
            try:
                await self._produce(emit)
            except Exception:
                # Its status is sent: no handler of errors is asked, and uvicorn is silent.
                log.exception("a stream was cut off by a bug")
                raise
            group.cancel_scope.cancel()

        async def wait_for_client() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        async def wait_for_stop() -> None:
            nonlocal silent
            while not self._service.stopping.is_set():
                await anyio.sleep(STOP_SECONDS)
                silent += STOP_SECONDS
                if silent >= COMMENT_SECONDS:
                    await write(b":\n\n")
            group.cancel_scope.cancel()

        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with anyio.create_task_group() as group:
            for task in (produce, wait_for_client, wait_for_stop):
                group.start_soon(task)
        await write(b"", more=False)
