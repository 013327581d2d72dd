"""Images and clips out of video files, made in watched subprocesses and kept in the cache."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.outputs import atomic_file
from corpora.platforms import KILL
from corpora.records import Shot, Video
from corpora.settings import StorageSettings, VideoSettings
from corpora.video.records import Probe
from rag.errors import QuestionError, UnsupportedFile
from rag.server.problems import stopped_problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.video.reader import MediaReader

IMAGE_FORMATS = ("JPEG", "PNG", "WEBP")
MOST_PIXELS = 24_000_000
QUALITY = 82
"""Quality of JPEG files."""
THUMBNAIL_HEIGHT = 180
MOST_BYTES = 4 * 2**30
IN_USE_SECONDS = 60.0
"""A file that was asked for within these is not removed: it may be on its way to a client."""
LOOK_SECONDS = 0.5
"""Between two looks at whether a cut is done."""


class DiskCache:
    """Files by name; safe to share between threads, and between servers of one user.

    A file is written beside its place and renamed. Once all take more than `most_bytes`, those that were
    asked for longest ago are removed.
    """

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._making: dict[str, threading.Lock] = {}

    def get(self, name: str, suffix: str, make: Callable[[Path], object]) -> Path:
        """The file of that name, which `make` writes where there is none.

        Two that ask for one name at once make it once. Raises what `make` raises, and OSError.
        """
        path = self._folder / (hashlib.blake2b(name.encode(), digest_size=16).hexdigest() + suffix)
        if self._touch(path):
            return path
        with self._lock:
            making = self._making.setdefault(path.name, threading.Lock())
        with making:
            if self._touch(path):
                return path
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                with atomic_file(path) as draft:
                    make(draft)
            finally:
                with self._lock:
                    self._making.pop(path.name, None)
        self._shrink()
        return path

    def _touch(self, path: Path) -> bool:
        """Whether it is there; if so, it was asked for now."""
        try:
            os.utime(path)
        except OSError:
            return False
        return True

    def _shrink(self) -> None:
        with self._lock:
            held = []
            for entry in os.scandir(self._folder):
                with contextlib.suppress(OSError):
                    facts = entry.stat()
                    held.append((facts.st_mtime, facts.st_size, entry.path))
            total, now = sum(size for _, size, _ in held), time.time()
            for asked, size, path in sorted(held):
                if total <= self._most_bytes or now - asked < IN_USE_SECONDS:
                    return
                with contextlib.suppress(OSError):
                    os.unlink(path)
                    total -= size


def cache_folder() -> Path:
    """Where clips and thumbnails are kept: below `$XDG_CACHE_HOME`."""
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root) / "rag" / "serve"


class MediaRenderer:
    """Decodes and cuts; safe to share between threads. Its subprocesses start when they are needed.

    Methods raise `FileProblem` as `corpora.video.reader.MediaReader` does.
    """

    def __init__(self, settings: VideoSettings, storage: StorageSettings, cache: DiskCache) -> None:
        self._settings = settings
        self._storage = storage
        self._cache = cache
        self._cutting = threading.Lock()
        readers = max(1, min(4, (os.cpu_count() or 2) // 2))
        self._readers: queue.LifoQueue[MediaReader | None] = queue.LifoQueue()
        for _ in range(readers):
            self._readers.put(None)
        self.probe = lru_cache(maxsize=4096)(self._probe)
        """The facts of a file: path, and an id of its content."""

    def _probe(self, path: str, _: str) -> Probe:
        with self._reader() as reader:
            return reader.probe(path)

    def frame(self, path: str, video: Video, time: float, height: int) -> tuple[bytes, float]:
        """JPEG of the frame on screen at `time` seconds, of at most `height` lines, and its own time."""
        _require_images(video)
        with self._reader() as reader:
            side = min(height, round(height * video.width / max(1, video.height)))
            frames = reader.frames_at(path, [time], short_side=max(16, side))
        return jpeg(frames.images[0]), float(frames.times[0])

    def frames(self, path: str, times: Sequence[float], side: int) -> NDArray[np.uint8]:
        """The frames on screen at `times` seconds, uint8 (n, h, w, 3); `side`: of the short one."""
        with self._reader() as reader:
            return reader.frames_at(path, times, short_side=side).images

    def thumbnail(self, path: str, video: Video, time: float) -> Path:
        """A JPEG file of `THUMBNAIL_HEIGHT` lines."""
        name = f"thumbnail {video.video_id} {time:.3f}"
        return self._cache.get(
            name, ".jpg", lambda out: out.write_bytes(self.frame(path, video, time, THUMBNAIL_HEIGHT)[0])
        )

    def clip(self, path: str, video_id: str, start: float, end: float, stopped: threading.Event) -> Path:
        """The window as an MP4 file, encoded again; given up once `stopped` is set."""

        def make(out: Path) -> None:
            with self._cutter(stopped) as reader:
                reader.cut(path, start, end, os.fspath(out))

        return self._cache.get(f"clip {video_id} {start:.3f} {end:.3f}", ".mp4", make)

    def remux(self, path: str, video_id: str, stopped: threading.Event) -> Path:
        """The streams of the file in an MP4 file; given up once `stopped` is set."""

        def make(out: Path) -> None:
            with self._cutter(stopped) as reader:
                reader.remux(path, os.fspath(out))

        return self._cache.get(f"remux {video_id}", ".mp4", make)

    def close(self) -> None:
        """End the subprocesses that are not at work."""
        with contextlib.suppress(queue.Empty):
            while True:
                reader = self._readers.get_nowait()
                if reader is not None:
                    reader.close()

    @contextmanager
    def _reader(self) -> Iterator[MediaReader]:
        """A reader for one thread, of a few."""
        from corpora.video.reader import MediaReader

        held = self._readers.get()
        try:
            held = held or MediaReader(
                self._settings.decoder,
                self._settings.stall_seconds,
                self._storage,
                audio_track=self._settings.audio_track,
            )
            yield held
        finally:
            self._readers.put(held)

    @contextmanager
    def _cutter(self, stopped: threading.Event) -> Iterator[MediaReader]:
        """A reader for what takes long, one at a time; its subprocess is killed once `stopped` is set."""
        from corpora.video.reader import MediaReader

        settings = self._settings
        made = MediaReader(
            stall_seconds=settings.stall_seconds, storage=self._storage, audio_track=settings.audio_track
        )
        with self._cutting, made as reader:
            if stopped.is_set():
                raise stopped_problem()

            done = threading.Event()

            def kill() -> None:
                while not stopped.wait(LOOK_SECONDS):
                    if done.is_set():
                        return
                # By its id: closing pipes that the other thread reads would give their numbers away.
                for pid in reader.pids:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, KILL)

            threading.Thread(target=kill, name="rag-server-cutter", daemon=True).start()
            try:
                yield reader
            finally:
                done.set()


def best_moment(video: Video, shots: Sequence[Shot]) -> float:
    """Seconds of the image by which a video is shown: the keyframe of its longest shot, else its middle."""
    if not shots:
        return video.duration / 2
    return max(shots, key=lambda shot: (shot.end - shot.start, -shot.start)).key_time


def jpeg(image: NDArray[np.uint8]) -> bytes:
    """A JPEG file of an image, uint8 (h, w, 3) RGB."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(image).save(out, "JPEG", quality=QUALITY)
    return out.getvalue()


def decode_image(text: str) -> NDArray[np.uint8]:
    """The image in a base64 text, uint8 (h, w, 3) RGB, upright, at most 1024 pixels wide and high.

    Raises `QuestionError` for what is no JPEG, PNG or WebP file of at most 24 million pixels.
    """
    import numpy as np
    from PIL import Image, ImageOps

    try:
        with Image.open(io.BytesIO(base64.b64decode(text, validate=True)), formats=IMAGE_FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise QuestionError(f"the image has more than {MOST_PIXELS} pixels")
            image.thumbnail((1024, 1024))
            upright = ImageOps.exif_transpose(image)
            return np.asarray(upright.convert("RGB"), np.uint8)
    except Image.DecompressionBombError as error:
        raise QuestionError(f"the image has more than {MOST_PIXELS} pixels") from error
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise QuestionError("the image is no JPEG, PNG or WebP file in base64") from error


def _require_images(video: Video) -> None:
    if video.width <= 0 or video.height <= 0:
        raise UnsupportedFile(f"{video.path}: it has sound and no images")
