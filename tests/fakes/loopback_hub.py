"""A model hub on loopback: the few endpoints that a pull uses, and the ways in which they can fail."""

import hashlib
import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from urllib.parse import unquote

LARGE = (".safetensors", ".bin", ".pth")
"""Files kept in large-file storage: described by SHA-256 and served from another address by redirect."""


@dataclass
class Hub:
    """What is served, what was asked, and what goes wrong."""

    repo: str
    files: dict[str, bytes]
    commit: str = "c0ffee" * 6 + "c0ff"
    gated: bool = False
    corrupted: dict[str, bytes] = field(default_factory=dict)
    """Other bytes, of the same length, sent for a file than those that its hash was made of."""
    page: str = ""
    """A part of the addresses that are answered with a login page."""
    breaks: int = 0
    """Bytes of a large file after which each connection is cut; 0: none is."""
    left: float = math.inf
    """Bytes of large files that are sent before the line is dead."""
    gate: Event = field(default_factory=Event)
    """The second half of a large file waits until it is set."""
    requests: list[tuple[str, str]] = field(default_factory=list)
    """Path and Range header, in order."""
    tokens: set[str] = field(default_factory=set)
    """Authorization headers that the hub saw."""
    storage_tokens: set[str] = field(default_factory=set)
    endpoint: str = ""
    storage: str = ""

    def __post_init__(self) -> None:
        self.gate.set()

    def info(self) -> dict[str, object]:
        siblings: list[dict[str, object]] = []
        for name, data in self.files.items():
            blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
            row: dict[str, object] = {"rfilename": name, "size": len(data), "blobId": blob}
            if name.endswith(LARGE):
                row["lfs"] = {"sha256": sha256(data), "size": len(data), "pointerSize": 134}
            siblings.append(row)
        return {"id": self.repo, "modelId": self.repo, "sha": self.commit, "siblings": siblings}

    def ranges(self, name: str) -> list[str]:
        """The Range headers of the GETs for a file's bytes."""
        return [asked for path, asked in self.requests if path.endswith(name)]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextmanager
def serve(hub: Hub) -> Iterator[Hub]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub))
    port = server.server_address[1]
    hub.endpoint, hub.storage = f"http://127.0.0.1:{port}", f"http://localhost:{port}/storage"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Not printed."""

        def do_GET(self) -> None:
            path = unquote(self.path.partition("?")[0])
            hub.requests.append((path, self.headers.get("Range", "")))
            stored = path.startswith("/storage/")
            (hub.storage_tokens if stored else hub.tokens).add(self.headers.get("Authorization", ""))
            if hub.page and hub.page in path:
                self._send(200, b"<!DOCTYPE html><title>Sign in</title>", "text/html")
            elif stored:
                self._bytes(path.removeprefix("/storage/"))
            elif hub.gated:
                self._refuse(401, "GatedRepo")
            elif found := re.fullmatch(rf"/api/models/{hub.repo}(?:/revision/(\w+))?", path):
                if found[1] in (None, "main", hub.commit):
                    self._send(200, json.dumps(hub.info()).encode(), "application/json")
                else:
                    self._refuse(404, "RevisionNotFound")
            elif path.startswith("/api/models/"):
                self._refuse(404, "RepoNotFound")
            elif path.startswith(start := f"/{hub.repo}/resolve/{hub.commit}/"):
                name = path.removeprefix(start)
                if name.endswith(LARGE):
                    self.send_response(302)
                    self.send_header("Location", f"{hub.storage}/{name}")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                else:
                    self._bytes(name)
            else:
                self._refuse(404, "EntryNotFound")

        def _bytes(self, name: str) -> None:
            data = hub.corrupted.get(name, hub.files[name])
            start = 0
            if found := re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "")):
                start = int(found[1])
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            body = data[start:]
            if name.endswith(LARGE):
                body = body[: int(min(hub.breaks or math.inf, hub.left, len(body)))]
                hub.left -= len(body)
                self.close_connection = start + len(body) < len(data)
            with suppress(ConnectionError):  # who pulls may be killed
                self.wfile.write(body[: len(body) // 2])
                if name.endswith(LARGE):
                    hub.gate.wait()
                self.wfile.write(body[len(body) // 2 :])

        def _refuse(self, status: int, code: str) -> None:
            self._send(status, b'{"error": "no"}', "application/json", code)

        def _send(self, status: int, data: bytes, content_type: str, code: str = "") -> None:
            self.send_response(status)
            if code:
                self.send_header("X-Error-Code", code)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler
