"""`rag index`: index folders and files, or estimate what that would take."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import rag
from corpora.escaping import visible
from corpora.kinds import lines_on_ignored, why_ignored
from rag._cli.options import argument, option
from rag._cli.output import echo_stderr, run_as_job
from rag._cli.session import Session, given_path, with_session
from rag.errors import UsageError
from rag.rendering.terminal import byte_count, counted, duration, problem_line

if TYPE_CHECKING:
    from corpora.settings import ScanSettings
    from rag._cli.progress import ProgressDisplay
    from rag.indexing.report import IndexReport


def _given_shard(text: str) -> str:
    """An empty one is refused: it would stand for all files."""
    if not text:
        raise typer.BadParameter("a shard is empty; a shell variable may be unset")
    return text


Include = Annotated[list[str] | None, option("--include GLOB", "Only files that match; may be repeated.")]
Exclude = Annotated[list[str] | None, option("--exclude GLOB", "Skip files that match; may be repeated.")]
ShardOption = Annotated[
    str | None,
    option(
        "--shard K/N",
        "Index only the K-th of N shares of the files: into a library of its own, for rag library merge.",
        parser=_given_shard,
    ),
]
PruneFlag = Annotated[
    bool,
    option(
        "--prune",
        "Remove files below PATH that no longer exist. Refused where more than half of its "
        "files are missing, as for a disk that is not mounted.",
    ),
]
PruneAllFlag = Annotated[
    bool, option("--prune-all", "Remove files below PATH that no longer exist, however many.")
]

MOST_NAMED = 5
"""An advised command names at most so many folders."""

Engine = Annotated[
    str | None,
    option(
        "--engine NAME",
        "What runs the workers: local, this process, or ray, a cluster of Ray. Default: local.",
    ),
]
Address = Annotated[
    str | None,
    option(
        "--address HOST:PORT",
        "A running cluster of Ray, or auto. Default: $RAY_ADDRESS, else one on this machine alone.",
    ),
]
Workers = Annotated[
    int | None, option("--workers N", "Workers. Default: as many as there is room for.", min=1)
]
WorkerCpus = Annotated[float | None, option("--worker-cpus N", "Cores of each worker. Default: 2.")]
WorkerGpus = Annotated[float | None, option("--worker-gpus N", "GPUs of each worker, as in 0.1. Default: 0.")]


@with_session(
    {
        "scan.include": "include",
        "scan.exclude": "exclude",
        "scan.shard": "shard",
        "cluster.engine": "engine",
        "cluster.address": "address",
        "cluster.workers": "workers",
        "cluster.worker_cpus": "worker_cpus",
        "cluster.worker_gpus": "worker_gpus",
    }
)
def index(
    session: Session,
    paths: Annotated[
        list[Path] | None,
        argument(
            "PATH",
            "Folders and files to index, or addresses like s3://bucket/videos.",
            show_default=False,
            parser=given_path,
        ),
    ] = None,
    include: Include = None,  # noqa: ARG001 (in the session's settings)
    exclude: Exclude = None,  # noqa: ARG001 (in the session's settings)
    shard: ShardOption = None,  # noqa: ARG001 (in the session's settings)
    limit: Annotated[
        int | None, option("--limit N", "Index at most N new files in this run, in path order.", min=1)
    ] = None,
    dry_run: Annotated[
        bool,
        option(
            "--dry-run",
            "Show what would be done, how long it would take and how large it would be; change nothing.",
        ),
    ] = False,
    engine: Engine = None,  # noqa: ARG001 (in the session's settings)
    address: Address = None,  # noqa: ARG001 (in the session's settings)
    workers: Workers = None,  # noqa: ARG001 (in the session's settings)
    worker_cpus: WorkerCpus = None,  # noqa: ARG001 (in the session's settings)
    worker_gpus: WorkerGpus = None,  # noqa: ARG001 (in the session's settings)
    reembed: Annotated[
        bool, option("--reembed", "Recompute all image embeddings; recognized text and speech are kept.")
    ] = False,
    prune: PruneFlag = False,
    prune_all: PruneAllFlag = False,
    events: Annotated[bool, option("--events", "Progress as JSON lines on stderr.", hidden=True)] = False,
) -> int:
    """Index videos and documents. Unchanged files are skipped, interrupted runs are resumed."""
    from rag._cli.progress import open_progress

    if not paths:
        raise UsageError("name the folders and files to index")
    # Before torch reads it: its threads wait for each other spinning, on processors that decoding could use.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # As an interrupt: what is finished is committed first.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if events:
        run_as_job()
    with open_progress(events=events) as progress:
        try:
            report = rag.Library.index(
                [os.fsdecode(path) for path in paths],
                settings=session.settings,
                reembed=reembed,
                prune="all" if prune_all else prune,
                dry_run=dry_run,
                progress=progress,
                limit=limit,
            )
        except KeyboardInterrupt as interrupt:
            if not (dry_run or events):
                kept = str(interrupt) or "what is committed is kept"
                echo_stderr(f"rag: {kept}; run the same command again to index the rest")
            raise
    if not events:
        _report_problems(report, progress)
    nothing = not (report.files_found or report.removed)
    if nothing:
        _report_nothing(report, paths, session.settings.scan)
    named = session.settings.library
    lines = () if nothing and not report.missing else summary_lines(report, progress.printed, named, paths)
    session.report("rag.index/1", report, lines)
    return report.exit_code


def _report_nothing(report: IndexReport, paths: Sequence[Path], chosen: ScanSettings) -> None:
    """No file can be indexed; some that are there, and why they are not."""
    named = ", ".join(map(os.fsdecode, paths))
    if report.other_shards:
        there = counted(report.other_shards, "file")
        echo_stderr(f"rag: shard {chosen.shard} of {named} has no file; the other shards have {there}")
        return
    if report.not_included:
        there, globs = counted(report.not_included, "indexable file"), shlex.join(chosen.include)
        echo_stderr(f"rag: of {there} in {named} none matches --include {globs}")
        return
    echo_stderr(f"rag: no indexable file in {named}")
    for path in report.ignored_files:
        if not lines_on_ignored([path]):
            echo_stderr(f"rag: {visible(path)}: ignored: {why_ignored(path)}")
    if more := report.ignored - len(report.ignored_files):
        echo_stderr(f"rag: {more} more ignored; -v names them")


def _report_problems(report: IndexReport, progress: ProgressDisplay) -> None:
    """One line per bad file, but for those that were reported during the run, and for many of one kind.

    And one per kind of file that is to be saved as another.
    """
    for problem in report.problems:
        if progress.is_new(problem):
            echo_stderr(problem_line(problem))
    for line in progress.unnamed_problems():
        echo_stderr(visible(line))
    for line in report.unread:
        echo_stderr(f"rag: {visible(line)}")


def summary_lines(
    report: IndexReport,
    printed: Sequence[str] = (),
    library: Path | str | None = None,
    folders: Sequence[Path] = (),
) -> Iterator[str]:
    """The run in a few lines, without those that were printed during it.

    `library` and `folders`: as the user named them.
    """
    named = f" --library {shlex.quote(str(library))}" if library else ""
    if report.forecast is not None:
        ahead = report.forecast
        yield (
            f"would index {counted(ahead.new_files, 'file')} with {duration(ahead.media_seconds)} of media: "
            f"about {duration(ahead.seconds)} on two idle cores, about {byte_count(ahead.bytes)} on disk, "
            f"in the library {visible(report.library)}"
        )
    elif report.reembedded and not report.indexed:
        yield (
            f"encoded the images of {counted(report.reembedded, 'video')} again in "
            f"{duration(report.seconds)}; "
            f"the library {visible(report.library)} has {byte_count(report.bytes)}"
        )
    else:
        yield (
            f"indexed {counted(report.indexed, 'file')} in {duration(report.seconds)}: "
            f"{duration(report.video_seconds)} of media, {counted(report.clips, 'clip')}, "
            f"{counted(report.passages, 'passage')}; "
            f"the library {visible(report.library)} has {byte_count(report.bytes)}"
        )
    ignored = report.ignored_files
    said = sum(any(line.startswith(f"{path}: ") for line in report.unread) for path in ignored)
    counts = {
        "found": report.files_found,
        "of other shards": report.other_shards,
        "not included": report.not_included,
        "unchanged": report.unchanged,
        "moved or copied": report.moved,
        "copies of others": report.copies,
        "missing": report.missing,
        "removed": report.removed,
        "ignored" if said == report.ignored else "ignored (-v names them)": report.ignored,
        "with problems": len(report.problems),
    }
    yield "files: " + ", ".join(
        f"{count} {name}" for name, count in counts.items() if count or name == "found"
    )
    if report.missing:
        roots = shlex.join(map(os.fsdecode, folders)) if 0 < len(folders) <= MOST_NAMED else "FOLDER"
        yield visible(f"missing files stay in the library; to remove them: rag index {roots} --prune{named}")
    for line in report.stages:
        if line not in printed:
            yield visible(line)
