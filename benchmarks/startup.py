"""Commands from a cold start: `rag --help`, `rag search`, `rag ask`.

    python -m benchmarks.startup

Each figure is the median and the best of `--rounds` runs, in wall seconds, beside the median of CPU-seconds;
the bare interpreter's own start is printed beside them. Of one more run the peak memory is read: resident,
and of it anonymous, what the process alone holds; the rest is mapped files, libraries and weights. Searches
are run on a library of notes and of one video, made with the default models.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.options import option_parser
from tests.fakes.synthetic import write_video

FILES = 1000
QUESTION = "how tight is bolt seven"
RAG = [sys.executable, "-m", "rag._cli.main"]


def timed(command: list[str], rounds: int) -> dict[str, float]:
    """Wall and processor seconds of a command, after one run that is not counted."""
    # The first run of an installed program writes bytecode; where that is forbidden each run compiles again.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    walls, cpus = [], []
    for _ in range(rounds + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=inherited)
        walls.append(time.perf_counter() - begun)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {
        "median_s": round(statistics.median(walls[1:]), 3),
        "best_s": round(min(walls[1:]), 3),
        "cpu_s": round(statistics.median(cpus[1:]), 3),
        **peaks(command, inherited),
    }


def peaks(command: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Peak memory of a command in MiB, read as often as the kernel gives it; 0 for what ends before that."""
    most = {"Rss": 0, "Anonymous": 0}
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    while run.poll() is None:
        try:
            lines = Path(f"/proc/{run.pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue  # it ended meanwhile
        for line in lines:
            name = line.partition(":")[0]
            if name in most:
                most[name] = max(most[name], int(line.split()[1]))
    return {"resident_mib": round(most["Rss"] / 1024), "anonymous_mib": round(most["Anonymous"] / 1024)}


def main() -> None:
    """Print the start-up time of each command."""
    parser = option_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        notes, library = Path(name) / "notes", ["--library", str(Path(name) / "library")]
        notes.mkdir()
        for number in range(FILES):
            (notes / f"{number}.txt").write_text(
                f"Note {number}: bolt {number} takes {number % 90} newton metres.\n"
            )
        write_video(notes / "video.mp4", 20, size=(426, 240))
        subprocess.run([*RAG, "index", str(notes), *library], check=True, capture_output=True)
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "rag --help (target 0.15)": [*RAG, "--help"],
            "rag search (target 0.7)": [*RAG, "search", QUESTION, *library],
            "rag ask (target 1.0)": [*RAG, "ask", QUESTION, *library],
        }
        figures = {name: timed(command, chosen.rounds) for name, command in commands.items()}
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
