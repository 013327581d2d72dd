"""`show_frames`: JPEG images of a window, as one contact sheet or one by one."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from corpora.records import Frames
from rag.errors import UsageError
from rag.library import Library
from rag.records import VideoInterval, span_name
from rag.rendering.contact_sheet import Sheet, contact_sheet, sheet_times
from rag.rendering.terminal import span
from rag.server.library_routes import known_video
from rag.server.mcp.rows import (
    Absent,
    Arguments,
    LabelledImage,
    Reply,
    Row,
    Seconds,
    Video,
    call,
    cleaned,
    following,
    quoted,
    video_of,
)
from rag.server.media import servable
from rag.server.service import Service
from rag.store.lookup import window_seconds

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_FRAMES = 8
WIDEST = 768
NARROWEST = 96
MOST_BYTES = 300_000
"""Of all images of a result: 400 kB as base64, in which they are sent."""
QUALITY = 80
SMALLER = 0.8


class ShowArguments(Arguments):
    """Of `show_frames`."""

    citation: str | Absent = Field(
        None, min_length=1, max_length=200, description="Citation of a window of a video: VIDEO_ID@START-END."
    )
    video: Video | Absent = Field(
        None, description="In place of a citation: id of a video, with start and end."
    )
    start: Seconds = Field(None, description="Seconds; with `video`.")
    end: Seconds = Field(None, description="Seconds; with `video`.")
    count: int = Field(6, ge=1, le=MOST_FRAMES, description="Number of frames, at even distances.")
    width: int = Field(WIDEST, ge=NARROWEST, le=WIDEST, description="Pixels of the longer side of an image.")
    sheet: bool = Field(True, description="One contact sheet with times and text; false: single frames.")


class ShowResult(Row):
    """Of `show_frames`."""

    video_id: str
    start: float
    end: float
    times: list[float] = Field(description="Seconds of each frame that is shown, in order.")
    next: str | Absent = Field(None, description="The call that shows frames which did not fit.")


def show_frames(service: Service, library: Library, given: ShowArguments) -> Reply:
    """Frames of a window, decoded now."""
    video_id, start, end = _window(library, given)
    times = sheet_times(start, end, given.count)
    images = service.media.frames(servable(library, video_id), times, given.width)
    from PIL import Image

    if given.sheet:
        frames = Frames(np.array(times), images)
        evidence = tuple(library.engine.reader.evidence(video_id, start, end))[:MOST_FRAMES]
        title = known_video(library, video_id).title
        rendered = [contact_sheet(Sheet(cleaned(title), span(start, end), frames, evidence))]
        labels = [
            f"{video_id}@{span_name(start, end)}: {len(times)} frames at {', '.join(map(_seconds, times))} s"
        ]
    else:
        rendered = [Image.fromarray(image) for image in images]
        labels = [f"{_seconds(time)} s" for time in times]
    encoded = encode(rendered, given.width)
    shown = list(times) if given.sheet else times[: len(encoded)]
    again = None
    if len(shown) < len(times):
        again = call(
            "show_frames", video=video_id, start=shown[-1], end=end, width=given.width // 2, sheet=False
        )
    result = ShowResult(
        video_id=video_id, start=start, end=end, times=[round(time, 3) for time in shown], next=again
    )
    heading = f"{quoted(known_video(library, video_id).title)} {span(start, end)}"
    shown_images = [LabelledImage(label, jpeg) for label, jpeg in zip(labels, encoded, strict=False)]
    return Reply(result, [heading, *following(again)], shown_images)


def _window(library: Library, given: ShowArguments) -> VideoInterval:
    """What is asked for, inside the video. Raises `UsageError`."""
    if (given.citation is None) == (given.video is None):
        raise UsageError("give a citation, or a video with start and end")
    name, start, end = given.video, given.start, given.end
    if given.citation is not None:
        name, at, window = given.citation.rpartition("@")
        try:
            start, end = window_seconds(given.citation, window)
        except UsageError:
            at = ""
        if not at:
            raise UsageError(
                "show_frames takes the citation of a window, VIDEO_ID@START-END; a passage has no frames"
            )
    if name is None or start is None or end is None:
        raise UsageError("start and end are missing")
    video = known_video(library, video_of(library, name))
    end = min(end, video.duration)
    if not 0 <= start < end:
        raise UsageError(f"the window must be inside the video, which is {video.duration:g} s long")
    if video.height == 0:
        raise UsageError("this file has sound only, so it has no frames; read_transcript reads it")
    return video.video_id, start, end


def encode(images: Sequence[Image], width: int) -> list[bytes]:
    """JPEGs whose longer side has at most `width` pixels, made smaller until all fit into `MOST_BYTES`.

    The last ones are left out where they do not fit at `NARROWEST` either.
    """
    while True:
        encoded = [_jpeg(image, width) for image in images]
        if sum(map(len, encoded)) <= MOST_BYTES:
            return encoded
        if width <= NARROWEST:
            break
        width = max(NARROWEST, int(width * SMALLER))
    while sum(map(len, encoded)) > MOST_BYTES:
        encoded.pop()
    return encoded


def _jpeg(image: Image, width: int) -> bytes:
    from PIL import Image as Images

    small = image.copy()
    small.thumbnail((width, width), Images.Resampling.LANCZOS)
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


def _seconds(time: float) -> str:
    return f"{time:.2f}".rstrip("0").rstrip(".")
