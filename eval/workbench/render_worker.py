"""The process that makes videos: reads jobs from stdin, one a line, and says on stdout how far it is.

`python -m eval.workbench.render_worker VIDEOS`, started by `eval.workbench.render_pool`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval.workbench.jobs import CorpusPlan, Job, render_job
from eval.workbench.screen_text import Card
from eval.workbench.shot_videos import ShotJob
from eval.workbench.video import Render
from rag.errors import RagError


def as_job(fields: Mapping[str, Any]) -> Job:
    """The job that `dataclasses.asdict` took apart."""
    plan = fields["plan"]
    whole = CorpusPlan(
        **{**plan, "render": Render(**plan["render"]), "long_minutes": tuple(plan["long_minutes"])}
    )
    original = None if fields["original"] is None else as_job(fields["original"])
    cards = tuple(Card(**card) for card in fields["cards"])
    whole_fields = {**fields, "plan": whole, "original": original, "cards": cards}
    if "seeds" in fields:
        return ShotJob(**{**whole_fields, "seeds": tuple(fields["seeds"])})
    return Job(**whole_fields)


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
        reason = (error.strerror or str(error)).lower()
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
