"""`/v1/jobs`: start work, follow it, cancel it."""

from __future__ import annotations

import os
from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import Field, PlainValidator, WithJsonSchema
from starlette.responses import Response

from rag.server.jobs import Job, JobsDocument
from rag.server.problems import JOB_ID, Document, problems
from rag.server.questions import Body
from rag.server.service import Served

router = APIRouter(prefix="/v1", tags=["jobs"])

LONGEST_PATH = 4096


def _path(value: object) -> str:
    """A path as JSON has it: names that are not UTF-8 have surrogate escapes, which pydantic refuses."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_PATH:
        raise ValueError(f"give a path of at most {LONGEST_PATH} characters")
    return value


FolderPath = Annotated[
    str, PlainValidator(_path), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": LONGEST_PATH})
]
JobId = Annotated[str, Path(pattern=JOB_ID)]


class IndexJob(Body):
    """Index a folder or a file, or forecast that."""

    kind: Literal["index"]
    folder: Annotated[FolderPath, Field(description="An absolute path below one of the roots.")]
    dry_run: bool = Field(False, description="Only forecast what it would take.")
    prune: bool = Field(False, description="Also remove files below it that no longer exist.")


@router.get("/jobs", responses={200: {"model": JobsDocument}, **problems()})
def list_jobs(service: Served) -> Response:
    """All jobs, the newest first, and the roots below which a folder may be indexed."""
    roots = [os.fsdecode(root) for root in service.index_roots]
    return Document({"schema": "rag.jobs/1", "jobs": service.jobs.all(), "roots": roots})


@router.post("/jobs", status_code=202, responses={202: {"model": Job}, **problems(404, 429)})
def start_job(service: Served, body: IndexJob) -> Response:
    """A new job."""
    job = service.jobs.start_index(body.folder, dry_run=body.dry_run, prune=body.prune)
    return Document(job, 202, {"Location": f"/v1/jobs/{job['job_id']}"})


@router.get("/jobs/{job_id}", responses={200: {"model": Job}, **problems(404)})
def show_job(service: Served, job_id: JobId) -> Response:
    """One job."""
    return Document(service.jobs.get(job_id))


@router.delete("/jobs/{job_id}", responses={200: {"model": Job}, **problems(404)})
def cancel_job(service: Served, job_id: JobId) -> Response:
    """Cancel a job; one that has ended stays as it is."""
    return Document(service.jobs.cancel(job_id))
