"""Opens a media file so that nothing else is opened, and gives the times of its packets.

Only plain files, known containers and the `file` protocol are taken, and objects of a store.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from corpora.errors import DamagedFile, FileProblem, UnreadableFile, UnsupportedFile, reason_of
from corpora.heartbeat import beat
from corpora.identity import plain_file
from corpora.kinds import HEAD_BYTES, is_photograph, kind_of_head
from corpora.languages import language_code
from corpora.objects import ObjectStore, StoredObject, StoreError, is_url, locate

if TYPE_CHECKING:
    from corpora.settings import StorageSettings

DEMUXERS = (
    *("mov", "mp4", "m4a", "3gp", "3g2", "mj2", "matroska", "webm", "avi", "mpeg", "mpegts", "mpegvideo"),
    *("flv", "asf", "ogg", "mxf", "gif", "apng", "nut", "wtv", "dv", "rm", "ivf", "yuv4mpegpipe", "obu"),
    *("av1", "h261", "h263", "h264", "hevc", "vvc", "m4v", "mjpeg", "vc1", "wav", "w64", "mp3", "flac"),
    *("aac", "ac3", "eac3", "dts", "aiff", "amr", "amrnb", "amrwb", "ape", "caf", "au", "wv", "tta"),
)
"""No playlist, script or numbered images among them: those make FFmpeg open other files or addresses."""

MAX_SIDE = 16384
MAX_PIXELS = 2**27
"""134 million, above the largest 16:9 images that H.264, HEVC and AV1 levels allow for."""

_PHOTOGRAPHS = {
    rb"\xff\xd8\xff": "jpeg_pipe",
    rb"\x89PNG": "png_pipe",
    rb"RIFF....WEBP": "webp_pipe",
    rb"II\*\0|MM\0\*": "tiff_pipe",
    rb"BM": "bmp_pipe",
    rb"....ftyp(hei[cxms]|hev[cxms]|mif1|msf1|avif)": "heif",
}
"""Demuxers of one image by a pattern of its first bytes. Of its own FFmpeg takes one for a series of numbered
files. It does not put the tiles of HEIF (HEIC, AVIF) together, reads no moving WebP, and shows what is
transparent in whatever colour is beneath: these Pillow reads."""

_PLAYLISTS = (
    *(b"#EXTM3U", b"ffconcat", b"[playlist]", b"<?xml", b"<MPD", b"<smil", b"<asx", b"RTSPtext", b"v=0"),
)
_PLAYLIST_REFUSED = (
    "a playlist or script, not a video; such files can make a decoder open other files, so none is opened"
)


BLOCK = 4 * 2**20
"""Bytes that are read at once."""
KEPT_BLOCKS = 8


class ObjectFiles:
    """Opens objects. Not to be shared between threads."""

    def __init__(self, storage: StorageSettings | None) -> None:
        """`storage`: None where only files are opened."""
        self.storage = storage
        self.failure = ""
        """Why a read failed since this was emptied: libraries may take an error for the end of a file."""
        # A file is opened again for each of its facts.
        self.block = lru_cache(KEPT_BLOCKS)(_block)

    def open(self, address: str) -> ObjectFile:
        """The object in its present state. Raises `UnreadableFile`, with the reason alone."""
        assert self.storage is not None
        try:
            store, key = locate(address, self.storage)
            found = store.head(key)
        except StoreError as error:
            raise UnreadableFile(reason_of(error, address)) from error
        if found is None:
            raise UnreadableFile("no such object")
        return ObjectFile(address, store, found, self)


def _block(store: ObjectStore, found: StoredObject, number: int) -> bytes:
    """A block of that state of an object. Raises `StoreError`."""
    start = number * BLOCK
    length = min(BLOCK, found.size - start)
    data = store.read_range(found.key, start, length, found.etag)
    if len(data) != length:
        raise StoreError(f"{len(data):,} bytes of {length:,} came")
    return data


class ObjectFile(io.RawIOBase):
    """One state of an object; reading raises `UnreadableFile` once the object is another."""

    def __init__(self, address: str, store: ObjectStore, found: StoredObject, files: ObjectFiles) -> None:
        self.name = address
        self.found = found
        self._store = store
        self._files = files
        self._at = 0

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move as in any other file; the new place."""
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.found.size}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Up to the end of a block."""
        if not 0 <= self._at < self.found.size:
            return 0
        number, offset = divmod(self._at, BLOCK)
        try:
            block = self._files.block(self._store, self.found, number)
        except StoreError as error:
            self._files.failure = reason_of(error, self.name)
            raise UnreadableFile(self._files.failure) from error
        part = block[offset : offset + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)


_objects = ObjectFiles(None)


def object_files(storage: StorageSettings | None) -> ObjectFiles:
    """What `open_media` reads objects with from now on, in this process."""
    global _objects
    if storage != _objects.storage:
        _objects = ObjectFiles(storage)
    return _objects


def open_media(path: str) -> Any:
    """An `av` input container, to be closed by the caller; of an object by ranges.

    Raises `UnreadableFile`, `UnsupportedFile` or `DamagedFile`, mostly without the path.
    """
    import av

    if not is_url(path):
        with plain_file(path) as file:
            if not file.read(1):
                raise DamagedFile("the file is empty")
    photograph = _photograph_format(path)
    source: Any = _as_bitmap(path, photograph) if photograph and photograph != "jpeg_pipe" else None
    if source is not None:
        photograph = "bmp_pipe"
    else:
        # With `file:` in front no name can be taken for an address, an option or a pattern.
        source = _objects.open(path) if is_url(path) else "file:" + os.path.abspath(path)
    allowed = (photograph,) if photograph else DEMUXERS
    options = {"protocol_whitelist": "file", "format_whitelist": ",".join(allowed)}
    try:
        container = av.open(source, mode="r", format=photograph, options=options, metadata_errors="replace")
    except av.error.MemoryError as error:
        raise UnsupportedFile("its header asks for more memory than a video can need") from error
    except (av.FFmpegError, UnicodeError) as error:
        raise _refusal(path, error) from error
    if container.format.name == "gif" or len(container.streams) > 0:
        return container
    container.close()
    raise DamagedFile("its container opens, but holds no stream")


def _photograph_format(path: str) -> str | None:
    """Name of the demuxer of a photograph, known by its name and first bytes; None of anything else."""
    if not is_photograph(path):
        return None
    with _read(path) as file:
        head = file.read(16) or b""
    return next((name for mark, name in _PHOTOGRAPHS.items() if re.match(mark, head, re.DOTALL)), None)


def _read(path: str) -> Any:
    return _objects.open(path) if is_url(path) else open(path, "rb")


def _as_bitmap(path: str, photograph: str) -> io.BytesIO | None:
    """The main image of a photograph, turned as it says and on white, as a BMP of 8 bits a colour; None where
    FFmpeg is to read it."""
    from pi_heif import register_heif_opener
    from PIL import Image, ImageOps

    register_heif_opener()
    found = io.BytesIO()
    with _read(path) as file:
        try:
            held = Image.open(file, formats=("AVIF", "HEIF", "PNG", "WEBP", "TIFF"))
            moves = photograph == "webp_pipe" and getattr(held, "is_animated", False)
            if photograph != "heif" and not held.has_transparency_data and not moves:
                return None
            _check_size(*held.size)
            image = ImageOps.exif_transpose(held)
            white = Image.new("RGBA", image.size, "white")
            white.alpha_composite(image.convert("RGBA"))
            white.convert("RGB").save(found, "BMP")
        except Image.DecompressionBombError as error:
            raise UnsupportedFile(f"its image is larger than the {MAX_SIDE} pixels allowed") from error
        except (ValueError, SyntaxError, RuntimeError, OSError) as error:
            if photograph != "heif":
                return None
            raise DamagedFile("its image cannot be decoded") from error
    found.seek(0)
    return found


def media_size(path: str) -> int:
    """Bytes of a file or object."""
    return _objects.open(path).found.size if is_url(path) else os.stat(path).st_size


def packets(container: Any, streams: list[Any]) -> Iterator[Any]:
    """The packets of these streams in the order of the file, each a sign that reading goes on; raises
    `av.FFmpegError` where it fails. Of a photograph it is one, whatever bytes follow its end."""
    try:
        for packet in container.demux(streams):
            # The empty ones at the end are PyAV's own, to flush decoders.
            if packet.size:
                beat()
                yield packet
                if container.format.name in _PHOTOGRAPHS.values():
                    return
    except IndexError:
        # At the end of the file PyAV trips over streams that came up on the way; all packets were given.
        return


MOST_READ_ERRORS = 100


def packets_past_damage(container: Any, stream: Any, damaged: Callable[[Exception], object]) -> Iterator[Any]:
    """Yield packets of one stream, going on after read errors as long as there is more; then None, which
    flushes a decoder. `damaged` is called with each error."""
    import av

    for _ in range(MOST_READ_ERRORS):
        try:
            yield from packets(container, [stream])
            break
        except av.FFmpegError as error:
            damaged(error)
    yield None


def _refusal(path: str, error: Exception) -> FileProblem:
    import av

    with _read(path) as file:
        head = file.read(HEAD_BYTES) or b""
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_PLAYLISTS):
        return UnsupportedFile(_PLAYLIST_REFUSED)
    if isinstance(error, av.error.ArgumentError):
        return UnsupportedFile("not one of the media containers that are read here")
    if not head.strip(b"\0"):
        return UnsupportedFile("not a media file: it begins with nothing but zeros")
    if head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free"):
        return DamagedFile("its index (moov) is missing or broken: the recording or copy was cut off")
    if kind_of_head(head) in ("video", "audio"):
        return DamagedFile("its container is broken: nothing in it can be read")
    if isinstance(error, av.error.InvalidDataError | UnicodeError):
        return UnsupportedFile("not a media file that is known here")
    reason = getattr(error, "strerror", None) or str(error).split(":")[0]
    return UnreadableFile(f"cannot be read: {reason.lower()}")


def pick_video(container: Any) -> Any | None:
    """The video stream by ffmpeg's own rule (fftools, `map_auto_video`): the most pixels, where the
    default disposition counts for 5,000,000; the first of equals. None where there is none.

    Raises `UnsupportedFile` if no decoder knows it or its images are gigantic.
    """
    streams = video_streams(container)
    if not streams:
        return None
    known = [stream for stream in streams if stream.codec_context is not None]
    if not known:
        raise UnsupportedFile("no decoder here knows its video codec")
    known = [stream for stream in known if stream.codec_context.width > 0 < stream.codec_context.height]
    if not known:
        raise DamagedFile("its images have no size: their header is broken, or asks for too much")
    stream = max(known, key=_video_rank)
    _check_size(stream.codec_context.width, stream.codec_context.height)
    return stream


def _check_size(width: int, height: int) -> None:
    if max(width, height) > MAX_SIDE or width * height > MAX_PIXELS:
        raise UnsupportedFile(f"its images of {width}x{height} are larger than the {MAX_SIDE} pixels allowed")


def video_streams(container: Any) -> list[Any]:
    """The video stream: cover art and thumbnails left out."""
    from av.stream import Disposition

    still = Disposition.attached_pic | Disposition.timed_thumbnails
    return [stream for stream in container.streams.video if not stream.disposition & still]


def _video_rank(stream: Any) -> tuple[int, int]:
    from av.stream import Disposition

    pixels = stream.codec_context.width * stream.codec_context.height
    return pixels + 5_000_000 * bool(stream.disposition & Disposition.default), -stream.index


_audio_track = ""


def choose_audio(track: str) -> None:
    """`track`: which audio stream `pick_audio` takes from now on, in this process, as `video.audio_track`."""
    global _audio_track
    _audio_track = track


def pick_audio(container: Any) -> Any | None:
    """The audio stream that was chosen by its number or its language; else, and where the file has none such,
    the one by ffmpeg's rule: default disposition before all, then the most channels, then the first. None
    without any."""
    from av.stream import Disposition

    streams = container.streams.audio
    known = [stream for stream in streams if stream.codec_context is not None]

    def rank(stream: Any) -> tuple[bool, int, int]:
        named = str(streams.index(stream) + 1), language_code(language_of(stream))
        chosen = language_code(_audio_track) in named
        default = bool(stream.disposition & Disposition.default)
        return (
            bool(_audio_track) and chosen,
            (stream.codec_context.channels or 0) + 5_000_000 * default,
            -stream.index,
        )

    return max(known, key=rank, default=None)


def language_of(stream: Any) -> str:
    """Language tag of a stream; empty where it is undefined."""
    language = str(stream.metadata.get("language") or "")
    return "" if language.lower() in ("und", "unk", "mis", "zxx") else language


def clock_start(container: Any) -> float:
    """Seconds that are taken off every pts x time base: the container's start time."""
    if container.start_time is not None:
        return float(container.start_time) / 1e6
    starts = [
        float(stream.start_time * stream.time_base)
        for stream in (*container.streams.video, *container.streams.audio)
        if stream.start_time is not None and stream.time_base
    ]
    return min(starts, default=0.0)


def counts_from_zero(container: Any) -> bool:
    """Whether the container's duration may count from 0 and not from its start, as most writers of Matroska
    and WebM have it."""
    return str(container.format.name).startswith("matroska")


def time_of(pts: int | None, time_base: Any, start: float) -> float | None:
    """Seconds on the file's clock; None without a pts."""
    if pts is None or not time_base:
        return None
    time = pts * time_base.numerator / time_base.denominator - start
    # The container's start is rounded to the microsecond, the pts is not.
    return 0.0 if abs(time) < 1e-6 else time


LEAP = 10.0
"""Seconds; a step ahead that is longer is believed only if the next time does not go back again."""
JUMP = 3600.0
"""Seconds; a step ahead that is longer is false."""

T = TypeVar("T")


class LeapFilter(Generic[T]):
    """Items pass in their order; one that leaps ahead waits for the next one to confirm it."""

    def __init__(self, last: float | None = None) -> None:
        self._last = last
        self._waiting: tuple[float, T] | None = None
        self.dropped: list[float] = []
        """Times of items that were left out, until the caller clears them."""

    def push(self, time: float, item: T) -> list[tuple[float, T]]:
        """The items that are now known to be true, with their times."""
        passed: list[tuple[float, T]] = []
        if self._waiting is not None:
            if time >= self._waiting[0] - LEAP:
                passed += self.finish()
            else:
                self.dropped.append(self._waiting[0])
                self._waiting = None
        step = 0.0 if self._last is None else time - self._last
        if step > JUMP:
            self.dropped.append(time)
        elif step > LEAP:
            self._waiting = time, item
        else:
            self._last = time if self._last is None else max(self._last, time)
            passed.append((time, item))
        return passed

    def finish(self) -> list[tuple[float, T]]:
        """What still waits: a last item has nothing to contradict it."""
        if self._waiting is None:
            return []
        passed, self._waiting = [self._waiting], None
        self._last = passed[0][0]
        return passed
