"""A corpus of the synthetic world on disk: videos, and the truth in a folder that no index reads.

    videos/*.mp4               with an .info.json beside each video that has a title
    .workbench/plan.json       the arguments
    .workbench/events.jsonl    what happens in each video; written last

The same plan gives the same frames before encoding everywhere, and the same bytes with the same
build of FFmpeg on the same kind of processor (`eval.workbench.video`).
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from multiprocessing.connection import wait as wait_for_end
from pathlib import Path
from typing import Any

from corpora.outputs import DEFAULT_POLICY, atomic_file, atomic_write_text, check_output_folder, holds_files
from corpora.platforms import take_lock
from eval.resumable import map_os_errors
from eval.workbench.jobs import CorpusPlan, Job, render_job, truth, video_jobs
from rag.errors import RagError, UsageError

Say = Callable[[int, int], None]
"""Called with each video that is finished: how many there are, of how many."""


def render_jobs(video_folder: Path, jobs: Sequence[Job], workers: int) -> Iterator[None]:
    """Make the videos, and stop after each; `workers` of 1 means in this process.

    Raises `RagError` where a worker dies, and what `render_job` raises. However this ends, no worker
    outlives it, and none outlives this process.
    """
    if workers <= 1 or len(jobs) <= 1:
        for job in jobs:
            render_job(video_folder, job)
            yield
        return
    context = multiprocessing.get_context("spawn")
    stopped = context.Event()
    with ProcessPoolExecutor(min(workers, len(jobs)), context, _begin, (stopped,)) as pool:
        try:
            for done in as_completed([pool.submit(_render, video_folder, job) for job in jobs]):
                done.result()
                yield
        except BrokenProcessPool as error:
            raise RagError(
                "a worker process ended unexpectedly (memory?): run the same command again to continue"
            ) from error
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


_stopped: Any
"""Event of a worker whose videos nobody wants any more."""


def _begin(stopped: Any) -> None:
    """Make this process a worker."""
    global _stopped
    # An interrupt goes to the whole group; the parent decides what becomes of its children.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _stopped = stopped


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker has a parent"
    wait_for_end([parent.sentinel])
    os._exit(1)


def _render(video_folder: Path, job: Job) -> None:
    render_job(video_folder, job, _stopped.is_set)


HIDDEN = ".workbench"
"""Folder of plan and truth."""
EVENTS = "events.jsonl"


def make_corpus(
    folder: str | os.PathLike[str], plan: CorpusPlan, *, workers: int = 2, say: Say | None = None
) -> int:
    """Write the corpus of `plan` into `folder`, or what is still missing of it; gives how many videos were.

    It can be killed at any moment: finished videos are kept and the same call continues. Raises `UsageError`
    where the folder holds something else, `RagError` where it cannot be written.
    """
    home, jobs = Path(folder).absolute(), video_jobs(plan)
    wanted = asdict(plan, dict_factory=lambda held: {name: one for name, one in held if one is not None})
    with claimed(home, wanted) as hidden:
        made = render_missing(home, [jobs], workers, say)
        if made or not (hidden / EVENTS).is_file():
            write_lines(hidden / EVENTS, map(truth, jobs))
    return made


@contextlib.contextmanager
def claimed(home: Path, wanted: Mapping[str, Any]) -> Iterator[Path]:
    """The hidden folder of a corpus that is ours: what is not ours would pass for a Workbench video.

    `wanted`: the arguments. Raises `UsageError` where the folder holds something
    else, and `RagError` where another process makes the corpus or the disk does not take it. The lock goes
    when the process does.
    """
    hidden = home / HIDDEN
    path = hidden / "plan.json"
    with map_os_errors(home):
        if path.exists():
            _require_same(home, path, json.loads(json.dumps(wanted)))
        else:
            check_output_folder(home, DEFAULT_POLICY)
            hidden.mkdir(parents=True, exist_ok=True)
            atomic_write_text(path, json.dumps(wanted) + "\n")
        lock = take_lock(hidden / "lock")
        if lock is None:
            raise RagError(f"{home}: another process is making this corpus; try again when it is done")
        with lock:
            yield hidden


def _require_same(home: Path, path: Path, wanted: Mapping[str, Any]) -> None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        differing = [f"{key} {found.get(key)}" for key in wanted if found.get(key) != wanted[key]]
    except (ValueError, RecursionError, AttributeError):
        differing = ["not to be read"]
    if differing:
        raise UsageError(
            f"{home} holds a corpus made with other arguments ({', '.join(differing)}); choose another folder"
        )


def check_data_folder(folder: Path, part: str) -> None:
    """Raises `UsageError` where `folder` is neither new or empty nor has a Workbench corpus or web in `part`.

    For data that are generated beside it.
    """
    if not (folder / part / HIDDEN / "plan.json").is_file():
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{folder}: is a file; name a folder with --data DIR")
        if holds_files(folder):
            raise UsageError(f"{folder}: holds other files; name a new or empty folder with --data DIR")


def render_missing(home: Path, rounds: Sequence[Sequence[Job]], workers: int, say: Say | None) -> int:
    """Make the videos that are missing, those of a round before the next; gives how many they were.

    Only within `claimed`: half-written videos belong to no other process.
    """
    video_folder = home / "videos"
    video_folder.mkdir(exist_ok=True)
    for left in video_folder.glob(".*.mp4"):  # of a run that was killed
        left.unlink(missing_ok=True)
    missing = [[job for job in jobs if not (video_folder / job.name).exists()] for jobs in rounds]
    done = (None for jobs in missing for _ in render_jobs(video_folder, jobs, workers))
    for at, _ in enumerate(done, start=1):
        if say is not None:
            say(at, sum(map(len, missing)))
    return sum(map(len, missing))


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """JSON lines, whole or not at all."""
    with atomic_file(path) as draft, draft.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
