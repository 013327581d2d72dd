"""Bytes of the HTTP face: a video's file, whole or by range, cut short where the web says so; its picture."""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from rag.errors import FileProblem, NoMedia
from rag.web.mock import MockWeb

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from corpora.video.reader import MediaReader

__all__ = ["CutFile", "Thumbnails"]

SHORT_SIDE = 180
KEPT = 512
"""Thumbnails held at most; 10 kB each."""


class CutFile:
    """An ASGI answer that promises a whole file and ends after some of it, as a broken transfer does."""

    def __init__(self, path: Path, received: int) -> None:
        self._path = path
        self._received = received

    async def __call__(self, _: Scope, __: Receive, send: Send) -> None:
        size = self._path.stat().st_size
        headers = [
            (b"content-type", b"video/mp4"),
            (b"content-length", str(size).encode()),
            (b"accept-ranges", b"bytes"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        with self._path.open("rb") as file:
            body = file.read(min(self._received, size - 1))
        await send({"type": "http.response.body", "body": body, "more_body": True})
        # Ending here, short of what was promised, makes the server drop the connection.
        raise ConnectionResetError("cut, as planned")


class Thumbnails:
    """A JPEG of each video, from a third into it. One reader, used by one thread at a time."""

    def __init__(self, web: MockWeb) -> None:
        self._web = web
        self._lock = threading.Lock()
        self._media: MediaReader | None = None
        self._made: OrderedDict[str, bytes] = OrderedDict()

    def picture(self, url: str, duration: float) -> bytes:
        """Raises `NoMedia` where there is none."""
        with self._lock:
            if url not in self._made:
                self._made[url] = self._draw(url, duration)
                while len(self._made) > KEPT:
                    self._made.popitem(last=False)
            return self._made[url]

    def close(self) -> None:
        with self._lock:
            if self._media is not None:
                self._media.close()
                self._media = None

    def __enter__(self) -> Thumbnails:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _draw(self, url: str, duration: float) -> bytes:
        from PIL import Image

        if self._media is None:
            from corpora.video.reader import MediaReader

            self._media = MediaReader()
        path = self._web.media(url).path
        try:
            frames = self._media.frames_at(path, [duration / 3], short_side=SHORT_SIDE)
        except FileProblem as error:
            raise NoMedia(f"{url}: no picture to be had: {error}") from error
        out = io.BytesIO()
        Image.fromarray(frames.images[0]).save(out, "JPEG", quality=80)
        return out.getvalue()
