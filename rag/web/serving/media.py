"""Media of the HTTP interface: video files, whole or truncated by a fault, and thumbnails."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from rag.errors import FileProblem, NoMedia
from rag.web.mock import Web

if TYPE_CHECKING:
    from corpora.video.reader import MediaReader

SHORT_SIDE = 180
KEPT = 512
"""Thumbnails held at most; 10 kB each."""


def cut_file(path: Path, received: int) -> Iterator[bytes]:
    """The first `received` bytes of a file, and never the last: who promised them all is cut short."""
    with path.open("rb") as file:
        yield file.read(min(received, path.stat().st_size - 1))
    # Ending without the rest makes the server drop the connection.
    raise ConnectionResetError("cut, as planned")


class Thumbnails:
    """A JPEG of each video, from a third into it. One reader, used by one thread at a time."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._lock = threading.Lock()
        self._media: MediaReader | None = None
        self.image = lru_cache(KEPT)(self._render)

    def close(self) -> None:
        """End the decoder process."""
        with self._lock:
            if self._media is not None:
                self._media.close()
                self._media = None

    def _render(self, url: str, duration: float) -> bytes:
        """Raises `NoMedia` where there is none."""
        from PIL import Image

        from corpora.video.reader import MediaReader

        path = self._web.media(url).path
        with self._lock:
            self._media = self._media or MediaReader()
            try:
                frames = self._media.frames_at(path, [duration / 3], short_side=SHORT_SIDE)
            except FileProblem as error:
                raise NoMedia(f"{url}: no frame can be decoded: {error}") from error
        out = io.BytesIO()
        Image.fromarray(frames.images[0]).save(out, "JPEG", quality=80)
        return out.getvalue()
