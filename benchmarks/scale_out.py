"""What indexing in shards costs.

    python -m benchmarks.scale_out overhead [--clips 100] [--seconds 15] [--few 2]
    python -m benchmarks.scale_out merge [--videos 100]

`overhead`: processor time of `rag index` with two workers of Ray on this machine over that of the plain
command, of all their processes, in one run. `merge`: seconds that the driver takes to merge a shard.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.options import option_parser
from corpora.records import Clip, Evidence, Video
from rag.indexing.merging import copy_library
from rag.store.reading import Reader
from rag.store.records import ClipFrames, EncoderRef, FileRow, Meta
from rag.store.writing import Writer
from tests.fakes.synthetic import write_video
from tests.fakes.tiny_models import save_clip

TICKS = os.sysconf("SC_CLK_TCK")
MARK = "BENCHMARK_RUN"
SETTINGS = {
    "RAG_ENCODER__BACKEND": "torch-fp32",
    "RAG_ENCODER__BATCH": "16",
    "RAG_ENCODER__REUSE_STILL_FRAMES": "false",
    "RAG_OCR__MODE": "off",
    "RAG_ASR__MODE": "off",
    "OMP_NUM_THREADS": "1",
}
"""Of both commands: a tiny encoder alone, and nothing that threads share."""


def processor_seconds(command: list[str], environment: dict[str, str], mark: str) -> tuple[float, float]:
    """Processor and wall time of a command with all that it starts, wherever Ray puts it."""
    spent: dict[int, float] = {}
    begun = time.monotonic()
    log = tempfile.TemporaryFile("w+")  # noqa: SIM115 (it ends with the process)
    run = subprocess.Popen(
        command,
        env={**environment, MARK: mark},
        stdout=subprocess.DEVNULL,
        stderr=log,
        start_new_session=True,
    )
    wanted = f"{MARK}={mark}".encode()
    while run.poll() is None:
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and wanted in (entry / "environ").read_bytes().split(b"\0"):
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                    spent[int(entry.name)] = (int(fields[11]) + int(fields[12])) / TICKS
            except OSError:
                continue
        time.sleep(0.2)
    if run.returncode:
        log.seek(0)
        raise SystemExit(f"rag index failed with exit code {run.returncode}: {log.read()[-400:]}")
    return sum(spent.values()), time.monotonic() - begun


def write_clips(folder: Path, clips: int, seconds: float) -> None:
    """Clips of one content for the decoder, 1280 x 720 with 30 frames a second, and of different bytes."""
    folder.mkdir()
    first = folder / "000.mp4"
    texture = np.random.default_rng(7).integers(0, 256, (720, 1280, 3), np.uint8)
    write_video(first, seconds, fps=30, size=(1280, 720), scene=lambda t: np.roll(texture, int(120 * t), 1))
    for number in range(1, clips):
        box = f"{number:08d}".encode()
        (folder / f"{number:03d}.mp4").write_bytes(
            first.read_bytes() + (8 + len(box)).to_bytes(4) + b"free" + box
        )


def overhead(clips: int, seconds: float, few: int) -> dict[str, float]:
    """Both commands on the same clips, with a tiny encoder: the less a clip costs, the more does Ray.

    A second pair on a `few` clips shows what is spent before the first; none without.
    """
    arms: dict[str, list[str]] = {
        "plain": [],
        "ray": ["--engine", "ray", "--workers", "2", "--worker-cpus", "1"],
    }
    figures: dict[str, float] = {"clips": clips, "seconds_each": seconds}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = save_clip(folder / "model")
        for part, count in (("few", few), ("all", clips)):
            if not count:
                continue
            write_clips(folder / part, count, seconds)
            for kind, words in arms.items():
                library = folder / f"library-{part}-{kind}"
                command = [sys.executable, "-m", "rag._cli.main", "index", str(folder / part), *words]
                command += ["--library", str(library)]
                environment = {**os.environ, **SETTINGS, "RAG_ENCODER__IMAGE": f"hf:{model}"}
                cpu, wall = processor_seconds(command, environment, f"{part}-{kind}")
                figures |= {f"{part}_{kind}_cpu_s": round(cpu, 1), f"{part}_{kind}_wall_s": round(wall, 1)}
                shutil.rmtree(library)
    figures["ratio"] = round(figures["all_ray_cpu_s"] / figures["all_plain_cpu_s"], 3)
    if not few:
        return figures
    added = {kind: figures[f"all_{kind}_cpu_s"] - figures[f"few_{kind}_cpu_s"] for kind in ("plain", "ray")}
    figures["ratio_without_start"] = round(added["ray"] / added["plain"], 3)
    figures["pace"] = round(added["ray"] / (clips - few) / seconds, 4)
    return figures


def merge(videos: int, clips: int = 20, shards: int = 5) -> dict[str, float]:
    """Shards of videos of ten minutes, with as many spans of text as clips, into one library."""
    walls, cpus = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Writer.open(folder / "library") as writer:
            for part in range(shards):
                write_shard(folder / str(part), range(part * videos, (part + 1) * videos), clips)
                wall, cpu = time.perf_counter(), time.process_time()
                with Reader.open(folder / str(part)) as reader:
                    copy_library(reader, writer, newer=True)
                walls.append(time.perf_counter() - wall)
                cpus.append(time.process_time() - cpu)
    return {
        "videos": videos,
        "hours_a_shard": round(videos * clips * 30 / 3600, 1),
        "wall_s": round(float(np.median(walls)), 2),
        "cpu_s": round(float(np.median(cpus)), 2),
        "n": shards,
    }


def write_shard(folder: Path, numbers: range, clips: int) -> None:
    """A library of videos of `clips` clips of 30 s, with 60 frames of 512 dimensions each."""
    random = np.random.default_rng(numbers.start)
    frames = random.normal(size=(60, 512)).astype(np.float32)
    with Writer.open(folder) as writer:
        writer.set_meta(Meta(EncoderRef("i", "f" * 32, 512), EncoderRef("t", "e" * 32, 384)))
        for number in numbers:
            video_id, path = f"{number:032x}", f"/videos/{number}.mp4"
            video = Video(video_id, path, "", "", (), 30.0 * clips, 25.0, 640, 360, True, "en")
            writer.put_file(FileRow(path, video_id, "video", 1, 2, 3, f"{number}"))
            writer.begin_video(video)
            cut = [Clip(f"{video_id}:{n:05d}", video_id, 30.0 * n, 30.0 * n + 30) for n in range(clips)]
            times = np.arange(60) / 2
            writer.add_clips([ClipFrames(c, c.start + times, frames, frames[0]) for c in cut])
            spans = [Evidence(video_id, c.start, c.end, "asr", f"words of {c.clip_id}") for c in cut]
            writer.put_evidence(video_id, spans, random.normal(size=(clips, 384)))
            writer.finish_video(video, {"sidecars": ""})


def main() -> None:
    """Print the figures as JSON."""
    parser = option_parser(__doc__)
    parser.add_argument("what", choices=("overhead", "merge"))
    parser.add_argument("--clips", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--few", type=int, default=2, help="Clips of the smaller pair; 0 for none.")
    parser.add_argument("--videos", type=int, default=100)
    given = parser.parse_args()
    if given.what == "overhead":
        print(json.dumps(overhead(given.clips, given.seconds, given.few)))
    else:
        print(json.dumps(merge(given.videos)))


if __name__ == "__main__":
    main()
