"""The simulated model, one request in and one reply out; and over HTTP, as OpenAI-compatible servers do."""

from __future__ import annotations

import io
import json
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from eval.simulated_model.answers import Answering
from eval.simulated_model.frames import FrameIndex
from eval.simulated_model.perception import Perception
from eval.simulated_model.request import BadRequest, Request, read_request

CELL = 28
"""Pixels of an image token's side, as of Qwen2-VL."""
UNKNOWN_ROLE = "This message names no step that I know."
POLL = 0.05


class SimulatedModel:
    """Deterministic: the same seed, perception, videos and request give the same reply, in any order."""

    def __init__(self, index: FrameIndex, perception: float = 1.0, seed: int = 0) -> None:
        self._perception = Perception(index, perception, seed)

    def complete(self, request: Request) -> str:
        """The text of the reply to a request."""
        if not request.fields:
            return UNKNOWN_ROLE
        return json.dumps(Answering(request, self._perception).reply(), ensure_ascii=False)


def text_tokens(text: str) -> int:
    """About four characters a token."""
    return math.ceil(len(text) / 4)


def _image_tokens(data: bytes) -> int:
    from PIL import Image

    try:
        width, height = Image.open(io.BytesIO(data)).size
    except OSError as error:
        raise BadRequest("image_url: no image that can be read") from error
    return math.ceil(width / CELL) * math.ceil(height / CELL)


class SimulatedModelServer(ThreadingHTTPServer):
    """Serves one `SimulatedModel` under a name."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, model: SimulatedModel, name: str, host: str = "127.0.0.1", port: int = 0) -> None:
        super().__init__((host, port), _Handler)
        self.model, self.name = model, name

    @property
    def base_url(self) -> str:
        """Ends in /v1."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}/v1"

    def completion(self, request: Request) -> dict[str, Any]:
        """The document of a chat completion. Raises `BadRequest` for an image that is none."""
        images = sum(map(_image_tokens, request.images))
        prompt = images + text_tokens(request.system) + text_tokens(request.text)
        text = self.model.complete(request)
        message = {"role": "assistant", "content": text}
        return {
            "id": f"chatcmpl-{request.digest}",
            "object": "chat.completion",
            "created": 0,
            "model": self.name,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": text_tokens(text),
                "total_tokens": prompt + text_tokens(text),
                "prompt_tokens_details": {"image_tokens": images},
            },
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A reply in two packets would wait for the client's delayed acknowledgement, 40 ms each.
    wbufsize = -1
    server: SimulatedModelServer

    def do_GET(self) -> None:
        card = {"id": self.server.name, "object": "model", "created": 0, "owned_by": "simulated"}
        self._send(200, {"object": "list", "data": [card]})

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            self._send(200, self.server.completion(read_request(json.loads(data))))
        except ValueError as error:
            what = {"object": "error", "message": str(error), "type": "BadRequestError", "code": 400}
            self._send(400, what)

    def _send(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged: a run has thousands of requests."""


@contextmanager
def running(model: SimulatedModel, name: str = "simulated") -> Iterator[SimulatedModelServer]:
    """A server on a free port of this machine, in a thread, for as long as the context is open."""
    server = SimulatedModelServer(model, name)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": POLL}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def serve(server: SimulatedModelServer, started: Callable[[str], None]) -> None:
    """Serve until interrupted; `started` is called with the base URL."""
    try:
        started(server.base_url)
        server.serve_forever(POLL)
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
