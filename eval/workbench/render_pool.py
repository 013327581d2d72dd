"""Worker processes that render videos side by side; each holds one video at a time, so memory is bounded.

`python -m eval.workbench.render_pool VIDEOS` is one worker: it reads jobs from stdin, one a line, and
writes its progress to stdout.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from corpora.errors import os_reason
from eval.workbench.jobs import Job, render_job
from eval.workbench.shot_videos import ShotJob
from rag.errors import RagError

_ROOT = Path(__file__).resolve().parents[2]
_Message = tuple[Job | None, dict[str, Any]]


def render_jobs(
    video_folder: Path, jobs: Sequence[Job], workers: int, advance: Callable[[float], None]
) -> Iterator[tuple[Job, dict[str, Any]]]:
    """Each video as it is finished, with its manifest line; `workers` of 1 means in this process.

    Raises `RagError` where a video cannot be written or a worker dies. However this ends, no worker
    outlives it, and none outlives this process.
    """
    if workers <= 1 or len(jobs) <= 1:
        yield from ((job, render_job(video_folder, job, advance)) for job in jobs)
        return
    todo, messages = iter(jobs), queue.SimpleQueue[_Message]()
    lock = threading.Lock()
    children = [_start(video_folder) for _ in range(min(workers, len(jobs)))]
    feeders = [
        threading.Thread(target=_feed, args=(child, todo, lock, messages), daemon=True) for child in children
    ]
    try:
        for feeder in feeders:
            feeder.start()
        left = len(jobs)
        while left:
            job, message = messages.get()
            if "seconds" in message:
                advance(message["seconds"])
            elif "made" in message and job is not None:
                left -= 1
                yield job, message["made"]
            elif "bug" in message:
                raise RuntimeError(f"a video could not be rendered\n{message['bug']}")
            else:
                raise RagError(message["problem"])
    finally:
        for child in children:
            child.kill()
            child.wait()
        for feeder in feeders:
            feeder.join()
        for child in children:
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()


def _start(video_folder: Path) -> subprocess.Popen[str]:
    # The child must find the same packages as this process, wherever that was started.
    paths = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-X", "utf8", "-m", "eval.workbench.render_pool", str(video_folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": paths},
    )


def _feed(
    child: subprocess.Popen[str],
    todo: Iterator[Job],
    lock: threading.Lock,
    messages: queue.SimpleQueue[_Message],
) -> None:
    """One job after the other to one child, and what it says about each into the queue."""
    assert child.stdin is not None
    assert child.stdout is not None
    while True:
        with lock:
            job = next(todo, None)
        if job is None:
            return
        try:
            child.stdin.write(json.dumps(asdict(job)) + "\n")
            child.stdin.flush()
        except OSError:
            messages.put((None, _death(child)))
            return
        for line in child.stdout:
            message = json.loads(line)
            messages.put((job, message))
            if "seconds" not in message:
                break
        else:
            messages.put((None, _death(child)))
            return


def _death(child: subprocess.Popen[str]) -> dict[str, Any]:
    code = child.wait()
    return {
        "problem": f"a worker process ended unexpectedly (exit code {code}; memory?): "
        "the same command goes on where this one stopped"
    }


def as_job(fields: Mapping[str, Any]) -> Job:
    """The job that `dataclasses.asdict` took apart."""
    job: Job = TypeAdapter(ShotJob if "seeds" in fields else Job).validate_python(fields)
    return job


def main(video_folder: Path) -> None:
    """Serve jobs until stdin ends; an expected error becomes one line."""
    # An interrupt goes to the whole group; the parent decides what becomes of its children.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for line in sys.stdin:
            _serve(video_folder, as_job(json.loads(line)))
    except BrokenPipeError:
        # The parent is gone, and with it everyone who could want the video; nothing is left to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _serve(video_folder: Path, job: Job) -> None:
    try:
        made = render_job(video_folder, job, lambda seconds: _say({"seconds": seconds}))
    except BrokenPipeError:
        raise
    except RagError as error:
        _say({"problem": f"{job.name}: {error}"})
    except OSError as error:
        reason = os_reason(error)
        _say({"problem": f"{video_folder / job.name}: {reason}; the same command goes on from here"})
    except Exception:
        _say({"bug": traceback.format_exc()})
    else:
        _say({"made": made})


def _say(message: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
