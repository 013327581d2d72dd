"""Whole processes from a cold start: `rag --help`, `rag index` of 1,000 unchanged files, `rag search`.

    python -m benchmarks.startup

Each figure is the median and the best of `--rounds` runs, in wall seconds, beside the CPU-seconds of the
median run; the bare interpreter's own start is printed beside them. Searches are run on a library without
images and on one whose images were encoded by a ViT-B/32 (random weights).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.material import save_vit_b32, write_footage

FILES = 1000
RAG = [sys.executable, "-m", "rag._cli.main"]


def timed(command: list[str], rounds: int, environment: dict[str, str] | None = None) -> dict[str, float]:
    """Median wall and processor time of a command, in seconds."""
    walls, cpus = [], []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **(environment or {})})
        walls.append(time.perf_counter() - begun)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {
        "median_s": round(statistics.median(walls), 3),
        "best_s": round(min(walls), 3),
        "cpu_s": round(statistics.median(cpus), 3),
    }


def main() -> None:
    """Print the start-up time of each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        notes, videos = folder / "notes", folder / "videos"
        notes.mkdir()
        videos.mkdir()
        for number in range(FILES):
            (notes / f"{number}.txt").write_text(
                f"Note {number}: bolt {number} takes {number % 90} newton metres.\n"
            )
        words = ["--library", str(folder / "words")]
        subprocess.run([*RAG, "index", str(notes), *words], check=True, capture_output=True)
        write_footage(videos / "video.mp4", 20, size=(426, 240), fps=10)
        images = ["--library", str(folder / "images")]
        seeing = {"RAG_ENCODER__IMAGE": f"hf:{save_vit_b32(folder / 'vit')}", "RAG_OCR__MODE": "off"}
        subprocess.run(
            [*RAG, "index", str(videos), *images],
            check=True,
            capture_output=True,
            env={**os.environ, **seeing},
        )
        figures = {
            "python -c pass": timed([sys.executable, "-c", "pass"], chosen.rounds),
            "rag --help (target 0.3)": timed([*RAG, "--help"], chosen.rounds),
            f"rag index, {FILES} unchanged (target 1)": timed(
                [*RAG, "index", str(notes), *words], chosen.rounds
            ),
            "rag search, words (target 2.5)": timed([*RAG, "search", "bolt seven", *words], chosen.rounds),
            "rag search, words and images (target 2.5)": timed(
                [*RAG, "search", "a cut in the video", *images], chosen.rounds, seeing
            ),
        }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
