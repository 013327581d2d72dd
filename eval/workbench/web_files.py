"""The Workbench web on disk: `web.jsonl` and `pages.jsonl` as `rag.web` reads them, and the videos they name.

web.jsonl, pages.jsonl     written last
videos/*.mp4               each video once, however many uploads show it
.workbench/events.jsonl    what happens in each video; `uploads.jsonl`: who shows it, and the truth of it
.workbench/manifest.json   marks the folder as a Workbench one, so that `auto` takes the bundled encoder
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from corpora.identity import content_hash
from corpora.outputs import OverwritePolicy
from eval.workbench.corpus import (
    RECORD,
    Progress,
    claimed,
    read_marker,
    render_missing,
    write_lines,
    write_marker,
)
from eval.workbench.jobs import Job, truth
from eval.workbench.recording import recorded_fields
from eval.workbench.web import HOST, Upload, WebPage, WebPlan, plan_pages, plan_web
from rag.errors import UsageError


@dataclass(frozen=True, slots=True)
class WebReport:
    """What a web holds, and what one run made of it."""

    folder: str
    uploads: int
    pages: int
    videos: int
    """Files; several uploads may show one."""
    made: int
    """Videos of this run; the others were there already."""
    seconds: float
    """Of media in all videos."""
    bytes: int


def make_web(
    folder: str | os.PathLike[str],
    plan: WebPlan,
    *,
    inserted: Sequence[Upload] = (),
    pages: Sequence[WebPage] = (),
    workers: int = 2,
    progress: Progress | None = None,
    policy: OverwritePolicy | None = None,
) -> WebReport:
    """Write the web of `plan` into `folder`, with uploads and pages beside its own.

    It can be killed at any moment, and the same call goes on. Raises `UsageError` where the folder holds
    something else or two uploads share an id, `RagError` where it cannot be written.
    """
    home = Path(folder).absolute()
    uploads = [*plan_web(plan), *inserted]
    texts = [*plan_pages(), *pages]
    if len({upload.id for upload in uploads}) < len(uploads):
        raise UsageError("two uploads of the web share an id")
    arguments, rounds = _arguments(plan, inserted, pages), _videos(uploads)
    with claimed(home, arguments, policy) as hidden:
        lines, made = render_missing(home, rounds, workers, progress)
        if made or not read_marker(home) or not (home / "web.jsonl").exists():
            write_lines(hidden / "events.jsonl", (truth(job) for jobs in rounds for job in jobs))
            write_lines(hidden / "uploads.jsonl", map(_ground_truth, uploads))
            write_marker(home, {**arguments, "videos": lines})
            (hidden / RECORD).unlink(missing_ok=True)
            write_lines(home / "pages.jsonl", map(_page, sorted(texts, key=lambda page: page.id)))
            write_lines(home / "web.jsonl", _rows(home / "videos", uploads, lines))
    return WebReport(
        folder=os.fspath(folder),
        uploads=len(uploads),
        pages=len(texts),
        videos=len(lines),
        made=made,
        seconds=round(sum(line["duration"] for line in lines), 3),
        bytes=sum(line["bytes"] for line in lines),
    )


def _arguments(plan: WebPlan, inserted: Sequence[Upload], pages: Sequence[WebPage]) -> dict[str, Any]:
    """The content of plan.json; inserted uploads and pages are in it as a hash."""
    added = json.dumps(recorded_fields([inserted, pages]), default=str)
    return {
        **recorded_fields(plan),
        "kind": "web",
        "planted": hashlib.sha256(added.encode()).hexdigest()[:16],
    }


def _videos(uploads: Iterable[Upload]) -> tuple[list[Job], list[Job]]:
    """Every video once, then the near-duplicates, which need them; dead and private links have no file."""
    wanted = {
        upload.video.name: upload.video
        for upload in uploads
        if upload.availability not in ("dead", "private")
    }
    for job in list(wanted.values()):
        if job.original is not None:
            wanted[job.original.name] = job.original
    videos = sorted(wanted.values(), key=lambda job: job.name)
    return [job for job in videos if job.original is None], [
        job for job in videos if job.original is not None
    ]


def _ground_truth(upload: Upload) -> dict[str, Any]:
    return {
        "id": upload.id,
        "file": upload.video.name,
        "alias_of": upload.alias_of,
        "availability": upload.availability,
        "copy": upload.video.kind == "copy",
    }


def _page(page: WebPage) -> dict[str, Any]:
    return {**asdict(page), "site": page.url.split("/")[2]}


def _rows(
    video_folder: Path, uploads: Iterable[Upload], lines: Iterable[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    files = {
        line["name"]: {
            "file": f"videos/{line['name']}",
            "content_id": content_hash(video_folder / line["name"]),
            "duration": line["duration"],
        }
        for line in lines
    }
    for upload in sorted(uploads, key=lambda upload: upload.id):
        yield _row(upload) | files.get(upload.video.name, {})


def _row(upload: Upload) -> dict[str, Any]:
    words, video = upload.metadata, upload.video
    speed = video.change.speed if video.change is not None else 1.0
    row: dict[str, Any] = {
        "id": upload.id,
        "url": upload.url,
        "title": words.title,
        "description": words.description,
        "channel": words.channel,
        "upload_date": upload.upload_date.isoformat(),
        "duration": round(video.seconds / speed, 1),
        "tags": list(words.tags),
        "thumbnail": f"{HOST}/thumbnails/{upload.id}.jpg",
        "language": "en",
        "availability": upload.availability,
    }
    if upload.lines:
        row["transcript"] = [
            {"start": round(line.start / speed, 2), "end": round(line.end / speed, 2), "text": line.text}
            for line in upload.lines
        ]
    if upload.alias_of:
        row["alias_of"] = upload.alias_of
    return row
