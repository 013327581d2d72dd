"""A scripted OpenAI-compatible server on loopback: exact replies, and every way to misbehave."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Act = Callable[["_Handler", dict[str, Any]], None]
"""Answers one request, given its JSON body."""


@dataclass
class ChatServer:
    base_url: str
    acts: list[Act]
    requests: list[dict[str, Any]] = field(default_factory=list)
    """The JSON bodies received, in order."""
    headers: list[dict[str, str]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


@contextmanager
def chat_server(acts: Sequence[Act]) -> Iterator[ChatServer]:
    """Serves one act a request; the last act for all requests after it."""
    http = _Server(("127.0.0.1", 0), _Handler)
    server = ChatServer(f"http://127.0.0.1:{http.server_address[1]}/v1", list(acts))
    http.script = server
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        http.shutdown()
        http.server_close()
        thread.join()


def completion(text: str | None, usage: dict[str, Any] | None = None, finish: str = "stop") -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    whole = {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    return whole if usage is None else {**whole, "usage": usage}


def say(text: Any, usage: dict[str, Any] | None = None, finish: str = "stop") -> Act:
    """An ordinary reply; anything but text is sent as JSON; a function is given the request."""

    def act(handler: _Handler, body: dict[str, Any]) -> None:
        said = text(body) if callable(text) else text
        said = said if isinstance(said, str) or said is None else json.dumps(said)
        handler.send(200, json.dumps(completion(said, usage, finish)).encode())

    return act


def status(code: int, body: str = "{}", **headers: str) -> Act:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler, _: handler.send(code, body.encode(), **named)


def raw(body: bytes, content_type: str = "application/json") -> Act:
    return lambda handler, _: handler.send(200, body, content_type=content_type)


def hang() -> Act:
    """Takes the request and never answers."""
    return lambda handler, _: handler.script.over.wait(60) and None


def dribble(head: bytes) -> Act:
    """`head`, then one byte now and then for ever: a read time-out never comes."""

    def act(handler: _Handler, _: dict[str, Any]) -> None:
        handler.wfile.write(head)
        while not handler.script.over.wait(0.05):
            try:
                handler.wfile.write(b"x")
            except OSError:
                return

    return act


def cut(after: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{") -> Act:
    """Sends `after` and drops the connection."""

    def act(handler: _Handler, _: dict[str, Any]) -> None:
        handler.wfile.write(after)
        handler.connection.shutdown(socket.SHUT_RDWR)

    return act


def old_llama_cpp(text: Any) -> Act:
    """llama.cpp's Python server: 500 for any `response_format` but `json_object`, which takes the schema
    beside it; without the schema it says any JSON."""

    def act(handler: _Handler, body: dict[str, Any]) -> None:
        asked = body.get("response_format", {})
        if asked.get("type", "text") not in ("text", "json_object"):
            said = {"error": {"message": "Input should be 'text' or 'json_object'", "type": "server_error"}}
            handler.send(500, json.dumps(said).encode())
        else:
            say(text if "schema" in asked else {"answer": "any JSON"})(handler, body)

    return act


def takes_no_format(text: Any, code: int = 400, named: bool = True) -> Act:
    """Refuses every `response_format`, by its name or with a status alone."""
    said = json.dumps({"error": "response_format is not supported" if named else "invalid request"})
    return lambda handler, body: (status(code, said) if "response_format" in body else say(text))(
        handler, body
    )


def thinks_first(text: Any, tokens: int) -> Act:
    """Thinks for so many tokens in a channel of its own, and then replies: nothing is said within fewer."""

    def act(handler: _Handler, body: dict[str, Any]) -> None:
        whole = body["max_tokens"] > tokens
        say(text if whole else "", finish="stop" if whole else "length")(handler, body)

    return act


def runs_on() -> Act:
    """Repeats itself until it is cut off."""
    return say("It is a bench and a bench and a bench", finish="length")


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    script: ChatServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the play; say nothing about it on stderr."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    @property
    def script(self) -> ChatServer:
        return self.server.script

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        script = self.script
        script.requests.append(body)
        script.headers.append({name.lower(): value for name, value in self.headers.items()})
        act = script.acts[min(len(script.requests), len(script.acts)) - 1]
        self.close_connection = True
        act(self, body)

    def send(self, code: int, body: bytes, *, content_type: str = "application/json", **headers: str) -> None:
        self.send_response(code)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""
