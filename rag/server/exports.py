"""`/v1/exports`: selected windows as a file for an editing program."""

from __future__ import annotations

import shutil
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import FailFast, Field
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from corpora.file_names import output_stem
from rag.errors import UsageError
from rag.export.found import select_of
from rag.export.records import Exported, FormatName, Select
from rag.export.writing import FORMATS, render_export
from rag.library import Library
from rag.records import VideoCitation
from rag.rendering.shapes import plain, to_json
from rag.server.library_routes import known_video
from rag.server.media import servable
from rag.server.problems import WINDOW, problems
from rag.server.questions import Body
from rag.server.service import Served, Service

router = APIRouter(prefix="/v1", tags=["exports"])

MOST_SELECTS = 500
LONGEST_CLIPS = 1800.0
"""Seconds of clips that one request makes, handles included."""
LONGEST_HANDLES = 60.0
FILE = "selects"
MOST_NOTES = 20
Line = Annotated[str, Field(max_length=10_000)]


class Window(Body):
    """A window by its citation, and what an editor sees of it."""

    citation: str = Field(pattern=WINDOW, description="VIDEO_ID@START-END.")
    name: Line = Field("", description="Name of its clip and marker; default: the query or the file's name.")
    note: Line = Field("", description="The note of its marker; default: the evidence.")
    query: Line = ""
    score: Annotated[float, Field(allow_inf_nan=False)] | None = None


class ExportBody(Body):
    """What is exported, in the order of the timeline."""

    format: FormatName
    selects: Annotated[list[Window], FailFast(), Field(min_length=1, max_length=MOST_SELECTS)]
    handles: float = Field(0.0, ge=0, le=LONGEST_HANDLES, description="Seconds before and after each window.")
    title: Annotated[str, Field(max_length=200)] = ""


@router.post(
    "/exports",
    responses={
        200: {
            "description": "The file",
            "content": {kind: {} for kind in sorted({row.media_type for row in FORMATS.values()})},
        },
        **problems(404),
    },
    response_class=Response,
)
async def exports(request: Request, service: Served, body: ExportBody) -> Response:
    """Windows as a timeline, markers, a table, chapters, or an archive of clips, to download."""
    with service.question() as stopped:
        making = service.in_media_thread(_make, service, body, stopped)
        folder, done = await service.while_connected(request, making)
    row = FORMATS[body.format]
    headers = {
        "Cache-Control": "no-store",
        "Rag-Export": to_json(plain({**plain(done), "notes": done.notes[:MOST_NOTES]})),
    }
    return FileResponse(
        Path(folder.name, FILE),
        filename=f"{output_stem(body.title) or FILE}{row.suffix}",
        media_type=row.media_type,
        headers=headers,
        background=BackgroundTask(folder.cleanup),
    )


def _make(
    service: Service, body: ExportBody, stopped: threading.Event
) -> tuple[tempfile.TemporaryDirectory[str], Exported]:
    """A folder with the file, which vanishes when it is cleaned up or forgotten."""
    with service.library() as library:
        selects = [_select(library, window) for window in body.selects]
    seconds = sum(select.end - select.start + 2 * body.handles for select in selects)
    if body.format == "clips" and seconds > LONGEST_CLIPS:
        raise UsageError(f"clips of {seconds:.0f} s; at most {LONGEST_CLIPS:.0f} s are made at once")
    ids = {select.path: select.video_id for select in selects}

    def cut(path: str, start: float, end: float, out: Path) -> None:
        shutil.copyfile(service.media.clip(path, ids[path], start, end, stopped), out)

    folder = tempfile.TemporaryDirectory(prefix="rag-export-")
    try:
        with Path(folder.name, FILE).open("wb") as stream:
            done = render_export(
                selects,
                body.format,
                stream,
                title=body.title,
                handles=body.handles,
                cutter=cut,
                storage=service.settings.storage,
            )
    except BaseException:
        folder.cleanup()
        raise
    return folder, done


def _select(library: Library, window: Window) -> Select:
    video_id, _, span = window.citation.rpartition("@")
    start, end = map(float, span.split("-"))
    known_video(library, video_id)
    evidence = tuple(library.engine.reader.evidence(video_id, start, end)) if start < end else ()
    found = select_of(VideoCitation(servable(library, video_id), video_id, start, end, 0.0, evidence))
    return replace(found, name=window.name, note=window.note, query=window.query, score=window.score)
