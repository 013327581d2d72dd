"""CPU-seconds of `rag index` for a minute of video, by stage, with the default senses.

    python -m benchmarks.indexing_cost --videos DIR

DIR is indexed into a library that is thrown away, after its smallest file was, which imports what is needed.
The functions of each stage are timed inside this one run, so the stages add up to all of it:

- decode: the subprocess that reads and decodes files.
- see: embedding of frames, by EfficientNet.
- read: text on screen, by RapidOCR.
- hear: speech, by Whisper.
- text: embedding of what was read and heard.
- measure: shots, sound by seconds, fingerprints.
- write: LanceDB, cutting into clips, and all that has no stage of its own.

What a run does once, however many videos there are, is stated for itself: it loads the models, and calibrates
the relevance scale.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.options import cpu, option_parser

STAGES = ("decode", "see", "read", "hear", "text", "measure", "write")


class Clock:
    """CPU-seconds of this process by stage; what one stage calls of another counts for that one."""

    def __init__(self) -> None:
        self.spent = defaultdict[str, float](float)
        self._open = ["write"]
        self._since = time.process_time()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count what happens in the block for a stage."""
        self._count()
        self._open.append(name)
        try:
            yield
        finally:
            self._count()
            self._open.pop()

    def _count(self) -> None:
        now = time.process_time()
        self.spent[self._open[-1]] += now - self._since
        self._since = now

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, whose calls count for a stage."""

        def call(*given: Any, **named: Any) -> Any:
            with self.stage(name):
                return function(*given, **named)

        return call

    def timed_items(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """As `timed`, of a function that gives an iterator: making each item counts."""

        def call(*given: Any, **named: Any) -> Iterator[Any]:
            items = function(*given, **named)
            while True:
                with self.stage(name):
                    try:
                        item = next(items)
                    except StopIteration:
                        return
                yield item

        return call


def index_timed(source: Path) -> dict[str, Any]:
    """Index a file or a folder with the default settings; what each stage took."""
    from indexers.soundtrack import SoundMeter
    from rag.indexing import index, media, pipeline
    from rag.indexing.stages import Stages
    from rag.settings import load_settings

    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        settings = load_settings().model_copy(update={"library": f"{scratch}/library"})
        clock, before, begun = Clock(), cpu(), time.monotonic()
        for owner, name, stage in (
            (Stages, "embed", "see"),
            (Stages, "read_keyframes", "read"),
            (Stages, "encode", "text"),
            (media, "measure_frames", "measure"),
            (SoundMeter, "feed", "measure"),
            (pipeline, "store_measures", "measure"),
            (pipeline, "select_encoders", "once"),
            (pipeline, "open_stages", "once"),
            (pipeline, "calibrate_scores", "once"),
        ):
            stack.enter_context(patch.object(owner, name, clock.timed(stage, getattr(owner, name))))
        heard = clock.timed_items("hear", Stages.transcribe)
        stack.enter_context(patch.object(Stages, "transcribe", heard))
        with clock.stage("write"):
            report = index(source, settings=settings)
        whole, wall = cpu() - before, time.monotonic() - begun
    minutes = report.video_seconds / 60
    if not minutes:
        raise SystemExit(f"{source}: no video could be indexed")
    once = clock.spent.pop("once")
    clock.spent["decode"] = whole - once - sum(clock.spent.values())
    return {
        "cpu_s_per_minute": {stage: round(clock.spent[stage] / minutes, 2) for stage in STAGES},
        "whole_cpu_s_per_minute": round((whole - once) / minutes, 2),
        "wall_s_per_minute": round(wall / minutes, 2),
        "once_cpu_s": round(once, 2),
        "videos": report.indexed,
        "minutes": round(minutes, 2),
        "senses": [line for line in report.stages if line.startswith("reads: ")],
    }


def main() -> None:
    """Print the processor time of indexing, by stage."""
    parser = option_parser(__doc__)
    parser.add_argument("--videos", type=Path, required=True, help="folder of videos, such as real clips")
    chosen = parser.parse_args()
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as `rag index` does
    index_timed(min(filter(Path.is_file, chosen.videos.rglob("*")), key=lambda file: file.stat().st_size))
    print(json.dumps(index_timed(chosen.videos), indent=2))


if __name__ == "__main__":
    main()
