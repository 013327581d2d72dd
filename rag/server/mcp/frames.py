"""`show_frames`: JPEG images of a window, as one contact sheet or one by one."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from corpora.records import Frames
from rag.errors import UsageError
from rag.library import Library
from rag.records import VideoInterval, span_name
from rag.rendering.contact_sheet import Sheet, contact_sheet, sheet_times
from rag.rendering.terminal import span
from rag.server.library_routes import known_video
from rag.server.mcp.rows import Absent, Next, Opened, Video, call, cleaned, video_of
from rag.server.media import servable
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


class Shown(TypedDict):
    """Which frames are shown."""

    video_id: str
    title: str
    start: float
    end: float
    times: Annotated[list[float], Field(description="Seconds of each frame that is shown, in order.")]
    next: NotRequired[Next]


@dataclass(frozen=True, slots=True)
class Pictures:
    """JPEGs beside a result, each with the line before it."""

    shape: dict[str, Any]
    images: Sequence[tuple[str, bytes]]


Seconds = Annotated[
    Annotated[float, Field(ge=0, allow_inf_nan=False)] | Absent, Field(description="Seconds; with `video`.")
]


def show_frames(
    opened: Opened,
    citation: Annotated[
        str | Absent,
        Field(
            min_length=1, max_length=200, description="Citation of a window of a video: VIDEO_ID@START-END."
        ),
    ] = None,
    video: Annotated[
        Video | Absent, Field(description="In place of a citation: id of a video, with start and end.")
    ] = None,
    start: Seconds = None,
    end: Seconds = None,
    count: Annotated[
        int, Field(ge=1, le=MOST_FRAMES, description="Number of frames, at even distances.")
    ] = 6,
    width: Annotated[
        int, Field(ge=NARROWEST, le=WIDEST, description="Pixels of the longer side of an image.")
    ] = WIDEST,
    sheet: Annotated[
        bool, Field(description="One contact sheet with times and text; false: single frames.")
    ] = True,
) -> Annotated[Any, Shown]:
    """Look at a video: JPEG images of a citation, or of start to end seconds of a video.

    By default one contact sheet of the frames with their times; `sheet=false` gives single frames. Use it to
    check what is seen before you claim it. At most 8 frames a call, at most 768 pixels wide.
    """
    library = opened.library
    video_id, start, end = _window(library, citation, video, start, end)
    times = sheet_times(start, end, count)
    images = opened.service.media.frames(servable(library, video_id), times, width)
    title = cleaned(known_video(library, video_id).title)
    from PIL import Image

    if sheet:
        frames = Frames(np.array(times), images)
        evidence = tuple(library.engine.reader.evidence(video_id, start, end))[:MOST_FRAMES]
        rendered = [contact_sheet(Sheet(title, span(start, end), frames, evidence))]
        at = ", ".join(map(_seconds, times))
        labels = [f"{video_id}@{span_name(start, end)}: {len(times)} frames at {at} s"]
    else:
        rendered = [Image.fromarray(image) for image in images]
        labels = [f"{_seconds(time)} s" for time in times]
    encoded = encode(rendered, width)
    shown = list(times) if sheet else times[: len(encoded)]
    shape = {"video_id": video_id, "title": title, "start": start, "end": end}
    shape["times"] = [round(time, 3) for time in shown]
    if len(shown) < len(times):
        shape["next"] = call(
            "show_frames", video=video_id, start=shown[-1], end=end, width=width // 2, sheet=False
        )
    return Pictures(shape, list(zip(labels, encoded, strict=False)))


def _window(
    library: Library, citation: str | None, name: str | None, start: float | None, end: float | None
) -> VideoInterval:
    """What is asked for, inside the video. Raises `UsageError`."""
    if (citation is None) == (name is None):
        raise UsageError("give a citation, or a video with start and end")
    if citation is not None:
        name, at, window = citation.rpartition("@")
        try:
            start, end = window_seconds(citation, window)
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
