"""Media of the videos: files with ranges, windows as clips, frames, thumbnails, captions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Query, Request
from starlette.datastructures import Headers
from starlette.responses import (
    FileResponse,
    MalformedRangeHeader,
    RangeNotSatisfiable,
    Response,
    StreamingResponse,
)
from starlette.types import Receive, Scope, Send
from typing_extensions import TypedDict

from corpora.kinds import is_photograph, media_type
from corpora.objects import is_url, locate
from corpora.records import EvidenceKind, Video, one_transcript
from corpora.settings import StorageSettings
from rag.errors import FileProblem, StaleFile, UnreadableFile, UsageError
from rag.library import Library
from rag.rendering.shapes import EvidenceItem, evidence_shape, report_shape
from rag.rendering.webvtt import webvtt
from rag.server.library_routes import VideoId, VideoRow, known_video, spans_of, video_row
from rag.server.problems import Document, Problem, problems
from rag.server.renditions import best_moment
from rag.server.service import Served, Service

router = APIRouter(prefix="/v1/videos/{video_id}", tags=["media"])

F = TypeVar("F", bound=Callable[..., Any])
LONGEST_CLIP = 120.0
"""Seconds of a clip that is made on request."""
TALLEST = 2160
OBJECT_PART = 2**20
"""Bytes of an object that are read and sent at once."""
IMMUTABLE = "private, max-age=31536000, immutable"
"""An id is the hash of a content: what is made of it never changes."""
REVALIDATED = "private, no-cache"
"""For files: whether they are still what was indexed is checked each time."""

PLAYABLE_CODECS = frozenset(["h264", "vp8", "vp9", "av1", "libdav1d", "theora"])
PLAYABLE_FORMATS = frozenset(["", "yuv420p", "yuvj420p", "yuv420p10le"])
PLAYABLE_AUDIO = frozenset(["", "aac", "mp3", "mp3float", "opus", "vorbis", "flac", "pcm_s16le"])
COPIED_CODECS = frozenset(["h264", "av1", "libdav1d"])
"""Those of them that every browser plays in an MP4 file."""
COPIED_AUDIO = frozenset(["", "aac", "mp3", "mp3float", "opus", "flac"])
COPIED_CONTAINERS = ("matroska,webm", "mpegts", "flv")

Seconds = Annotated[float, Query(ge=0, le=10_000_000, allow_inf_nan=False)]


class MediaItem(TypedDict):
    """How a browser plays a video."""

    play: Literal["file", "remux", "clip", "image", "none"]
    reason: str
    container: str
    codec: str
    audio_codec: str


class VideoDocument(VideoRow):
    """`rag.video/1`."""

    schema: Literal["rag.video/1"]
    description: str
    tags: list[str]
    chapters: list[EvidenceItem]
    media: MediaItem


def media_route(path: str, kind: str, *statuses: int) -> Callable[[F], F]:
    """A route for GET, described as of the media type `kind`, and for HEAD; `statuses` beside 200, 304."""

    def decorate(function: F) -> F:
        answers = problems(404)
        answers |= {200: {"description": "The media", "content": {kind: {}}}}
        answers |= {status: {"description": HTTPStatus(status).phrase} for status in (304, *statuses)}
        router.add_api_route(path, function, methods=["GET"], responses=answers, response_class=Response)
        router.add_api_route(path, function, methods=["HEAD"], include_in_schema=False)
        return function

    return decorate


@router.get("", responses={200: {"model": VideoDocument}, **problems(404)})
def video(service: Served, video_id: VideoId) -> Response:
    """One video: its row, description, tags and chapters, and how a browser plays it."""
    with service.library() as library:
        facts = known_video(library, video_id)
        kinds = library.engine.reader.evidence_kinds()
        row = video_row(library, facts, kinds)
        chapters = [evidence_shape(span) for span in spans_of(library, facts, ("chapter",))]
        path: str | None = None
        reason = ""
        try:
            path = servable(library, video_id)
        except Problem as problem:
            reason = str(problem)
    more = {"description": facts.description, "tags": facts.tags, "chapters": chapters}
    media = how_to_play(service, facts, path, reason)
    return Document(report_shape("rag.video/1", {**row, **more, "media": media}))


def how_to_play(service: Service, video: Video, path: str | None, reason: str = "") -> dict[str, str]:
    """`media` of `rag.video/1`; `path`: None where the file is not the one that was indexed, for `reason`."""
    facts = {"play": "none", "reason": "", "container": "", "codec": "", "audio_codec": ""}
    if path is None:
        return {**facts, "reason": reason}
    try:
        probe = service.media.probe(path, video.video_id)
    except FileProblem as problem:
        return {**facts, "reason": str(problem)}
    facts |= {"container": probe.container, "codec": probe.codec, "audio_codec": probe.audio_codec}
    if is_photograph(path):
        return {**facts, "play": "image"}
    unknown = []
    if probe.codec and probe.codec not in PLAYABLE_CODECS:
        unknown.append(probe.codec)
    elif probe.pixel_format not in PLAYABLE_FORMATS:
        unknown.append(f"{probe.codec} in {probe.pixel_format}")
    if probe.audio_codec not in PLAYABLE_AUDIO:
        unknown.append(probe.audio_codec)
    if unknown:
        return {**facts, "play": "clip", "reason": f"browsers do not decode {' and '.join(unknown)}"}
    kind = media_type(path)
    if kind in ("video/mp4", "video/quicktime", "video/webm") or kind.startswith("audio/") or not probe.codec:
        return {**facts, "play": "file"}
    copied = probe.codec in COPIED_CODECS and probe.audio_codec in COPIED_AUDIO
    reason = f"browsers do not open {probe.container.partition(',')[0]} files, or only some do"
    # An object would be read whole for it.
    copied = copied and not is_url(path)
    play = "remux" if copied and probe.container in COPIED_CONTAINERS else "clip"
    return {**facts, "play": play, "reason": reason}


def servable(library: Library, video_id: str) -> str:
    """The first path where the file is the one that was indexed. Raises `Problem` where there is none."""
    try:
        return library.indexed_file(video_id)
    except StaleFile as error:
        raise Problem(409, "file-changed", str(error)) from error
    except UnreadableFile as error:
        raise Problem(404, "file-gone", str(error)) from error


def opened(service: Service, video_id: str) -> tuple[Video, str]:
    """A video and the path of its file, as it was indexed. Raises `Problem`."""
    with service.library() as library:
        return known_video(library, video_id), servable(library, video_id)


def require_inside(facts: Video, t: float) -> None:
    """Raise `UsageError` for a frame after the end of a video."""
    if t > facts.duration:
        raise UsageError(f"the video is {facts.duration:g} s long: a frame is of a time inside it")


class Tagged(Response):
    """What has an ETag; 304 where the client has what it names."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, or that it is unchanged."""
        tag, given = self.headers["etag"], Headers(scope=scope).get("if-none-match", "")
        if given.strip() == "*" or tag in [part.strip().removeprefix("W/") for part in given.split(",")]:
            await Response(None, 304, {"ETag": tag})(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class RangedFile(Tagged, FileResponse):
    """A file of which ranges are given; a `Range` that cannot be read is ignored (RFC 9110, section 14.2)."""

    @classmethod
    def _parse_range_header(cls, http_range: str, file_size: int) -> list[tuple[int, int]]:
        try:
            return super()._parse_range_header(http_range, file_size)
        except MalformedRangeHeader:
            return []


class TaggedStream(Tagged, StreamingResponse):
    """A part of an object, as it is read."""


def file_response(path: str | FilePath, tag: str, kind: str, caching: str) -> Response:
    """A file with ranges. Raises `Problem` where it has gone this moment."""
    try:
        facts = os.stat(path)
    except OSError as error:
        raise Problem(404, "file-gone", f"{path}: no longer exists") from error
    headers = {"ETag": f'"{tag}"', "Cache-Control": caching, "Accept-Ranges": "bytes"}
    return RangedFile(path, headers=headers, media_type=kind, stat_result=facts)


def object_response(request: Request, address: str, storage: StorageSettings, tag: str) -> Response:
    """An object, or the one range of it that is asked for, read as it is sent.

    Raises `Problem` where it has gone this moment, `StoreError` where the store does not answer.
    """
    store, key = locate(address, storage)
    found = store.head(key)
    if found is None:
        raise Problem(404, "file-gone", f"{address}: no longer exists")
    start, end, status = 0, found.size, 200
    headers = {"ETag": f'"{tag}"', "Cache-Control": REVALIDATED, "Accept-Ranges": "bytes"}
    asked = request.headers.get("range")
    if asked is not None and request.headers.get("if-range") in (None, f'"{tag}"'):
        try:
            ranges = RangedFile._parse_range_header(asked, found.size)
        except RangeNotSatisfiable:
            return Response(None, 416, {"Content-Range": f"bytes */{found.size}"})
        if len(ranges) == 1:
            (start, end), status = ranges[0], 206
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{found.size}"
    headers["Content-Length"] = str(end - start)
    if request.method == "HEAD":
        return Tagged(None, status, headers, media_type(address))

    def parts() -> Iterator[bytes]:
        for at in range(start, end, OBJECT_PART):
            yield store.read_range(key, at, min(OBJECT_PART, end - at), found.etag)

    return TaggedStream(parts(), status, headers, media_type(address))


@media_route("/file", "application/octet-stream", 206, 416)
async def file(request: Request, service: Served, video_id: VideoId) -> Response:
    """The video file as it is; a range of it where one is asked for."""
    _, path = await service.in_media_thread(opened, service, video_id)
    if is_url(path):
        storage = service.settings.storage
        return await service.in_media_thread(object_response, request, path, storage, video_id)
    return file_response(path, video_id, media_type(path), REVALIDATED)


@media_route("/remux", "video/mp4", 206, 416)
async def remux(request: Request, service: Served, video_id: VideoId) -> Response:
    """The same images and sound in an MP4 file, for browsers that do not open the file's container."""
    _, path = await service.in_media_thread(opened, service, video_id)
    with service.question() as stopped:
        making = service.in_media_thread(service.media.remux, path, video_id, stopped)
        made = await service.while_connected(request, making)
    return file_response(made, f"{video_id}-mp4", "video/mp4", REVALIDATED)


@media_route("/clip", "video/mp4", 206, 416)
async def clip(
    request: Request, service: Served, video_id: VideoId, start: Seconds, end: Seconds
) -> Response:
    """A window as MP4, exact to the frame: any browser plays it, whatever the file's codec."""
    facts, path = await service.in_media_thread(opened, service, video_id)
    if start >= facts.duration:
        raise UsageError(f"the video is {facts.duration:g} s long: a clip starts before its end")
    if end <= start:
        raise UsageError("a clip ends after it starts")
    end = min(end, facts.duration)
    if end - start > LONGEST_CLIP:
        raise UsageError(f"a clip is at most {LONGEST_CLIP:g} s long")
    with service.question() as stopped:
        making = service.in_media_thread(service.media.clip, path, video_id, start, end, stopped)
        made = await service.while_connected(request, making)
    return file_response(made, f"{video_id}-{start:.3f}-{end:.3f}", "video/mp4", IMMUTABLE)


@media_route("/frame", "image/jpeg")
async def frame(
    request: Request,
    service: Served,
    video_id: VideoId,
    t: Annotated[float, Query(ge=0, le=10_000_000, allow_inf_nan=False, description="Seconds.")],
    height: Annotated[int, Query(ge=16, le=TALLEST, description="Lines; never enlarged.")] = 720,
) -> Response:
    """JPEG of the frame that is on screen at `t`, and the time at which it came there."""
    facts, path = await service.in_media_thread(opened, service, video_id)
    require_inside(facts, t)
    reading = service.in_media_thread(service.media.frame, path, facts, t, height)
    data, at = await service.while_connected(request, reading)
    tag = f'"{video_id}-{t:.3f}-{height}"'
    headers = {"ETag": tag, "Cache-Control": IMMUTABLE, "Rag-Frame-Time": f"{at:.6f}"}
    return Tagged(data, media_type="image/jpeg", headers=headers)


@media_route("/thumbnail", "image/jpeg")
async def thumbnail(
    request: Request, service: Served, video_id: VideoId, t: Seconds | None = None
) -> Response:
    """Small JPEG of the frame at `t`; without it, of the video's longest shot."""
    facts, path = await service.in_media_thread(opened, service, video_id)
    if t is None:
        with service.library() as library:
            t = best_moment(facts, library.shots(video_id))
    else:
        require_inside(facts, t)
    making = service.in_media_thread(service.media.thumbnail, path, facts, t)
    made = await service.while_connected(request, making)
    return file_response(made, f"{video_id}-{t:.3f}-thumbnail", "image/jpeg", IMMUTABLE)


@media_route("/captions.vtt", "text/vtt")
def captions(
    service: Served,
    video_id: VideoId,
    kind: Annotated[EvidenceKind | None, Query(description="Default: subtitles, else speech.")] = None,
    language: Annotated[str, Query(description="Subtitle language; default: that with most lines.")] = "",
) -> Response:
    """Text of the video as WebVTT, also of a video whose file is missing."""
    with service.library() as library:
        facts = known_video(library, video_id)
        spans = spans_of(library, facts, (kind,) if kind else ("subtitle",))
        if kind is None and not spans:
            spans = spans_of(library, facts, ("asr",))
    wanted = [span for span in spans if not language or span.track is None or span.track.language == language]
    cues = ((span.start, max(span.end, span.start + 0.001), span.text) for span in one_transcript(wanted))
    return Response(webvtt(cues), media_type="text/vtt", headers={"Cache-Control": REVALIDATED})
