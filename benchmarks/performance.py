"""Where a minute of video's and a question's time goes: one JSON file and one figure.

    python -m benchmarks.performance --videos DIR [--questions 40] [--out docs/reports/performance.json]
    python -m benchmarks.performance --draw docs/reports/performance.json

The minute of video is that of `benchmarks.indexing_cost` over the videos of DIR, with the default senses:
CPU-seconds. The question has six options, and the library is that of 100 hours of `benchmarks.large_library`,
where the vector of a question in the space of images is given: milliseconds of wall time a stage of
`Library.ask`, medians.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.large_library import GivenTower, clip_queries
from benchmarks.options import option_parser
from benchmarks.synthetic_library import SEED, build, questions
from corpora.outputs import atomic_file
from eval.reports.drawing import COLOURS, draw
from rag.answering import STAGES
from rag.store.layout import Layout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OPTIONS = 6
PALETTE = (*COLOURS, "#c9b458")


def minute_of_video(videos: Path) -> dict[str, Any]:
    """What `benchmarks.indexing_cost` prints, in a process of its own, whose threads wait asleep."""
    command = [sys.executable, "-m", "benchmarks.indexing_cost", "--videos", str(videos)]
    found: dict[str, Any] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return found


def question(folder: Path, count: int) -> dict[str, Any]:
    """Milliseconds of the stages of a question with six options, and of the whole."""
    from rag.library import Library

    texts = list(dict.fromkeys(questions(np.random.default_rng(SEED + 2), 3 * count)))[: count + 1]
    vectors = clip_queries(folder, len(texts))[0].rows
    walls, cpus, stages = [], [], []
    with Library.open(folder) as library:
        vars(library._engine)["tower"] = GivenTower(dict(zip(texts, vectors, strict=True)))
        for text in texts:
            wall, cpu = time.perf_counter(), time.process_time()
            answer = library.ask(text, options=[f"{text} {number}" for number in range(OPTIONS)])
            walls.append(1000 * (time.perf_counter() - wall))
            cpus.append(1000 * (time.process_time() - cpu))
            stages.append([1000 * answer.timings[stage] for stage in STAGES])
    medians = np.median(stages[1:], axis=0)
    return {
        "stages_ms": {stage: round(float(value), 2) for stage, value in zip(STAGES, medians, strict=True)},
        "n": len(texts) - 1,
        "p50_ms": round(float(np.percentile(walls[1:], 50)), 1),
        "p95_ms": round(float(np.percentile(walls[1:], 95)), 1),
        "cpu_p50_ms": round(float(np.median(cpus[1:])), 1),
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
        indexing = minute_of_video(chosen.videos)
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
