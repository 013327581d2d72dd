"""Tools that read what is stored of videos: `read_transcript`, `list_videos`, `describe_video`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from pydantic import Field

from corpora.records import SPOKEN, EvidenceKind, kind_name
from rag.library import Library
from rag.records import span_name
from rag.rendering.shapes import evidence_shape
from rag.rendering.terminal import counted, duration
from rag.server import library_routes
from rag.server.health import has_images
from rag.server.mcp.rows import (
    Absent,
    Arguments,
    Quote,
    Reply,
    Row,
    Seconds,
    Video,
    call,
    cleaned,
    file_name,
    fitting,
    following,
    quote_row,
    quoted,
    stated,
    video_of,
)
from rag.server.service import Service

LONGEST_LINE = 1_000
MOST_CHAPTERS = 15
MOST_COPIES = 5


class TranscriptArguments(Arguments):
    """Of `read_transcript`."""

    video: Video
    start: float = Field(0, ge=0, allow_inf_nan=False, description="Seconds to read from.")
    end: Seconds = Field(None, description="Seconds to read up to; default the end of the video.")
    kind: Literal["speech", "screen", "chapters", "all"] = Field(
        "speech",
        description="Subtitles and recognized speech; text on screen; chapter titles; or all of them.",
    )
    skip: int = Field(0, ge=0, description="Lines to leave out from the first: pass what `next` names.")


KINDS: dict[str, tuple[str, ...]] = {
    "speech": SPOKEN,
    "screen": ("ocr",),
    "chapters": ("chapter",),
    "all": get_args(EvidenceKind),
}


class TranscriptResult(Row):
    """Of `read_transcript`."""

    video_id: str
    lines: list[Quote]
    truncated: bool
    next: str | Absent = Field(None, description="The call with the lines that follow.")


def read_transcript(_: Service, library: Library, given: TranscriptArguments) -> Reply:
    """Text of a video in order of time."""
    video = library_routes.known_video(library, video_of(library, given.video))
    spans = library_routes.spans_of(library, video, KINDS[given.kind], given.start, given.end)
    rows = [quote_row(evidence_shape(span), LONGEST_LINE) for span in spans[given.skip :]]
    shown = fitting(rows, transcript_line)
    again = given.model_dump(exclude_defaults=True) | {
        "video": video.video_id,
        "skip": given.skip + len(shown),
    }
    result = TranscriptResult(
        video_id=video.video_id,
        lines=shown,
        truncated=len(shown) < len(rows),
        next=call("read_transcript", **again) if len(shown) < len(rows) else None,
    )
    if not shown:
        have = ", ".join(sorted(library.engine.reader.evidence_kinds().get(video.video_id, ()))) or "none"
        return Reply(
            result, [f"No {given.kind} text between these times; kinds of text of this video: {have}."]
        )
    return Reply(result, [*map(transcript_line, shown), *following(result.next)])


def transcript_line(row: Quote) -> str:
    """`12.5-14 s recognized speech “...”`."""
    return f"{span_name(row.start, row.end)} s {kind_name(row.kind)} {quoted(row.quote, LONGEST_LINE)}"


class ListArguments(Arguments):
    """Of `list_videos`."""

    query: str = Field("", max_length=1000, description="Only videos whose title or path has these letters.")
    cursor: str | Absent = Field(None, max_length=10_000, description="From `next` of the page before.")
    limit: int = Field(25, ge=1, le=100, description="Most rows.")


class VideoRow(Row):
    """A video in a list."""

    video_id: str
    file: str
    title: str
    duration: float
    images: bool = Field(description="Whether it has images that can be searched.")
    text: list[EvidenceKind] = Field(description="Kinds of text that it has.")
    state: Literal["ok", "missing", "changed", "unreadable"]
    damage: str

    def line(self) -> str:
        """One line for readers."""
        known = ", ".join([*(["images"] if self.images else []), *self.text]) or "nothing"
        faults = "" if self.state == "ok" else stated(self.state)
        faults += f"; damage: {quoted(self.damage)}" if self.damage else ""
        return (
            f"{self.video_id}  {quoted(self.title or self.file)}  {duration(self.duration)}; {known}{faults}"
        )


class ListResult(Row):
    """Of `list_videos`."""

    total: int
    videos: list[VideoRow]
    problems: int = Field(description="Files that could not be indexed, or not completely.")
    next: str | Absent = Field(None, description="The call with the videos that follow.")


def list_videos(_: Service, library: Library, given: ListArguments) -> Reply:
    """Videos by path."""
    shape = library_routes.videos_shape(library, given.query, given.cursor, given.limit)
    searched = has_images(library)
    rows = [video_row(row, searched) for row in shape["videos"]]
    shown = fitting(rows, VideoRow.line)
    cursor = shape["next_cursor"]
    if len(shown) < len(rows):
        cursor = library_routes.videos_shape(library, given.query, given.cursor, len(shown))["next_cursor"]
    result = ListResult(
        total=shape["total"],
        videos=shown,
        problems=len(library.problems()),
        next=None
        if cursor is None
        else call("list_videos", query=given.query or None, cursor=cursor, limit=given.limit),
    )
    lines = [counted(result.total, "video")]
    if result.problems:
        lines.append(f"{counted(result.problems, 'file')} with problems")
    return Reply(result, [*lines, *map(VideoRow.line, shown), *following(result.next)])


def video_row(shape: Mapping[str, Any], searched: bool) -> VideoRow:
    """A row of `rag.videos/1`; `searched`: whether the library has an image encoder."""
    return VideoRow(
        video_id=shape["video_id"],
        file=file_name(shape["path"]),
        title=cleaned(shape["title"], 100),
        duration=shape["duration"],
        images=shape["height"] > 0 and searched,
        text=shape["evidence"],
        state=shape["state"],
        damage=cleaned(shape["damage"], 100),
    )


class DescribeArguments(Arguments):
    """Of `describe_video`."""

    video: Video
    skip: int = Field(0, ge=0, description="Shots to leave out from the first: pass what `next` names.")


class ShotRow(Row):
    """A shot as measured."""

    start: float
    end: float
    tone: str | Absent = None
    style: str | Absent = None


class CopyRow(Row):
    """Another video with the same content."""

    video_id: str
    file: str
    score: float


class DescribeResult(Row):
    """Of `describe_video`."""

    video: VideoRow
    width: int
    height: int
    description: str
    tags: list[str]
    chapters: list[Quote]
    copies: list[CopyRow]
    problems: list[str]
    shots: list[ShotRow]
    shots_total: int
    next: str | Absent = Field(None, description="The call with the shots that follow.")


def describe_video(_: Service, library: Library, given: DescribeArguments) -> Reply:
    """What is known about one video."""
    reader = library.engine.reader
    video = library_routes.known_video(library, video_of(library, given.video))
    video_id = video.video_id
    row = library_routes.video_row(library, video, reader.evidence_kinds())
    chapters = library_routes.spans_of(library, video, KINDS["chapters"])[:MOST_CHAPTERS]
    paths = set(row["paths"])
    shots = library.shots(video_id)[given.skip :]
    result = DescribeResult(
        video=video_row(row, has_images(library)),
        width=video.width,
        height=video.height,
        description=cleaned(video.description, 400),
        tags=[cleaned(tag, 40) for tag in video.tags[:10]],
        chapters=[quote_row(evidence_shape(chapter), 80) for chapter in chapters],
        copies=[
            CopyRow(video_id=copy.video_id, file=file_name(copy.path), score=copy.score)
            for copy in library.near_duplicates(video_id)[:MOST_COPIES]
        ],
        problems=[cleaned(each.reason) for each in library.problems() if each.path in paths][:MOST_COPIES],
        shots=[],
        shots_total=len(shots) + given.skip,
    )
    lines = [result.video.line(), f"{video.width} x {video.height} pixels, {result.shots_total} shots"]
    if result.description:
        lines.append(f"Description: {quoted(result.description, 400)}")
    lines += [f"Tag: {quoted(tag)}" for tag in result.tags]
    lines += [f"Chapter at {chapter.start:g} s: {quoted(chapter.quote)}" for chapter in result.chapters]
    lines += [f"Same content: {copy.video_id} {quoted(copy.file)}" for copy in result.copies]
    lines += [f"Problem: {quoted(problem)}" for problem in result.problems]
    rows = [ShotRow(start=each.start, end=each.end, tone=each.tone, style=each.style) for each in shots]
    result.shots = fitting(rows, shot_line, result.size())
    if len(result.shots) < len(rows):
        result.next = call("describe_video", video=video_id, skip=given.skip + len(result.shots))
    return Reply(result, [*lines, *map(shot_line, result.shots), *following(result.next)])


def shot_line(row: ShotRow) -> str:
    """`shot 12.5-17.5 s warm live`."""
    return " ".join([f"shot {span_name(row.start, row.end)} s", *filter(None, (row.tone, row.style))])


def transcript_text(library: Library, video_id: str, longest: int) -> str:
    """What is said in a video, a line each, in at most about `longest` characters."""
    video = library_routes.known_video(library, video_id)
    rows = [
        quote_row(evidence_shape(s), LONGEST_LINE)
        for s in library_routes.spans_of(library, video, KINDS["speech"])
    ]
    lines: list[str] = []
    for number, row in enumerate(rows):
        if sum(map(len, lines)) > longest:
            again = call("read_transcript", video=video_id, skip=number)
            return "\n".join([*lines, *following(again)])
        lines.append(transcript_line(row))
    return "\n".join(lines)
