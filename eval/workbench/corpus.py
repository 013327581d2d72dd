"""A corpus of the synthetic world on disk: videos, passages, and the truth in a folder that no index reads.

    videos/*.mp4               with an .info.json beside each video that has a title
    passages/*.md
    .workbench/plan.json       the arguments
    .workbench/films.jsonl     a line for each finished video, while the corpus is being made
    .workbench/events.jsonl    what happens in each video
    .workbench/manifest.json   written last: it marks the corpus as complete, and as a Workbench one

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
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for_end
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.outputs import DEFAULT_POLICY, atomic_file, atomic_write_text, check_output_folder, holds_files
from corpora.platforms import take_lock
from eval.resumable import map_os_errors, truncate_partial_line, whole_lines
from eval.workbench.jobs import CorpusPlan, Job, render_job, truth, video_jobs
from eval.workbench.passages import WorldPassage, world_passages, write_passages
from eval.workbench.recording import recorded_fields
from rag.errors import RagError, UsageError

if TYPE_CHECKING:
    from rag.indexing.report import Progress

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


MANIFEST = Path(".workbench", "manifest.json")
VERSION = 1
RECORD = "films.jsonl"
"""Manifest lines of finished videos, while the corpus is being made."""


def marked(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a manifest: `content` and `"workbench": 1`."""
    return {"workbench": VERSION, **content}


def write_marker(folder: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write the manifest with `content`; it appears whole or not at all."""
    path = Path(folder) / MANIFEST
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_text(path, json.dumps(marked(content), indent=1) + "\n")


def read_marker(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The folder's own manifest; empty where there is none that can be read."""
    content = _read(Path(folder) / MANIFEST)
    return content if content.get("workbench") == VERSION else {}


def _read(path: Path) -> dict[str, Any]:
    """A JSON object; empty where there is none that can be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def make_corpus(
    folder: str | os.PathLike[str],
    plan: CorpusPlan,
    *,
    workers: int = 2,
    progress: Progress | None = None,
    world: Sequence[WorldPassage] | None = None,
) -> int:
    """Write the corpus of `plan` into `folder`, or what is still missing of it; gives how many videos were.

    `world`: passages, or all. It can be killed at any moment: finished videos are kept and the same call goes
    on. Raises `UsageError` where the folder holds something else, `RagError` where it cannot be written.
    """
    home = Path(folder).absolute()
    passages = list(world_passages() if world is None else world)
    with claimed(home, recorded_fields(plan)) as hidden:
        lines, made = render_missing(home, video_jobs(plan), workers, progress)
        events, texts = hidden / "events.jsonl", home / "passages"
        whole = {**recorded_fields(plan), "passages": len(passages), "videos": lines}
        kept = read_marker(home) == json.loads(json.dumps(marked(whole)))
        if made or not (kept and texts.is_dir() and events.is_file()):
            write_passages(texts, passages)
            write_lines(events, (truth(job) for jobs in video_jobs(plan) for job in jobs))
            write_marker(home, whole)
            (hidden / RECORD).unlink(missing_ok=True)
    return made


@contextlib.contextmanager
def claimed(home: Path, wanted: Mapping[str, Any]) -> Iterator[Path]:
    """The hidden folder of a corpus that is ours: what is not ours would pass for a Workbench video.

    `wanted`: the arguments, as JSON gives them back. Raises `UsageError` where the folder holds something
    else, and `RagError` where another process makes the corpus or the disk does not take it. The lock goes
    when the process does.
    """
    hidden = home / MANIFEST.parent
    path = hidden / "plan.json"
    with map_os_errors(home):
        if path.exists():
            _require_same(home, _read(path), wanted)
        else:
            check_output_folder(home, DEFAULT_POLICY)
            hidden.mkdir(parents=True, exist_ok=True)
            atomic_write_text(path, json.dumps(wanted) + "\n")
        lock = take_lock(hidden / "lock")
        if lock is None:
            raise RagError(f"{home}: another process is making this corpus; try again when it is done")
        with lock:
            yield hidden


def _require_same(home: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    if found != wanted:
        differing = ", ".join(f"{key} {found.get(key)}" for key in wanted if found.get(key) != wanted[key])
        raise UsageError(
            f"{home} holds a corpus made with other arguments ({differing}); choose another folder"
        )


def check_data_folder(folder: Path, part: str) -> None:
    """Raises `UsageError` where `folder` is neither new or empty nor has a Workbench corpus or web in `part`.

    For data that are generated beside it.
    """
    if not (folder / part / MANIFEST.parent / "plan.json").is_file():
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{folder}: is a file; name a folder with --data DIR")
        if holds_files(folder):
            raise UsageError(f"{folder}: holds other files; name a new or empty folder with --data DIR")


def render_missing(
    home: Path, rounds: tuple[list[Job], list[Job]], workers: int, progress: Progress | None
) -> tuple[list[dict[str, Any]], int]:
    """The manifest lines of all videos, those of the second round last, and how many of them were missing.

    The missing ones are made. Only within `claimed`: half-written videos belong to no other process.
    """
    video_folder, record = home / "videos", home / MANIFEST.parent / RECORD
    video_folder.mkdir(exist_ok=True)
    for left in video_folder.glob(".*.mp4"):  # of a run that was killed
        left.unlink(missing_ok=True)
    truncate_partial_line(record)
    done = _finished(home, record)
    missing = [[job for job in jobs if job.name not in done] for jobs in rounds]
    todo = [job for jobs in missing for job in jobs]
    if progress is None:
        from rag.indexing.report import Progress  # with all of indexing, which no worker needs

        progress = Progress()
    progress.start(sum(job.seconds for job in todo), len(todo))
    for jobs in missing:
        for job, line in render_jobs(video_folder, jobs, workers, progress.advance):
            done[job.name] = line
            with record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            progress.file(str(video_folder / job.name))
    return [done[job.name] for jobs in rounds for job in jobs], len(todo)


def _finished(home: Path, record: Path) -> dict[str, dict[str, Any]]:
    """Manifest lines of the videos that are there whole, by name."""
    lines = [*read_marker(home).get("videos", ()), *map(json.loads, whole_lines(record).splitlines())]
    sizes = {path.name: path.stat().st_size for path in (home / "videos").iterdir()}
    return {line["name"]: line for line in lines if sizes.get(line["name"]) == line["bytes"]}


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """JSON lines, whole or not at all."""
    with atomic_file(path) as draft, draft.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
