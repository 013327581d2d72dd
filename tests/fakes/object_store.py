"""An S3 store in this process (moto on the loopback) that counts its requests and fails on demand."""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from corpora.objects import ObjectStore, StoreAddress, open_store
from corpora.settings import StorageSettings

Environ = dict[str, Any]
Answer = Callable[..., Iterable[bytes]]
KEYS = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1"}


@dataclass(frozen=True, slots=True)
class Request:
    """One request that the store has answered."""

    method: str
    path: str
    """With the bucket; `/bucket/key`."""
    query: str
    status: int
    sent: int
    """Bytes of the answer."""


@dataclass
class FakeStore:
    """A bucket of its own for one test; `intercept` may answer in the store's place."""

    bucket: str
    endpoint: str
    requests: list[Request] = field(default_factory=list)
    intercept: Callable[[Environ], int | None] = lambda _: None
    """Called with every request before it is served; a status that it returns is the answer."""

    lose: Callable[[Environ], bool] = lambda _: False
    """Called likewise; whether the request is served and answered with an error all the same."""

    send: Callable[[bytes], Iterable[bytes]] = lambda body: [body]
    """Called with the body of an answer; the parts in which it is sent."""

    @property
    def url(self) -> str:
        """Address of the bucket."""
        return f"s3://{self.bucket}"

    @property
    def storage(self) -> StorageSettings:
        """Settings that reach it; requests that fail are sent again soon, and not often."""
        return StorageSettings(endpoint=self.endpoint, allow_http=True, retries=3, timeout_seconds=10)

    @property
    def environment(self) -> dict[str, str]:
        """The same settings for the command line."""
        return {"RAG_STORAGE__ENDPOINT": self.endpoint, "RAG_STORAGE__ALLOW_HTTP": "true"}

    def open(self, folder: str = "") -> ObjectStore:
        """The store below a folder of the bucket."""
        return open_store(f"{self.url}/{folder}".rstrip("/"), self.storage)

    def address(self, folder: str = "library") -> StoreAddress:
        """Of a library in the bucket."""
        return StoreAddress(f"{self.url}/{folder}", self.storage)

    def upload(self, folder: Path, below: str = "") -> None:
        """Every file in `folder` under the same name below `below`, in the bucket."""
        store = self.open(below)
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                store.put(path.relative_to(folder).as_posix(), path)

    def put_raw(self, key: str, content: bytes) -> None:
        """An object with a key that the product's own client may refuse."""
        _client(self.endpoint).put_object(Bucket=self.bucket, Key=key, Body=content)

    def gets(self) -> list[Request]:
        """The requests that read the content of an object."""
        return [r for r in self.requests if r.method == "GET" and r.path.strip("/") != self.bucket]


class _Server:
    """moto behind a WSGI layer; buckets are statuses apart by the first part of the path."""

    def __init__(self) -> None:
        from moto.server import create_backend_app
        from werkzeug.serving import make_server

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.stores: dict[str, FakeStore] = {}
        # Not moto's dispatcher, which looks for all of its services in each request.
        self._moto = create_backend_app("s3")
        self._server = make_server("127.0.0.1", 0, self._serve, threaded=True)
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _serve(self, environ: Environ, start: Answer) -> Iterable[bytes]:
        path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
        store = self.stores.get(path.strip("/").partition("/")[0])
        if store is None:
            return self._moto(environ, start)
        status = store.intercept(environ)
        if status is not None:
            start(f"{status} intercepted", [("Content-Length", "0")])
            store.requests.append(Request(environ["REQUEST_METHOD"], path, "", status, 0))
            return []
        statuses: list[int] = []

        def started(line: str, headers: Any, *rest: Any) -> Any:
            statuses.append(int(line.split()[0]))
            return start(line, headers, *rest)

        if store.lose(environ):
            b"".join(self._moto(environ, lambda line, *_: statuses.append(int(line.split()[0]))))
            start("500 lost", [("Content-Length", "0")])
            return []
        body = b"".join(self._moto(environ, started))
        request = Request(environ["REQUEST_METHOD"], path, environ["QUERY_STRING"], statuses[-1], len(body))
        store.requests.append(request)
        return store.send(body)

    def close(self) -> None:
        self._server.shutdown()


@contextmanager
def serve_buckets() -> Iterator[_Server]:
    """The server, for a whole session of tests; it takes seconds to start."""
    server = _Server()
    try:
        yield server
    finally:
        server.close()


def _client(endpoint: str) -> Any:
    import boto3

    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name=KEYS["AWS_REGION"],
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
    )


@pytest.fixture(scope="session")
def bucket_server() -> Iterator[_Server]:
    """One server for all tests of a worker."""
    pytest.importorskip("moto")
    with serve_buckets() as server:
        yield server


@pytest.fixture
def bucket(bucket_server: _Server, monkeypatch) -> FakeStore:
    """A bucket of the test's own, with the credentials in the environment."""
    for key, value in KEYS.items():
        monkeypatch.setenv(key, value)
    name = f"bucket-{len(bucket_server.stores)}"
    _client(bucket_server.endpoint).create_bucket(Bucket=name)
    store = bucket_server.stores[name] = FakeStore(name, bucket_server.endpoint)
    return store
