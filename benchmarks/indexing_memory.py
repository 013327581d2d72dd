"""Peak memory of `rag index` on 10 minutes of video, and on the same ones again and again for 4 hours: both
under 2 GiB, and alike.

    python -m benchmarks.indexing_memory [--hours 4] [--encoder NAME] [--fps 4]

Peak resident memory is that of the indexing process and its decoding child
together, sampled ten times a second from /proc. Still-frame reuse is off, so
that every frame is encoded.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.material import index_command, save_vit_b32, write_footage
from benchmarks.options import kept_folder, option_parser

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


def peak(video: Path, encoder: str) -> tuple[int, float]:
    """Peak memory in bytes and wall time in seconds of indexing one video in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command, environment = index_command(video, Path(), folder, backend="torch-bf16", batch=16)
        environment["RAG_ENCODER__IMAGE"] = encoder
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


def repeat(video: Path, to: Path, times: int) -> Path:
    """A video of the same packets so many times one after the other: to make hours would cost hours."""
    import av

    with av.open(str(to), "w") as out, av.open(str(video)) as container:
        source = container.streams.video[0]
        stream = out.add_stream_from_template(source)
        assert source.duration is not None
        for place in range(times):
            container.seek(0)
            for packet in container.demux(source):
                if packet.dts is not None and packet.pts is not None:
                    packet.dts += place * source.duration
                    packet.pts += place * source.duration
                    packet.stream = stream
                    out.mux(packet)
    return to


def main() -> None:
    """Print the peak memory by length of the video."""
    parser = option_parser(__doc__)
    parser.add_argument("--folder", type=Path, default=kept_folder())
    parser.add_argument("--hours", type=float, default=4.0)
    parser.add_argument("--encoder", default="", help="default: a ViT-B/32 with random weights")
    parser.add_argument("--fps", type=int, default=4)
    chosen = parser.parse_args()
    chosen.folder.mkdir(exist_ok=True)
    encoder = chosen.encoder or f"hf:{save_vit_b32(chosen.folder / 'vit-b-32')}"
    short = chosen.folder / f"memory-600-{chosen.fps}.mp4"
    if not short.is_file():
        write_footage(short, 600.0, size=(426, 240), fps=chosen.fps)
    times = round(chosen.hours * 6)
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        long = repeat(short, Path(folder) / "long.mp4", times)
        for name, video, seconds in (("short", short, 600), ("long", long, 600 * times)):
            most, wall = peak(video, encoder)
            figures[name] = {"video_s": seconds, "peak_mib": round(most / 2**20), "wall_s": round(wall, 1)}
    difference = figures["long"]["peak_mib"] / figures["short"]["peak_mib"] - 1
    print(json.dumps({**figures, "difference": round(difference, 3), "target_mib": 2048}, indent=2))


if __name__ == "__main__":
    main()
