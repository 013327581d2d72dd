"""Peak memory of `rag index` on 10 minutes and on 4 hours of video: both under 2 GiB, and alike.

    python -m benchmarks.indexing_memory [--encoder hf:FOLDER]

Peak resident memory is that of the indexing process and its decoding child
together, sampled ten times a second from /proc. Still-frame reuse is off, so
that every frame is encoded.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.material import index_command, save_vit_b32, write_footage

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(group: int) -> int:
    """Bytes of all processes of a process group; shared pages count in each."""
    total = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getpgid(int(entry.name)) == group:
                    total += int((entry / "statm").read_text().split()[1]) * PAGE
            except (ProcessLookupError, FileNotFoundError):
                continue
    return total


def peak(video: Path, model: Path) -> tuple[int, float]:
    """Peak memory in bytes and wall time in seconds of indexing one video in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command, environment = index_command(video, model, folder, backend="torch-bf16", batch=16)
        begun = time.monotonic()
        run = subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        most = 0
        while run.poll() is None:
            most = max(most, resident(run.pid))
            time.sleep(0.1)
        if run.returncode:
            raise SystemExit(f"rag index failed with exit code {run.returncode}")
        return most, time.monotonic() - begun


def main() -> None:
    """Print the peak memory by length of the video."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "rag-benchmarks")
    parser.add_argument("--hours", type=float, default=4.0)
    chosen = parser.parse_args()
    chosen.folder.mkdir(exist_ok=True)
    model = save_vit_b32(chosen.folder / "vit-b-32")
    figures = {}
    for name, seconds in (("short", 600.0), ("long", chosen.hours * 3600)):
        video = chosen.folder / f"memory-{seconds:.0f}.mp4"
        if not video.is_file():
            write_footage(video, seconds, size=(426, 240), fps=4)
        most, wall = peak(video, model)
        figures[name] = {"video_s": seconds, "peak_mib": round(most / 2**20), "wall_s": round(wall, 1)}
    difference = figures["long"]["peak_mib"] / figures["short"]["peak_mib"] - 1
    print(json.dumps({**figures, "difference": round(difference, 3), "target_mib": 2048}, indent=2))


if __name__ == "__main__":
    main()
