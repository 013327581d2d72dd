"""Tools that index: `start_indexing`, `get_job`, `cancel_job`. Only below the folders of `--allow-index`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from rag.rendering.terminal import counted, duration
from rag.server.mcp.rows import Absent, Arguments, Reply, Row, call, cleaned, file_name, quoted
from rag.server.problems import Problem
from rag.server.service import Service

MOST_PROBLEMS = 10

JobId = Annotated[str, Field(min_length=1, max_length=64)]


class StartArguments(Arguments):
    """Of `start_indexing`."""

    folder: str = Field(
        min_length=1, max_length=4096, description="Absolute path of a folder or file that the user names."
    )
    dry_run: bool = Field(False, description="Only forecast how long it would take; nothing is indexed.")


class JobArguments(Arguments):
    """Of `get_job`."""

    job_id: JobId | Absent = Field(None, description="Default: the newest job.")


class CancelArguments(Arguments):
    """Of `cancel_job`."""

    job_id: JobId = Field(description="From start_indexing or get_job.")


class FileProblem(Row):
    """A file that could not be indexed, or not completely."""

    file: str
    reason: str


class JobResult(Row):
    """Of the three tools."""

    job_id: str
    kind: str
    state: str = Field(
        description="queued, running, cancelling; or how it ended: done, partial, failed, cancelled."
    )
    folder: str | Absent = None
    stage: str | Absent = None
    file: str | Absent = Field(None, description="That is being indexed.")
    media_seconds_done: float | Absent = None
    media_seconds_total: float | Absent = None
    documents_done: int | Absent = None
    documents_total: int | Absent = None
    eta_seconds: float | Absent = None
    forecast_seconds: float | Absent = Field(None, description="That indexing would take, of a dry run.")
    problem_count: int
    problems: list[FileProblem]
    error: str | Absent = None
    next: str | Absent = Field(None, description="The call that asks again; wait a few seconds before it.")


def start_indexing(service: Service, _: None, given: StartArguments) -> Reply:
    """A job that indexes a folder."""
    return job_reply(service.jobs.start_index(given.folder, dry_run=given.dry_run))


def get_job(service: Service, _: None, given: JobArguments) -> Reply:
    """How a job is doing."""
    if given.job_id is not None:
        return job_reply(service.jobs.get(given.job_id))
    jobs = service.jobs.all()
    if not jobs:
        raise Problem(404, "unknown-id", "there is no job yet")
    return job_reply(jobs[0])


def cancel_job(service: Service, _: None, given: CancelArguments) -> Reply:
    """A job whose work stops."""
    return job_reply(service.jobs.cancel(given.job_id))


def job_reply(shape: Mapping[str, Any]) -> Reply:
    """`rag.job/1` in a few rows."""
    progress, forecast = shape["progress"] or {}, shape["forecast"] or {}
    problems = [
        FileProblem(file=file_name(row["path"]), reason=cleaned(row["reason"]))
        for row in shape["problems"][:MOST_PROBLEMS]
    ]
    result = JobResult(
        job_id=shape["job_id"],
        kind=shape["kind"],
        state=shape["state"],
        folder=None if "folder" not in shape else cleaned(shape["folder"], 300),
        stage=progress.get("stage"),
        file=None if progress.get("file") is None else file_name(progress["file"]),
        media_seconds_done=progress.get("media_seconds_done"),
        media_seconds_total=progress.get("media_seconds_total"),
        documents_done=progress.get("documents_done"),
        documents_total=progress.get("documents_total"),
        eta_seconds=progress.get("eta_seconds"),
        forecast_seconds=forecast.get("seconds"),
        problem_count=shape["problem_count"],
        problems=problems,
        error=None if shape["error"] is None else cleaned(shape["error"], 1000),
    )
    if shape["state"] in ("queued", "running", "cancelling"):
        result.next = call("get_job", job_id=result.job_id)
    lines = [f"Job {result.job_id}: {result.state}"]
    if result.folder is not None:
        lines[0] += f", {quoted(result.folder, 300)}"
    if result.media_seconds_total:
        done, total = duration(result.media_seconds_done or 0), duration(result.media_seconds_total)
        lines.append(f"{done} of {total} of media")
    if result.documents_total:
        lines.append(f"{result.documents_done or 0} of {counted(result.documents_total, 'document')}")
    if result.eta_seconds is not None:
        lines.append(f"{duration(result.eta_seconds)} to go")
    if result.forecast_seconds is not None:
        lines.append(f"Indexing would take {duration(result.forecast_seconds)}")
    if result.problem_count:
        lines.append(f"{counted(result.problem_count, 'file')} with problems")
        lines += [f"{quoted(row.file)}: {quoted(row.reason)}" for row in problems]
    if result.error is not None:
        lines.append(f"Error: {quoted(result.error, 1000)}")
    if result.next is not None:
        lines.append(f"Ask again in a few seconds: {result.next}")
    return Reply(result, lines)
