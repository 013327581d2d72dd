"""A small web of the synthetic world: uploads with their metadata and availability, and pages of text.

web.jsonl, pages.jsonl     as `rag.web` reads them; written last
videos/*.mp4               each video once, however many uploads show it
.workbench/events.jsonl    what happens in each video

The uploads of a web are data of its benchmark: kept as they were drafted, with commit 0306c648.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from corpora.identity import content_hash
from eval.workbench.corpus import EVENTS, Say, claimed, render_missing, write_lines
from eval.workbench.jobs import Job, truth
from eval.workbench.passages import world_passages
from eval.workbench.seeds import stable_number
from eval.workbench.video import Line

HOST = "https://videos.example"
"""A name that can never be a real one (RFC 2606)."""
SITES = ("https://howto.example", "https://handbook.example", "https://allabout.example")
Availability = Literal["ok", "dead", "private", "region-blocked", "age-gated"]


@dataclass(frozen=True, slots=True)
class Upload:
    """One video of the web, as it will stand in the catalogue."""

    id: str
    """11 characters, as in `watch?v=ID`."""
    title: str
    description: str
    channel: str
    tags: tuple[str, ...]
    upload_date: str
    """YYYY-MM-DD."""
    video: Job
    """What is to be seen; several uploads may show one video."""
    alias_of: str = ""
    availability: Availability = "ok"
    lines: tuple[Line, ...] = ()
    """The transcript, in the seconds of the video or of that which it is a copy of; empty without one."""

    @property
    def url(self) -> str:
        """The address of its page."""
        return f"{HOST}/watch?v={self.id}"


def text_pages() -> list[dict[str, str]]:
    """The text web: the world's passages, each a page of one of a few sites, by their ids."""
    pages = []
    for passage in sorted(world_passages(), key=lambda passage: passage.passage_id):
        site = SITES[stable_number("site", passage.passage_id) % len(SITES)]
        page = {"id": passage.passage_id, "url": f"{site}/{passage.passage_id}", "title": passage.title}
        pages.append({**page, "content": passage.text, "site": site.removeprefix("https://")})
    return pages


def make_web(
    folder: str | os.PathLike[str], uploads: Sequence[Upload], *, workers: int = 2, say: Say | None = None
) -> int:
    """Write the web of `uploads` into `folder`; gives how many videos were missing.

    It can be killed at any moment, and the same call continues. Raises `UsageError` where the folder holds
    something else, `RagError` where it cannot be written.
    """
    home, rounds = Path(folder).absolute(), _videos(uploads)
    digest = hashlib.sha256(json.dumps([asdict(upload) for upload in uploads]).encode()).hexdigest()
    with claimed(home, {"kind": "web", "uploads": digest[:16]}) as hidden:
        made = render_missing(home, rounds, workers, say)
        if made or not (home / "web.jsonl").exists():
            write_lines(hidden / EVENTS, (truth(job) for jobs in rounds for job in jobs))
            write_lines(home / "pages.jsonl", text_pages())
            write_lines(home / "web.jsonl", _rows(home / "videos", uploads))
    return made


def _videos(uploads: Iterable[Upload]) -> tuple[list[Job], list[Job]]:
    """Every video once, then the near-duplicates, which need them; dead and private links have no file."""
    shown = [upload.video for upload in uploads if upload.availability not in ("dead", "private")]
    wanted = {job.name: job for video in shown for job in (video.original, video) if job is not None}
    videos = sorted(wanted.values(), key=lambda job: job.name)
    return [job for job in videos if job.original is None], [
        job for job in videos if job.original is not None
    ]


def _rows(video_folder: Path, uploads: Iterable[Upload]) -> Iterator[dict[str, Any]]:
    for upload in sorted(uploads, key=lambda upload: upload.id):
        row, job = _row(upload), upload.video
        if (path := video_folder / job.name).exists():
            row["file"] = f"videos/{job.name}"
            row["content_id"] = content_hash(path)
            row["duration"] = round(job.frames / job.plan.render.fps, 3)
        yield row


def _row(upload: Upload) -> dict[str, Any]:
    video, speed = upload.video, upload.video.speed
    row: dict[str, Any] = {
        "id": upload.id,
        "url": upload.url,
        "title": upload.title,
        "description": upload.description,
        "channel": upload.channel,
        "upload_date": upload.upload_date,
        "duration": round(video.seconds / speed, 1),
        "tags": list(upload.tags),
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
