"""The simulated model, one request in and one reply out; and over HTTP, as OpenAI-compatible servers do."""

from __future__ import annotations

import io
import json
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from eval.simulated_model.answers import Answering
from eval.simulated_model.frames import FrameIndex
from eval.simulated_model.perception import Perception
from eval.simulated_model.request import BadRequest, Request, read_request

CELL = 28
"""Pixels of an image token's side, as of Qwen2-VL."""
UNKNOWN_ROLE = "This message names no step that I know."


@dataclass(frozen=True, slots=True)
class Reply:
    """The text, what it cost, and whether it was cut off."""

    text: str
    prompt_tokens: int
    image_tokens: int
    completion_tokens: int
    cut: bool


class SimulatedModel:
    """Deterministic: the same seed, perception, videos and request give the same reply, in any order.

    `context_tokens`: of prompt and reply together. `images`: most of a request.
    """

    def __init__(
        self,
        index: FrameIndex,
        perception: float = 1.0,
        seed: int = 0,
        *,
        context_tokens: int = 131072,
        images: int = 256,
    ) -> None:
        self.context_tokens, self.images = context_tokens, images
        self._perception = Perception(index, perception, seed)

    def complete(self, request: Request) -> Reply:
        """The reply to a request. Raises `BadRequest`, in the words of vLLM, beyond the model's limits."""
        image_tokens = sum(_image_tokens(image) for image in request.images)
        prompt = image_tokens + text_tokens(request.system) + text_tokens(request.text)
        self._check_limits(request, prompt)
        text = UNKNOWN_ROLE
        if request.fields:
            text = json.dumps(Answering(request, self._perception).reply(), ensure_ascii=False)
        tokens = text_tokens(text)
        cut = tokens > request.max_tokens
        if cut:
            text, tokens = text[: 4 * request.max_tokens], request.max_tokens
        return Reply(text, prompt, image_tokens, tokens, cut)

    def _check_limits(self, request: Request, prompt: int) -> None:
        if len(request.images) > self.images:
            raise BadRequest(f"At most {self.images} image(s) may be provided in one request.")
        longest, reply = self.context_tokens, request.max_tokens
        if prompt + reply > longest:
            raise BadRequest(
                f"This model's maximum context length is {longest} tokens. However, you requested "
                f"{prompt + reply} tokens ({prompt} in the messages, {reply} in the completion). "
                "Please reduce the length of the messages or completion."
            )


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


LONGEST_BODY = 2**28
POLL = 0.05


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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A reply in two packets would wait for the client's delayed acknowledgement, 40 ms each.
    wbufsize = -1
    server: SimulatedModelServer

    def do_GET(self) -> None:
        if self.path.rstrip("/") != "/v1/models":
            self._fail(404, f"{self.path}: there are /v1/models and /v1/chat/completions")
            return
        card = {
            "id": self.server.name,
            "object": "model",
            "created": 0,
            "owned_by": "simulated",
            "max_model_len": self.server.model.context_tokens,
        }
        self._send(200, {"object": "list", "data": [card]})

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        if length > LONGEST_BODY:
            self.close_connection = True
            self._fail(413, "the request is too large")
            return
        data = self.rfile.read(length)
        if self.path.rstrip("/") != "/v1/chat/completions":
            self._fail(404, f"{self.path}: there are /v1/models and /v1/chat/completions")
            return
        try:
            body = _json(data)
            if not isinstance(body, dict):
                raise BadRequest("the request is no JSON object")
            if body.get("model") not in (self.server.name, None, ""):
                self._fail(404, f"The model `{body['model']}` does not exist.", "NotFoundError")
                return
            self._complete(read_request(body))
        except BadRequest as error:
            self._fail(400, str(error))

    def _complete(self, request: Request) -> None:
        reply = self.server.model.complete(request)
        self._send(200, _completion(self.server.name, reply, request))

    def _fail(self, status: int, message: str, sort: str = "BadRequestError") -> None:
        self._send(
            status, {"object": "error", "message": message, "type": sort, "param": None, "code": status}
        )

    def _send(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged: a run has thousands of requests."""


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:
        raise BadRequest("the request is no JSON") from error


def _completion(name: str, reply: Reply, request: Request) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{request.digest}",
        "object": "chat.completion",
        "created": 0,
        "model": name,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": reply.text},
                "finish_reason": "length" if reply.cut else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "total_tokens": reply.prompt_tokens + reply.completion_tokens,
            "prompt_tokens_details": {"image_tokens": reply.image_tokens},
        },
    }


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
