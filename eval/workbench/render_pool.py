"""Worker processes that render videos side by side; each holds one video at a time, so memory is bounded."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for_end
from pathlib import Path
from typing import Any

from eval.workbench.jobs import Job, render_job
from rag.errors import RagError

POLL = 0.2
"""Seconds between two looks at the progress of the workers."""


def render_jobs(
    video_folder: Path, jobs: Sequence[Job], workers: int, advance: Callable[[float], None]
) -> Iterator[tuple[Job, dict[str, Any]]]:
    """Each video as it is finished, with its manifest line; `workers` of 1 means in this process.

    Raises `RagError` where a worker dies, and what `render_job` raises. However this ends, no worker
    outlives it, and none outlives this process.
    """
    if workers <= 1 or len(jobs) <= 1:
        yield from ((job, render_job(video_folder, job, advance)) for job in jobs)
        return
    context = multiprocessing.get_context("spawn")
    rendered, stopped = context.SimpleQueue(), context.Event()
    with ProcessPoolExecutor(min(workers, len(jobs)), context, _begin, (rendered, stopped)) as pool:
        try:
            todo = {pool.submit(_render, video_folder, job): job for job in jobs}
            while todo:
                done, _ = wait(todo, POLL, FIRST_COMPLETED)
                while not rendered.empty():
                    advance(rendered.get())
                for future in done:
                    yield todo.pop(future), future.result()
        except BrokenProcessPool as error:
            raise RagError(
                "a worker process ended unexpectedly (memory?): the same command goes on from here"
            ) from error
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


class _StoppedError(Exception):
    """Raised in a worker whose video nobody wants any more."""


_advance: Callable[[float], None]
"""A worker calls it with the seconds that it has rendered."""


def _begin(rendered: Any, stopped: Any) -> None:
    """Make this process a worker."""
    global _advance
    # An interrupt goes to the whole group; the parent decides what becomes of its children.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def advance(seconds: float) -> None:
        if stopped.is_set():
            raise _StoppedError
        rendered.put(seconds)

    _advance = advance


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker has a parent"
    wait_for_end([parent.sentinel])
    os._exit(1)


def _render(video_folder: Path, job: Job) -> dict[str, Any]:
    return render_job(video_folder, job, _advance)
