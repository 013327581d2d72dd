"""What the library holds: health, videos, evidence, documents, citations, and files with problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Path, Query
from starlette.responses import FileResponse, Response
from typing_extensions import TypedDict

from corpora.globs import composed
from corpora.objects import is_url
from corpora.records import Evidence, EvidenceKind, Shot, SubtitleTrack, Video
from rag.errors import UsageError
from rag.library import Library
from rag.rendering.shapes import CitationItem, EvidenceItem, citation_shape, evidence_shape, report_shape
from rag.server.health import HealthDocument, health_of
from rag.server.problems import CITATION, VIDEO_ID, Document, Problem, problems, unknown_video
from rag.server.service import Served
from rag.store.lookup import best_state, content_states, file_statuses
from rag.store.records import FileRow, FileState, FileStatus, Stats

router = APIRouter(prefix="/v1", tags=["library"])

VideoId = Annotated[str, Path(pattern=VIDEO_ID, description="Id in a row of /v1/videos or in a result.")]
Cited = Annotated[str, Path(pattern=CITATION)]
Limit = Annotated[int, Query(ge=1, le=1000, description="Most rows of the answer.")]
Skip = Annotated[int, Query(ge=0, description="Rows to leave out from the first: `next` of the page before.")]
Text = Annotated[str, Query(max_length=1000, description="Only where the title or path has these letters.")]
T = TypeVar("T")


class VideoRow(TypedDict):
    """A video in a list."""

    video_id: str
    path: str
    paths: list[str]
    title: str
    duration: float
    fps: float
    width: int
    height: int
    audio: bool
    language: str
    subtitles: list[SubtitleTrack]
    damage: str
    evidence: list[EvidenceKind]
    state: FileState


class VideosDocument(TypedDict):
    """`rag.videos/1`."""

    schema: Literal["rag.videos/1"]
    videos: list[VideoRow]
    total: int
    next: int | None


SoundItem = TypedDict(
    "SoundItem", {"start": float, "end": float, "class": str | None, "loudness": float | None}
)


class ShotsDocument(TypedDict):
    """`rag.shots/1`."""

    schema: Literal["rag.shots/1"]
    path: str
    video_id: str
    width: int
    height: int
    shots: list[Shot]
    sound: list[SoundItem] | None


class EvidenceDocument(TypedDict):
    """`rag.evidence/1`."""

    schema: Literal["rag.evidence/1"]
    video_id: str
    evidence: list[EvidenceItem]
    next: int | None


class ShowDocument(TypedDict):
    """`rag.show/1`."""

    schema: Literal["rag.show/1"]
    citation: CitationItem


class FilesDocument(TypedDict):
    """`rag.files/1`."""

    schema: Literal["rag.files/1"]
    files: list[FileStatus]
    counts: dict[str, int]
    total: int
    next: int | None


@dataclass(frozen=True, kw_only=True)
class StatsDocument(Stats):
    """`rag.stats/1`."""

    schema: Literal["rag.stats/1"]


@router.get("/health", responses={200: {"model": HealthDocument}, **problems()})
async def health(service: Served) -> Response:
    """Whether the server answers, has its library open, and has its models loaded; 200 in any case."""
    return Document(health_of(service.session, indexing=bool(service.index_roots), models=service.models))


@router.get("/stats", responses={200: {"model": StatsDocument}, **problems()})
def stats(service: Served) -> Response:
    """Counts and size of the library."""
    with service.library() as library:
        return Document(report_shape("rag.stats/1", library.stats()))


@router.get("/videos", responses={200: {"model": VideosDocument}, **problems()})
def videos(service: Served, text: Text = "", skip: Skip = 0, limit: Limit = 100) -> Response:
    """Videos by path, with the state of their files; one with other sidecars than before is changed."""
    with service.library() as library:
        return Document(videos_shape(library, text, skip, limit))


@router.get("/videos/{video_id}/shots", responses={200: {"model": ShotsDocument}, **problems(404)})
def shots(service: Served, video_id: VideoId) -> Response:
    """The shots and the sound of a video as measured."""
    with service.library() as library:
        known_video(library, video_id)
        return Document(report_shape("rag.shots/1", library.measurements(video_id)))


@router.get("/videos/{video_id}/evidence", responses={200: {"model": EvidenceDocument}, **problems(404)})
def evidence(
    service: Served,
    video_id: VideoId,
    kind: Annotated[list[EvidenceKind] | None, Query(description="May be repeated.")] = None,
    start: Annotated[float, Query(ge=0, allow_inf_nan=False)] = 0.0,
    end: Annotated[float | None, Query(ge=0, allow_inf_nan=False)] = None,
    skip: Skip = 0,
    limit: Limit = 1000,
) -> Response:
    """Text of a video in order of time: subtitles, speech, on-screen text, chapters."""
    with service.library() as library:
        video = known_video(library, video_id)
        spans = spans_of(library, video, kind, start, end)
        rows, following = page_of(spans, skip, limit)
    shape = {"video_id": video_id, "evidence": list(map(evidence_shape, rows)), "next": following}
    return Document(report_shape("rag.evidence/1", shape))


@router.get("/citations/{citation}", responses={200: {"model": ShowDocument}, **problems(404)})
def citation(service: Served, citation: Cited) -> Response:
    """What a citation refers to: a window with its evidence, or a passage with its text."""
    name, at, _ = citation.rpartition("@")
    with service.library() as library:
        if at:
            known_video(library, name)
        try:
            found = library.resolve(citation)
        except UsageError as error:
            if at:
                raise
            raise Problem(404, "unknown-id", str(error)) from error
    return Document(report_shape("rag.show/1", {"citation": citation_shape(found)}))


Shown = Annotated[
    Literal["all", "indexed", "partly", "failed", "stale", "documents"],
    Query(
        description="Only files with this status; `stale`: not as they were indexed; `documents`: passages."
    ),
]


@router.get("/files", responses={200: {"model": FilesDocument}, **problems()})
def files(
    service: Served, text: Text = "", status: Shown = "all", skip: Skip = 0, limit: Limit = 100
) -> Response:
    """Every file by path: how much of it is indexed, why not all, and whether it is as it was then."""
    settings = service.settings
    with service.library() as library:
        reader = library.engine.reader
        found = file_statuses(reader, settings.storage, settings.scan, text)
        known = reader.file_rows() if status == "documents" else ()
    counts: dict[str, int] = dict(Counter(str(row.status) for row in found))
    counts["stale"] = sum(row.state not in (None, "ok") for row in found)
    if status == "documents":
        documents = {row.path for row in known if row.kind == "passages"}
        found = [row for row in found if row.path in documents]
    elif status == "stale":
        found = [row for row in found if row.state not in (None, "ok")]
    elif status != "all":
        found = [row for row in found if row.status == status]
    rows, following = page_of(found, skip, limit)
    shape = {"files": rows, "counts": counts, "total": len(found), "next": following}
    return Document(report_shape("rag.files/1", shape))


@router.get(
    "/citations/{citation}/document",
    responses={200: {"description": "The PDF file", "content": {"application/pdf": {}}}, **problems(404)},
    response_class=Response,
)
def cited_document(service: Served, citation: Cited) -> Response:
    """The PDF file that a passage is cited from: add `#page=N` to open it at a page."""
    with service.library() as library:
        try:
            (path,) = library.engine.reader.passage_paths([citation])
        except KeyError:
            raise Problem(404, "unknown-id", f"{citation}: no such passage in the library") from None
        state = library.stale_files([path]).get(path, "ok")
    # Any other kind could run scripts on the page's own address.
    if not path.lower().endswith(".pdf") or is_url(path):
        raise Problem(404, "not-found", f"{path}: only PDF files of this machine are opened")
    if state != "ok":
        kind, status = ("file-changed", 409) if state == "changed" else ("file-gone", 404)
        raise Problem(status, kind, f"{path}: the file is not as it was indexed")
    return FileResponse(path, media_type="application/pdf", headers={"Cache-Control": "private, no-cache"})


def known_video(library: Library, video_id: str) -> Video:
    """The video with this very id. Raises `Problem` where there is none."""
    try:
        return library.engine.reader.video(video_id)
    except KeyError:
        raise unknown_video(video_id) from None


def spans_of(
    library: Library, video: Video, kinds: Sequence[str] | None, start: float = 0.0, end: float | None = None
) -> list[Evidence]:
    """Evidence of a video that overlaps [start, end) seconds, in order of time; `kinds`: default all.

    Raises `UsageError` where it ends before it starts.
    """
    if end is not None and end <= start:
        raise UsageError("end is not after start")
    until = max(video.duration, start) + 1.0 if end is None else end
    found = library.engine.reader.evidence(video.video_id, start, until)
    return sorted((span for span in found if kinds is None or span.kind in kinds), key=_place)


def videos_shape(library: Library, text: str, skip: int, limit: int) -> dict[str, Any]:
    """`rag.videos/1`: at most `limit` videos with `text` in title or path, without the first `skip`."""
    reader = library.engine.reader
    found = [video for video in reader.videos() if _has(text, video.title, video.path)]
    rows, following = page_of(found, skip, limit)
    kinds = reader.evidence_kinds()
    files = [file for video in rows for file in reader.files_of(video.video_id)]
    states = _states(library, files)
    shape = {
        "videos": [video_row(library, video, kinds, states) for video in rows],
        "total": len(found),
        "next": following,
    }
    return report_shape("rag.videos/1", shape)


def video_row(
    library: Library,
    video: Video,
    kinds: Mapping[str, Iterable[str]],
    states: Mapping[str, FileState] | None = None,
) -> dict[str, Any]:
    """A row of `rag.videos/1`; `kinds`: of evidence, by video; `states`: of its paths, where known."""
    rows = library.engine.reader.files_of(video.video_id)
    states = _states(library, rows) if states is None else states
    return {
        "video_id": video.video_id,
        "path": library.path_of(video.video_id),
        "paths": [row.path for row in rows] or [video.path],
        "title": video.title,
        "duration": round(video.duration, 3),
        "fps": video.fps,
        "width": video.width,
        "height": video.height,
        "audio": video.audio,
        "language": video.language,
        "subtitles": video.subtitles,
        "damage": video.damage,
        "evidence": sorted(kinds.get(video.video_id, ())),
        "state": best_state(states[row.path] for row in rows),
    }


def page_of(rows: Sequence[T], skip: int, limit: int) -> tuple[Sequence[T], int | None]:
    """At most `limit` rows after the first `skip`, and the `skip` of those that follow; None: none do."""
    end = skip + limit
    return rows[skip:end], end if end < len(rows) else None


def _place(span: Evidence) -> tuple[float, float, str, str]:
    return span.start, span.end, span.kind, span.text


def _has(text: str, *fields: str) -> bool:
    wanted, *held = (composed(each).casefold() for each in (text, *fields))
    return any(wanted in field for field in held)


def _states(library: Library, rows: Iterable[FileRow]) -> dict[str, FileState]:
    return content_states(library.engine.reader, rows, library.settings.storage, library.settings.scan)
