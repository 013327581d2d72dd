"""What a cluster costs, and how far it scales.

    python -m benchmarks.scale_out overhead [--clips 100] [--seconds 15] [--few 2]
    python -m benchmarks.scale_out commit [--group 100]
    python -m benchmarks.scale_out simulate --pace 0.2 --commit 0.3

`overhead`: processor time of `rag index` with two workers of Ray on this machine over that of the plain
command, of all their processes, in one run. `commit`: seconds that a group of staged videos takes the writer.
`simulate`: the scheduler of `rag.indexing.scheduling` and the writer on a simulated clock, with slow attempts
and lost workers; `--pace` and `--commit` are what the other two measured. Efficiency: the work without
slow attempts over the time of all workers.
"""

from __future__ import annotations

import heapq
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.material import index_command, write_footage
from benchmarks.options import option_parser
from corpora.records import Clip, Evidence, Video
from corpora.scan import FoundFile
from rag.indexing.committing import Committer
from rag.indexing.outcomes import FileOutcomes
from rag.indexing.report import Silent
from rag.indexing.scheduling import Scheduler
from rag.store.bundles import BundleHead, BundleWriter
from rag.store.layout import Layout
from rag.store.records import ClipFrames, EncoderRef, Meta
from rag.store.staging import FolderObjects, Staging
from rag.store.writing import Writer

TICKS = os.sysconf("SC_CLK_TCK")
MARK = "BENCHMARK_RUN"
START_SECONDS = 30.0
"""Until a worker has loaded its models, simulated."""
CALL_SECONDS = 0.004
"""Of the driver for each content: a call through Ray, measured at 2 to 4 ms."""


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
    write_footage(first, seconds)
    for number in range(1, clips):
        box = f"{number:08d}".encode()
        (folder / f"{number:03d}.mp4").write_bytes(
            first.read_bytes() + (8 + len(box)).to_bytes(4) + b"free" + box
        )


def overhead(clips: int, seconds: float, few: int) -> dict[str, float]:
    """Both commands on the same clips, with a tiny encoder: the less a clip costs, the more does Ray.

    A second pair on a `few` clips shows what is spent before the first; none without.
    """
    from tests.fakes.tiny_models import save_clip

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
                command, environment = index_command(
                    folder / part, model, str(library), backend="torch-fp32", batch=16
                )
                environment |= {"OMP_NUM_THREADS": "1"}
                cpu, wall = processor_seconds([*command, *words], environment, f"{part}-{kind}")
                figures |= {f"{part}_{kind}_cpu_s": round(cpu, 1), f"{part}_{kind}_wall_s": round(wall, 1)}
                shutil.rmtree(library)
    figures["ratio"] = round(figures["all_ray_cpu_s"] / figures["all_plain_cpu_s"], 3)
    if not few:
        return figures
    added = {kind: figures[f"all_{kind}_cpu_s"] - figures[f"few_{kind}_cpu_s"] for kind in ("plain", "ray")}
    figures["ratio_without_start"] = round(added["ray"] / added["plain"], 3)
    figures["pace"] = round(added["ray"] / (clips - few) / seconds, 4)
    return figures


def commit(group: int, clips: int = 20, groups: int = 5) -> dict[str, float]:
    """Groups of videos of ten minutes, with as many spans of text as clips."""
    image, text = EncoderRef("i", "f" * 32, 512), EncoderRef("t", "e" * 32, 384)
    meta, random = Meta(image, text), np.random.default_rng(1)
    frames = random.normal(size=(60, 512)).astype(np.float32)
    walls, cpus = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "library"
        with Writer.open(folder) as writer:
            writer.set_meta(meta)
            staging = Staging(FolderObjects(Layout(folder).staging), meta)
            for part in range(groups):
                for number in range(part * group, (part + 1) * group):
                    video_id, path = f"{number:032x}", f"/videos/{number}.mp4"
                    rows = BundleWriter(meta)
                    video = Video(video_id, path, "", "", (), 30.0 * clips, 25.0, 640, 360, True, "en")
                    rows.begin_video(video)
                    starts = [30.0 * k for k in range(clips)]
                    cut = [Clip(f"{video_id}:{t:05.0f}", video_id, t, t + 30) for t in starts]
                    times = np.arange(60) / 2
                    rows.add_clips([ClipFrames(c, c.start + times, frames, frames[0]) for c in cut])
                    spans = [Evidence(video_id, c.start, c.end, "asr", f"words of {c.clip_id}") for c in cut]
                    rows.put_evidence(video_id, spans, random.normal(size=(clips, 384)))
                    rows.finish_video(video, {"sidecars": ""})
                    found = FoundFile(path, "video", 1, 2, 3, (), f"{number}")
                    staging.put(rows.bundle(BundleHead(video_id, (found,), "cpu")))
                wall, cpu = time.perf_counter(), time.process_time()
                Committer(writer, staging, FileOutcomes(writer, Silent()), group=group).commit()
                walls.append(time.perf_counter() - wall)
                cpus.append(time.process_time() - cpu)
    return {
        "group": group,
        "hours_a_group": round(group * clips * 30 / 3600, 1),
        "wall_s": round(float(np.median(walls)), 2),
        "cpu_s": round(float(np.median(cpus)), 2),
        "n": groups,
    }


def simulate(
    workers: int, lengths: dict[str, float], *, pace: float, commit_s: float, group: int, seed: int
) -> dict[str, float]:
    """One run on a simulated clock. 2 % of attempts take five times longer; 1 % of workers are lost an hour.

    The driver is one thread: while it commits, or calls, it hands out nothing.
    """
    random = np.random.default_rng(seed)
    scheduler = Scheduler[int](lengths, timeout=20.0)
    lost_rate = 0.01 / 3600
    events: list[tuple[float, int, str, int]] = []
    """Time, a number that breaks ties, what happens, and to which worker."""
    alive, number = set(range(workers)), workers
    idle: list[int] = []
    ticket = iter(range(10**9))
    for worker in range(workers):
        heapq.heappush(events, (START_SECONDS, next(ticket), "idle", worker))
        heapq.heappush(events, (random.exponential(1 / lost_rate), next(ticket), "lost", worker))
    driver, staged, committing, losses = 0.0, 0, 0.0, 0
    while scheduler.left:
        now, _, what, worker = heapq.heappop(events)
        if worker not in alive:
            continue
        driver = max(driver, now) + CALL_SECONDS
        if what == "lost":
            alive.discard(worker)
            idle = [other for other in idle if other != worker]
            scheduler.lose(worker)
            losses += 1
            alive.add(number)
            heapq.heappush(events, (driver + START_SECONDS, next(ticket), "idle", number))
            heapq.heappush(events, (driver + random.exponential(1 / lost_rate), next(ticket), "lost", number))
            number += 1
        elif what == "done":
            scheduler.finish(worker)
            staged += 1
            idle.append(worker)
            if staged >= group:
                driver, committing, staged = driver + commit_s, committing + commit_s, 0
        else:
            idle.append(worker)
        for free in list(idle):
            name = scheduler.next(free, driver)
            if name is not None:
                idle.remove(free)
                slow = 5.0 if random.random() < 0.02 else 1.0
                end = driver + pace * lengths[name] * slow * random.lognormal(0, 0.2)
                heapq.heappush(events, (end, next(ticket), "done", free))
    wall = driver + commit_s
    work = pace * sum(lengths.values()) * float(np.exp(0.02))
    return {
        "workers": workers,
        "hours": round(wall / 3600, 2),
        "efficiency": round(work / (wall * workers), 3),
        "driver_committing": round(committing / wall, 3),
        "losses": losses,
    }


def main() -> None:
    """Print the figures of one of the three as JSON."""
    parser = option_parser(__doc__)
    parser.add_argument("what", choices=("overhead", "commit", "simulate"))
    parser.add_argument("--clips", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--few", type=int, default=2, help="Clips of the smaller pair; 0 for none.")
    parser.add_argument("--group", type=int, default=100)
    parser.add_argument("--pace", type=float, default=0.2, help="Seconds of a worker for a second of media.")
    parser.add_argument("--commit", type=float, default=1.0, help="Seconds of a group.")
    given = parser.parse_args()
    if given.what == "overhead":
        print(json.dumps(overhead(given.clips, given.seconds, given.few)))
    elif given.what == "commit":
        print(json.dumps(commit(given.group)))
    else:
        random = np.random.default_rng(5)
        draws = np.clip(random.lognormal(np.log(300.0), 1.0, 10_000), 5.0, 4 * 3600.0)
        lengths = {f"v{number}": float(length) for number, length in enumerate(draws)}
        print(json.dumps({"videos": len(lengths), "hours": round(sum(lengths.values()) / 3600)}))
        for workers in (1, 2, 4, 8, 16, 32, 64, 128, 256):
            print(
                json.dumps(
                    simulate(
                        workers, lengths, pace=given.pace, commit_s=given.commit, group=given.group, seed=1
                    )
                )
            )


if __name__ == "__main__":
    main()
