"""Where a minute of video's and a question's time goes: one JSON file and one figure.

    python -m benchmarks.performance --videos DIR [--questions 40] [--out docs/reports/performance.json]
    python -m benchmarks.performance --draw docs/reports/performance.json

The videos of DIR are indexed with the default senses into a library that is thrown away, after its smallest
file was, which imports what is needed. CPU-seconds; the functions of each stage are timed inside this one
run, so the stages add up to all of it:

- decode: the subprocess that reads and decodes files.
- see: embedding of frames, by EfficientNet.
- read: text on screen, by RapidOCR.
- hear: speech, by Whisper.
- text: embedding of what was read and heard.
- measure: shots, sound by seconds, fingerprints.
- write: LanceDB, cutting into clips, and all that has no stage of its own.

What a run does once, however many videos there are, is stated for itself: it loads the models, and calibrates
the relevance scale.

The question has six options, and the library is that of 100 hours of `benchmarks.large_library`, where the
vector of a question in the space of images is given: milliseconds of wall time a stage of `Library.ask`,
medians.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from benchmarks.large_library import GivenTower, clip_queries, timed
from benchmarks.options import cpu, option_parser
from benchmarks.synthetic_library import SEED, build, questions
from corpora.outputs import atomic_file
from eval.reports.drawing import COLOURS, draw
from rag.answering import STAGES
from rag.store.layout import Layout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OPTIONS = 6
PALETTE = (*COLOURS, "#c9b458")
STAGES_OF_INDEXING = ("decode", "see", "read", "hear", "text", "measure", "write")


class Clock:
    """CPU-seconds of this process by stage; what one stage calls of another counts for that one, but for what
    is done once."""

    def __init__(self) -> None:
        self.spent = defaultdict[str, float](float)
        self._open = ["write"]
        self._since = time.process_time()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count what happens in the block for a stage."""
        self._count()
        self._open.append("once" if self._open[-1] == "once" else name)
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


def index_timed(source: Path) -> dict[str, Any]:
    """Index a file or a folder with the default settings; what each stage took."""
    from indexers.protocol import TextEncoder
    from indexers.soundtrack import SoundMeter
    from rag.indexing import index, media, pipeline
    from rag.indexing.stages import Stages
    from rag.settings import load_settings

    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        settings = load_settings().model_copy(update={"library": f"{scratch}/library"})
        clock, before, begun = Clock(), cpu(), time.monotonic()
        for owner, name, stage in (
            (media, "embed_clip", "see"),
            (Stages, "read_keyframes", "read"),
            (TextEncoder, "encode_text", "text"),
            (media, "measure_frames", "measure"),
            (SoundMeter, "feed", "measure"),
            (pipeline, "shots_of", "measure"),
            (pipeline, "select_encoders", "once"),
            (pipeline, "open_stages", "once"),
            (pipeline, "calibrate_scores", "once"),
        ):
            stack.enter_context(patch.object(owner, name, clock.timed(stage, getattr(owner, name))))
        hear = Stages.transcribe
        heard = clock.timed("hear", lambda *given: iter([*hear(*given)]))
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
        "cpu_s_per_minute": {stage: round(clock.spent[stage] / minutes, 2) for stage in STAGES_OF_INDEXING},
        "whole_cpu_s_per_minute": round((whole - once) / minutes, 2),
        "wall_s_per_minute": round(wall / minutes, 2),
        "once_cpu_s": round(once, 2),
        "videos": report.indexed,
        "minutes": round(minutes, 2),
        "senses": [line for line in report.stages if line.startswith("reads: ")],
    }


def question(folder: Path, count: int) -> dict[str, Any]:
    """Milliseconds of the stages of a question with six options, and of the whole."""
    from rag.library import Library

    texts = list(dict.fromkeys(questions(np.random.default_rng(SEED + 2), 3 * count)))[: count + 1]
    vectors = clip_queries(folder, len(texts))
    stages: list[list[float]] = []
    with Library.open(folder) as library:
        vars(library._engine)["tower"] = GivenTower(dict(zip(texts, vectors, strict=True)))

        def ask(text: str) -> None:
            answer = library.ask(text, options=[f"{text} {number}" for number in range(OPTIONS)])
            stages.append([1000 * answer.timings[stage] for stage in STAGES])

        ask(texts[0])
        found = timed(texts[1:], ask)
    medians = np.median(stages[1:], axis=0)
    return {
        "stages_ms": {stage: round(float(value), 2) for stage, value in zip(STAGES, medians, strict=True)},
        **found,
    }


def paint(figures: Mapping[str, Any], figure: Figure) -> None:
    """Two bars, each in a panel of its own."""
    panels = {
        "CPU-seconds for a minute of video": figures["minute_of_video_cpu_s"],
        f"milliseconds for a question with {OPTIONS} options, 100 hours": figures["question"]["stages_ms"],
    }
    for axes, (title, stages) in zip(figure.subplots(len(panels), 1), panels.items(), strict=True):
        left = 0.0
        for number, (stage, value) in enumerate(stages.items()):
            label = f"{stage} {value:.1f}"
            axes.barh([0], [value], left=left, color=PALETTE[number], label=label, height=0.5)
            left += value
        axes.set_yticks([])
        axes.set_title(f"{title}: {left:.1f}", loc="left", fontsize=9)
        axes.spines["left"].set_visible(False)
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=len(stages), frameon=False, fontsize=8
        )


def main() -> None:
    """Measure, or draw what was measured."""
    parser = option_parser(__doc__)
    parser.add_argument("--videos", type=Path, help="folder of videos, such as real clips")
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "rag-benchmarks")
    parser.add_argument("--out", type=Path, default=Path("docs/reports/performance.json"))
    parser.add_argument("--draw", type=Path, help="draw this file again, without measuring")
    chosen = parser.parse_args()
    if chosen.draw is None:
        if chosen.videos is None:
            parser.error("--videos or --draw is needed")
        library = chosen.folder / "large-100"
        if not Layout(library).exists():
            build(library, 100)
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as `rag index` does
        index_timed(min(filter(Path.is_file, chosen.videos.rglob("*")), key=lambda file: file.stat().st_size))
        indexing = index_timed(chosen.videos)
        figures = {
            "minute_of_video_cpu_s": indexing.pop("cpu_s_per_minute"),
            "videos": indexing,
            "question": question(library, chosen.questions),
        }
        with atomic_file(chosen.out) as draft:
            draft.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    source = chosen.draw or chosen.out
    figures = json.loads(source.read_text(encoding="utf-8"))
    draw(source.with_suffix(".png"), (8.0, 2.8), lambda figure: paint(figures, figure))
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
