"""A corpus of the synthetic world on disk: videos, passages, and the truth in a folder that no index reads.

    videos/*.mp4               with an .info.json beside each video that has a title
    passages/*.md
    .workbench/plan.json       the arguments
    .workbench/films.jsonl     a line for each finished video, while the corpus is being made
    .workbench/events.jsonl    what happens in each video
    .workbench/manifest.json   written last: it marks the corpus as complete, and as a Workbench one

The same plan gives the same frames before encoding everywhere, and the same bytes with the same
build of FFmpeg on the same kind of processor (`eval.workbench.video`); `frames_sha256` of the
manifest is over the decoded frames.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from corpora.outputs import OverwritePolicy, atomic_file, atomic_write_text, check_output_folder, holds_files
from corpora.platforms import take_lock
from eval.resumable import map_os_errors
from eval.workbench.jobs import CorpusPlan, Job, truth, video_jobs
from eval.workbench.passages import WorldPassage, write_passages
from eval.workbench.recording import recorded_fields
from eval.workbench.render_pool import render_jobs
from eval.workbench.sound import find_voice
from rag.errors import RagError, UsageError

MANIFEST = Path(".workbench", "manifest.json")
VERSION = 1
ENCODER = "bundled"
"""Trained on these videos (`corpora.manifest` reads the recommendation)."""


def write_marker(folder: str | os.PathLike[str], content: Mapping[str, Any]) -> Path:
    """Write the manifest: `content`, `"workbench": 1` and the encoder; it appears whole or not at all."""
    path = Path(folder) / MANIFEST
    path.parent.mkdir(parents=True, exist_ok=True)
    marked = {"workbench": VERSION, "recommended_encoder": ENCODER, **content}
    atomic_write_text(path, json.dumps(marked, indent=1) + "\n")
    return path


def read_marker(folder: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The folder's own manifest; None where there is none that can be read."""
    try:
        content = json.loads((Path(folder) / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and content.get("workbench") == VERSION else None


class Progress(Protocol):
    """Receives the progress of rendering; seconds are seconds of media."""

    def start(self, total_seconds: float, total_files: int) -> None:
        """Called once, with what is left to render."""

    def file(self, path: str) -> None:
        """Called when a file is complete."""

    def advance(self, seconds: float) -> None:
        """Called with the seconds rendered since the last call."""


@dataclass(frozen=True, slots=True)
class CorpusReport:
    """What a corpus holds, and what one run made of it."""

    folder: str
    videos: int
    made: int
    """Videos of this run; the others were there already."""
    seconds: float
    """Of media in the whole corpus."""
    bytes: int
    """Of videos in the whole corpus."""
    passages: int
    voiced: bool
    """Whether the spoken lines have sound: only where `flite` is installed."""


def make_corpus(
    folder: str | os.PathLike[str],
    plan: CorpusPlan,
    *,
    workers: int = 2,
    progress: Progress | None = None,
    policy: OverwritePolicy | None = None,
    world: Sequence[WorldPassage] | None = None,
) -> CorpusReport:
    """Write the corpus of `plan` into `folder`, or what is still missing of it; `world`: passages, or all.

    It can be killed at any moment: finished videos are kept and the same call goes on. Raises
    `UsageError` where the folder holds something else, `RagError` where it cannot be written.
    """
    home = Path(folder).absolute()
    hidden, video_folder = home / MANIFEST.parent, home / "videos"
    with map_os_errors(home):
        claim_folder(home, hidden, recorded_fields(plan), policy)
        with exclusive(hidden):
            whole, made = _make(home, hidden, video_folder, plan, workers, progress, world)
    lines = whole["videos"]
    return CorpusReport(
        folder=os.fspath(folder),
        videos=len(lines),
        made=made,
        seconds=round(sum(line["duration"] for line in lines), 3),
        bytes=sum(line["bytes"] for line in lines),
        passages=whole["passages"],
        voiced=whole["voice"] is not None,
    )


def _make(
    home: Path,
    hidden: Path,
    video_folder: Path,
    plan: CorpusPlan,
    workers: int,
    progress: Progress | None,
    world: Sequence[WorldPassage] | None,
) -> tuple[dict[str, Any], int]:
    """The manifest of the corpus, whole, and how many videos were made."""
    video_folder.mkdir(exist_ok=True)
    videos, near_duplicates = video_jobs(plan)
    done = finished_videos(home, hidden, videos + near_duplicates)
    made = render_missing(hidden, video_folder, (videos, near_duplicates), done, workers, progress)
    passages, events = home / "passages", hidden / "events.jsonl"
    lines = [done[job.name] for job in videos + near_duplicates]
    whole = read_marker(home)
    complete = whole is not None and _is_complete(whole, lines)
    if whole is None or made or not complete or not (passages.is_dir() and events.is_file()):
        count = len(write_passages(passages, world))
        write_lines(events, (truth(job) for job in videos + near_duplicates))
        whole = {**recorded_fields(plan), "passages": count, "voice": _voice(lines), "videos": lines}
        write_marker(home, whole)
        (hidden / "films.jsonl").unlink(missing_ok=True)
    return whole, made


def _is_complete(whole: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a manifest has what it must; a damaged one is written again."""
    return whole.get("videos") == lines and isinstance(whole.get("passages"), int) and "voice" in whole


@contextlib.contextmanager
def exclusive(hidden: Path) -> Iterator[None]:
    """Hold the corpus for this process; raises `RagError` where another one makes it.

    The lock goes when the process does.
    """
    lock = take_lock(hidden / "lock")
    if lock is None:
        raise RagError(f"{hidden.parent}: another process is making this corpus; try again when it is done")
    with lock:
        yield


def claim_folder(
    home: Path, hidden: Path, wanted: Mapping[str, Any], policy: OverwritePolicy | None = None
) -> None:
    """Make the folder ours, or see that it is: what is not ours would pass for a Workbench video.

    `wanted`: the arguments, as JSON gives them back. Raises `UsageError`.
    """
    path = hidden / "plan.json"
    if path.exists():
        found = _read_plan(path)
        if found != wanted:
            differing = ", ".join(
                f"{key} {found.get(key)}" for key in wanted if found.get(key) != wanted[key]
            )
            raise UsageError(
                f"{home} holds a corpus made with other arguments ({differing}); choose another folder"
            )
        return
    check_output_folder(home, policy or OverwritePolicy())
    hidden.mkdir(parents=True, exist_ok=True)
    atomic_write_text(path, json.dumps(wanted) + "\n")


def check_data_folder(folder: Path, part: str) -> None:
    """Raises `UsageError` where `folder` is neither new or empty nor has a Workbench corpus or web in `part`.

    For data that are generated beside it.
    """
    if not (folder / part / MANIFEST.parent / "plan.json").is_file():
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{folder}: is a file; name a folder with --data DIR")
        if holds_files(folder):
            raise UsageError(f"{folder}: holds other files; name a new or empty folder with --data DIR")


def _read_plan(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {}


def finished_videos(home: Path, hidden: Path, jobs: Iterable[Job]) -> dict[str, dict[str, Any]]:
    """Manifest lines of the videos that are there whole, by name."""
    listed = (read_marker(home) or {}).get("videos")
    lines: list[Any] = list(listed) if isinstance(listed, list) else []
    record = hidden / "films.jsonl"
    if record.exists():
        for text in record.read_bytes().splitlines():
            try:
                lines.append(json.loads(text))
            except ValueError:  # the last line of a run that was killed
                continue
    names = {job.name for job in jobs}
    return {
        line["name"]: line
        for line in lines
        if _is_line(line) and line["name"] in names and _size(home / "videos" / line["name"]) == line["bytes"]
    }


def _is_line(line: Any) -> bool:
    """Whether it has the fields that `render_job` writes; a damaged line is made again."""
    return (
        isinstance(line, dict)
        and isinstance(line.get("name"), str)
        and isinstance(line.get("bytes"), int)
        and isinstance(line.get("duration"), int | float)
        and isinstance(line.get("voiced"), bool)
    )


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None


def render_missing(
    hidden: Path,
    video_folder: Path,
    rounds: tuple[list[Job], list[Job]],
    done: dict[str, dict[str, Any]],
    workers: int,
    progress: Progress | None,
) -> int:
    """Make what is not in `done` and put it there; returns how many videos that were.

    Only within `exclusive`: half-written videos in the folder belong to no other process.
    """
    for left in video_folder.glob(".*.mp4"):  # of a run that was killed
        left.unlink(missing_ok=True)
    missing = [[job for job in jobs if job.name not in done] for jobs in rounds]
    todo = [job for jobs in missing for job in jobs]
    if progress is not None:
        progress.start(sum(job.seconds for job in todo), len(todo))
    for jobs in missing:
        if not jobs:
            continue
        advance = progress.advance if progress else lambda _: None
        for job, line in render_jobs(video_folder, jobs, workers, advance):
            _append(hidden / "films.jsonl", line)
            done[job.name] = line
            if progress is not None:
                progress.file(str(video_folder / job.name))
    return len(todo)


def _append(path: Path, line: Mapping[str, Any]) -> None:
    """A line that is on the disk when this returns; a torn line before it is ended first."""
    torn = path.exists() and not path.read_bytes().endswith(b"\n")
    with path.open("a", encoding="utf-8") as file:
        file.write(("\n" if torn else "") + json.dumps(line) + "\n")
        file.flush()
        os.fsync(file.fileno())


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """JSON lines, whole or not at all."""
    with atomic_file(path) as draft, draft.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def _voice(lines: Iterable[Mapping[str, Any]]) -> str | None:
    """The program that voices the lines of long videos; None without one."""
    return "flite" if any(line["voiced"] for line in lines) and find_voice() else None
