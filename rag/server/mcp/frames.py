"""`show_frames`: an image of a window, a contact sheet or one frame."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from corpora.records import Frames
from rag.errors import UsageError
from rag.library import Library
from rag.records import VideoInterval
from rag.rendering.contact_sheet import contact_sheet, sheet_times
from rag.rendering.terminal import excerpt, span
from rag.server.library_routes import known_video
from rag.server.mcp.rows import LONGEST_TEXT, Absent, Opened, Video, video_of
from rag.server.media import servable
from rag.server.renditions import jpeg
from rag.store.lookup import window_seconds

MOST_FRAMES = 8
WIDEST = 768
SHEET_SIDE = 360
"""Pixels of the short side of a frame on a sheet, before it is scaled."""


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
) -> tuple[dict[str, Any], bytes]:
    """Look at a video: a JPEG image of a citation, or of start to end seconds of a video.

    It is a contact sheet of the frames with their times and text; with `count=1` the frame alone, larger. Use
    it to check what is seen before you claim it. At most 8 frames a call, at most 768 pixels wide.
    """
    library = opened.library
    video_id, start, end = _window(library, citation, video, start, end)
    times = sheet_times(start, end, count)
    side = WIDEST if count == 1 else SHEET_SIDE
    images = opened.service.media.frames(servable(library, video_id), times, side)
    title = excerpt(known_video(library, video_id).title, LONGEST_TEXT)
    from PIL import Image

    if count == 1:
        image = Image.fromarray(images[0])
    else:
        evidence = tuple(library.engine.reader.evidence(video_id, start, end))[:MOST_FRAMES]
        image = contact_sheet(title, span(start, end), Frames(np.array(times), images), evidence)
    image.thumbnail((WIDEST, WIDEST))
    seconds = [round(time, 3) for time in times]
    shape = {"video_id": video_id, "title": title, "start": start, "end": end, "times": seconds}
    return shape, jpeg(np.asarray(image))


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
        raise UsageError(
            f"the window must begin before it ends, inside the video, which is {video.duration:g} s long"
        )
    if video.height == 0:
        raise UsageError("this file has sound only, so it has no frames; read_transcript reads it")
    return video.video_id, start, end
