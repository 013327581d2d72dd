"""A model hub on loopback: the few endpoints that a pull uses, and the ways in which they can fail."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
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
    cuts: dict[str, int] = field(default_factory=dict)
    """How often the connection is cut half-way through a file."""
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    """Method, path and Range header, in order."""
    tokens: set[str] = field(default_factory=set)
    """Authorization headers that the hub saw."""
    storage_tokens: set[str] = field(default_factory=set)
    endpoint: str = ""
    storage: str = ""

    def info(self) -> dict[str, object]:
        siblings: list[dict[str, object]] = []
        for name, data in self.files.items():
            row: dict[str, object] = {"rfilename": name, "size": len(data), "blobId": git_blob(data)}
            if name.endswith(LARGE):
                row["lfs"] = {"sha256": sha256(data), "size": len(data), "pointerSize": 134}
            siblings.append(row)
        return {"id": self.repo, "modelId": self.repo, "sha": self.commit, "siblings": siblings}

    def ranges(self, name: str) -> list[str]:
        """The Range headers of the GETs for a file's bytes."""
        return [asked for method, path, asked in self.requests if method == "GET" and path.endswith(name)]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def git_blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


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

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, body: bool) -> None:
            path = unquote(self.path.partition("?")[0])
            hub.requests.append((self.command, path, self.headers.get("Range", "")))
            stored = path.startswith("/storage/")
            (hub.storage_tokens if stored else hub.tokens).add(self.headers.get("Authorization", ""))
            if stored:
                self._bytes(path.removeprefix("/storage/"), body)
            elif hub.gated:
                self._refuse(401, "GatedRepo", body)
            elif found := re.fullmatch(rf"/api/models/{hub.repo}(?:/revision/(\w+))?", path):
                known = found[1] in (None, "main", hub.commit)
                self._json(hub.info()) if known else self._refuse(404, "RevisionNotFound", body)
            elif path.startswith("/api/models/"):
                self._refuse(404, "RepoNotFound", body)
            elif path.startswith(start := f"/{hub.repo}/resolve/{hub.commit}/"):
                self._resolve(path.removeprefix(start), body)
            else:
                self._refuse(404, "EntryNotFound", body)

        def _resolve(self, name: str, body: bool) -> None:
            if name not in hub.files:
                self._refuse(404, "EntryNotFound", body)
            elif name.endswith(LARGE):
                data = hub.files[name]
                self.send_response(302)
                self.send_header("Location", f"{hub.storage}/{name}")
                self.send_header("X-Linked-Etag", f'"{sha256(data)}"')
                self.send_header("X-Linked-Size", str(len(data)))
                self.send_header("X-Repo-Commit", hub.commit)
                self.send_header("Content-Length", "0")
                self.end_headers()
            else:
                self._bytes(name, body)

        def _bytes(self, name: str, body: bool) -> None:
            data = hub.corrupted.get(name, hub.files[name])
            start = 0
            if found := re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "")):
                start = int(found[1])
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
            self.send_header("ETag", f'"{git_blob(hub.files[name])}"')
            self.send_header("X-Repo-Commit", hub.commit)
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            if not body:
                return
            if hub.cuts.get(name, 0) > 0:
                hub.cuts[name] -= 1
                self.wfile.write(data[start : start + (len(data) - start) // 2])
                self.close_connection = True
                return
            self.wfile.write(data[start:])

        def _json(self, value: object) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _refuse(self, status: int, code: str, body: bool) -> None:
            data = b'{"error": "no"}' if body else b""
            self.send_response(status)
            self.send_header("X-Error-Code", code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler
