"""`kill -9` at moments spread over every stage of indexing, and the same command again.

    python -m benchmarks.kill_index --times 1000 [--least 20] [--seed 0]

A small corpus (videos with sound, subtitles and texts on the screen, documents, a copy, a file that is cut
off) is indexed, changed (a file goes, one is renamed, subtitles differ) and indexed with `--prune`, then
encoded again by another encoder. A command is killed at a call of the stage that was aimed at least so far,
or between it and the next call of any, a few times in one life of a library, and then runs to its end. The
library must be that of a run without kills, row for row; no shard may be left; `rag doctor` must find nothing
broken. Prints kills by the stage that had begun last. `--least`: goes on until each stage was hit so often, a
fiftieth of `--times` unless given. Interrupted or terminated, it ends with what was seen until then.

Each command is a fork of a process that has imported what takes seconds (`multiprocessing`'s fork server);
LanceDB starts its threads again in one.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

from benchmarks.options import option_parser
from rag.library import Library
from rag.settings import load_settings
from rag.store.layout import open_layout
from tests.fakes.library_dump import dump
from tests.fakes.stopped_runs import COMMITS
from tests.fakes.synthetic import truncate, write_video
from tests.fakes.tiny_models import save_clip
from tests.fakes.tiny_text import write_tiny_text

KILLS_A_LIFE = 4
ENDED = (0, 3)
"""Exit statuses of a command that did what it could: all, or all but bad files."""
STEPS = {"index": (), "change": ("--prune",), "re-embed": ("--reembed",)}
"""Runs of `rag index` after which a library is compared, with their options."""
STAGES: dict[str, tuple[str, ...]] = {
    "scan": ("rag.indexing.run:scan",),
    "plan": ("rag.indexing.pipeline:make_plan",),
    "load encoders": ("rag.indexing.encoders:open_image_encoder",),
    "fetch": ("rag.indexing.copies:fetch",),
    "probe": ("rag.indexing.pipeline:ContentIndexer._probe",),
    "read subtitles": ("corpora.video.reader:MediaReader.sidecars",),
    "decode": ("rag.indexing.media:cut_clips", "rag.indexing.reembedding:decode_clips"),
    "embed": ("rag.indexing.media:embed_clip", "rag.indexing.reembedding:embed_clip"),
    "read on-screen text": ("rag.indexing.stages:Stages.read_keyframes",),
    "transcribe": ("rag.indexing.stages:Stages.transcribe",),
    "encode text": ("indexers.protocol:TextEncoder.encode_text",),
    "measure frames": ("rag.indexing.media:measure_frames",),
    "store measurements": ("rag.indexing.pipeline:shots_of", "rag.indexing.reembedding:shots_of"),
    "progress log": ("rag.indexing.media:ProgressLog.add",),
    "passages": ("rag.indexing.passages:PassageIndexer.add",),
    "remove": ("rag.indexing.pipeline:remove_missing",),
    "switch encoders": ("rag.store.tables:EncoderSwitch.commit",),
    "maintain": ("rag.store.writing:Writer.maintain",),
    "full-text index": ("rag.store.maintenance:index_text",),
    "compact": ("rag.store.maintenance:compact",),
    "clean": ("rag.store.maintenance:clean",),
    "calibrate": ("rag.indexing.pipeline:calibrate_scores",),
    "rename": ("rag.indexing.pipeline:rename_videos",),
}
"""By name, the functions and methods of each stage, where they are called."""
PRELOADED = (
    *("av", "cv2", "lance", "lancedb", "onnx.numpy_helper", "onnxruntime", "pyarrow.dataset"),
    *("pyloudnorm", "scenedetect", "tokenizers", "torch", "indexers.onnx_text", "indexers.sentence"),
    *("transformers.models.clip.modeling_clip", "transformers.models.clip.image_processing_pil_clip"),
    *("rag._cli.index", "rag.indexing.pipeline", "rag.indexing.shards"),
)


@dataclass(frozen=True, slots=True)
class Aim:
    """Where a command ends: so many seconds after the `nth` call of a stage begins."""

    stage: str
    nth: int
    seconds: float


@dataclass
class Result:
    """What a series of kills showed."""

    kills: Counter[str] = field(default_factory=Counter)
    """How many kills came while a stage was the last that had begun."""
    aims: Counter[str] = field(default_factory=Counter)
    lives: int = 0
    messages: list[str] = field(default_factory=list)
    """Messages about libraries that differ from the undisturbed one."""

    def lines(self) -> Iterator[str]:
        """A table."""
        yield "| stage | kills |"
        yield "| --- | ---: |"
        yield from (f"| {stage} | {count} |" for stage, count in sorted(self.kills.items()))
        yield f"| all ({self.lives} libraries, {len(self.messages)} faults) | {self.kills.total()} |"


def write_corpora(first: Path, second: Path) -> None:
    """The corpus, and the same one changed."""
    first.mkdir(parents=True)
    write_video(first / "long.mp4", 35, fps=2, subtitles=[(1, 4, "The torque wrench clicks.")])
    write_video(first / "short.mkv", 3, fps=4)
    write_video(first / "variable.mp4", 4, variable_rate=True)
    write_video(first / "sound.mp4", 3, fps=4, audio=True)
    write_video(first / "cut off.mkv", 4)
    truncate(first / "cut off.mkv", 0.6)
    (first / "again").mkdir()
    shutil.copy(first / "short.mkv", first / "again" / "copy.mkv")
    (first / "short.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nHold the iron like a pen.\n")
    (first / "notes.md").write_text("# Chain oil\n\nUse two drops of oil on every link.\n")
    (first / "corpus.jsonl").write_text('{"_id": "d1", "title": "Wrench", "text": "Set it to 25 Nm."}\n')
    shutil.copytree(first, second)
    (second / "sound.mp4").unlink()
    (second / "variable.mp4").rename(second / "renamed.mp4")
    (second / "short.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nTin the tip.\n")
    (second / "more.md").write_text("# Solder\n\nLead-free solder melts at 217 degrees.\n")


class Bench:
    """The corpus, the encoders, and the libraries of an undisturbed run after each step."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._log, self._begun = folder, folder / "command.log", folder / "begun.log"
        self.library = folder / "library"
        self._corpora = [folder / "corpus-0", folder / "corpus-1"]
        write_corpora(*self._corpora)
        self._text = f"bert:{write_tiny_text(folder / 'tiny-text')}"
        self._environment = {
            "RAG_ENCODER__IMAGE": f"hf:{save_clip(folder / 'tiny-clip')}",
            "RAG_ENCODER__TEXT": self._text,
            "RAG_OCR__MODE": "off",
        }
        self._other_encoder = f"hf:{save_clip(folder / 'other-clip', seed=1)}"
        self.profiles: dict[str, dict[str, list[float]]] = {}
        """By step, of each call of each stage the seconds to the next call of any."""
        self._expected: dict[str, list[str]] = {}
        for step in STEPS:
            self.start(step)
            if failure := self.failure(self.run(step)):
                raise SystemExit(f"{step}: {failure}")
            self.profiles[step] = {}
            for (stage, begun), (_, following) in pairwise(self.calls()):
                self.profiles[step].setdefault(stage, []).append(following - begun)
            self._expected[step] = self._rows()
            shutil.copytree(self.library, folder / f"after-{step}")

    def start(self, step: str) -> None:
        """Make the library and the corpus as they are before a step."""
        names = [*STEPS]
        shutil.rmtree(self.library, ignore_errors=True)
        if at := names.index(step):
            shutil.copytree(self._folder / f"after-{names[at - 1]}", self.library)
        # Always under one path, and with their times.
        shutil.rmtree(self._folder / "corpus", ignore_errors=True)
        shutil.copytree(self._corpora[min(at, 1)], self._folder / "corpus")

    def run(self, step: str, aim: Aim | None = None) -> int:
        """The exit status of the command of a step, once it and its children have ended; a signal's number is
        negative."""
        words = ["index", str(self._folder / "corpus"), *STEPS[step], "--library", str(self.library)]
        other = {"RAG_ENCODER__IMAGE": self._other_encoder} if step == "re-embed" else {}
        given = (words, self._log, self._begun, aim, self._environment | other)
        process = server().Process(target=_run_command, args=given)
        process.start()
        assert process.pid is not None
        try:
            process.join()
        except KeyboardInterrupt:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        deadline = time.monotonic() + 30
        while not _is_empty(process.pid):
            if time.monotonic() > deadline:
                raise AssertionError("a child outlived the killed command")
            time.sleep(0.02)
        assert process.exitcode is not None
        return process.exitcode

    def calls(self) -> list[tuple[str, float]]:
        """The stages that the last command began, in order, and when."""
        return [tuple(json.loads(line)) for line in self._begun.read_text().splitlines()]

    def failure(self, status: int) -> str:
        """How the last command failed, of its exit status; empty where it did what it could."""
        said = self._log.read_text(errors="replace")[-800:]
        return f"status {status}: {said}" if status not in ENDED or "Traceback" in said else ""

    def difference(self, step: str) -> str:
        """How the library after a step is damaged, has shards left over or other rows than undisturbed."""
        rows, expected = self._rows(), self._expected[step]
        if rows != expected:
            more, fewer = sorted({*rows} - {*expected}), sorted({*expected} - {*rows})
            return f"rows differ: {[r[:300] for r in more[:3]]} in place of {[r[:300] for r in fewer[:3]]}"
        if left := [*open_layout(self.library).shards()]:
            return f"left over: {left[:3]}"
        flags = {"library": self.library, "encoder.text": self._text}
        with Library.open(settings=load_settings(flags=flags)) as opened:
            checks = [check for check in opened.doctor() if check.ok is False]
        return "; ".join(f"{check.name}: {check.message}" for check in checks)

    def _rows(self) -> list[str]:
        """The dump of the library, without the place of the corpus and the encoders."""
        place = json.dumps(str(self._folder))[1:-1]
        return [line.replace(place, "FOLDER") for line in dump(self.library)]


def kill_runs(folder: Path, times: int, *, seed: int = 0, least: int = 0) -> tuple[Result, set[str]]:
    """Kill `times` runs in `folder`, and in each stage at least `least`; the result, and all stages."""
    bench, chance, result = Bench(folder), random.Random(seed), Result()
    stages = {stage for profile in bench.profiles.values() for stage in profile}
    with contextlib.suppress(KeyboardInterrupt):  # what was seen until then is printed
        while result.kills.total() < times or any(result.kills[stage] < least for stage in stages):
            left = max(times - result.kills.total(), KILLS_A_LIFE if least else 0)
            live(bench, chance, result, stages, min(left, KILLS_A_LIFE))
            print(f"{result.kills.total()} kills, {result.lives} libraries", file=sys.stderr)
    return result, stages


def live(bench: Bench, chance: random.Random, result: Result, stages: set[str], times: int) -> None:
    """One library: some kills, the end, the comparison."""
    wanted = _next(result, stages, chance)
    step = chance.choice([step for step, profile in bench.profiles.items() if wanted in profile])
    profile = bench.profiles[step]
    bench.start(step)
    hit: list[str] = []
    for kills in range(times + 1):
        aim = None
        if kills < times:
            # A run that goes on has fewer calls of it.
            nth = chance.randint(1, len(profile[wanted]) if not kills else (len(profile[wanted]) + 1) // 2)
            seconds = profile[wanted][nth - 1] * max(0.0, chance.uniform(-0.3, 1.0))
            aim = Aim(wanted, nth, seconds)
            result.aims[wanted] += 1
            wanted = _next(result, set(profile), chance)
        status = bench.run(step, aim)
        if status != -signal.SIGKILL:
            break
        hit.append(bench.calls()[-1][0])
        result.kills[hit[-1]] += 1
    result.lives += 1
    if problem := bench.failure(status) or bench.difference(step):
        result.messages.append(f"{step}, killed in {hit}: {problem}")
        print(result.messages[-1], flush=True)


def _next(result: Result, stages: set[str], chance: random.Random) -> str:
    """The stage that was aimed at least."""
    return min(sorted(stages), key=lambda stage: (result.aims[stage], chance.random()))


# In the process that is killed


def _is_empty(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@functools.cache
def server() -> ForkServerContext:
    """What commands are forks of."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*PRELOADED])
    return context


def _run_command(
    words: Sequence[str], log: Path, begun: Path, aim: Aim | None, environment: Mapping[str, str]
) -> None:
    os.setsid()
    for number, path in enumerate((os.devnull, os.devnull, str(log))):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
    os.environ.update(environment)
    fake_readers()
    small_commits()
    watch_stages(begun, aim)
    from rag._cli.main import run

    sys.argv = ["rag", *words]
    run()


def watch_stages(begun: Path, aim: Aim | None) -> None:
    """Write the name and the time of each call of a stage to `begun`, and end this process at `aim`.

    Every method of the database that writes is a stage too: with its table, one each.
    """
    lines = os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    calls: Counter[str] = Counter()
    lock = threading.RLock()

    def wrapped(call: Callable[..., Any], label: Callable[..., str]) -> Callable[..., Any]:
        @functools.wraps(call)
        def function(*given: Any, **named: Any) -> Any:
            stage = label(*given)
            with lock:
                calls[stage] += 1
                os.write(lines, f"{json.dumps([stage, time.monotonic()])}\n".encode())
                if aim is not None and (stage, calls[stage]) == (aim.stage, aim.nth):
                    if not aim.seconds:
                        os.kill(os.getpid(), signal.SIGKILL)
                    end = threading.Timer(aim.seconds, os.kill, (os.getpid(), signal.SIGKILL))
                    end.daemon = True
                    end.start()
            return call(*given, **named)

        return function

    for stage, places in STAGES.items():
        for place in places:
            module, _, path = place.partition(":")
            owner: Any = importlib.import_module(module)
            *parts, name = path.split(".")
            for part in parts:
                owner = getattr(owner, part)
            setattr(owner, name, wrapped(getattr(owner, name), lambda *_, s=stage: s))
    from rag.store.database import Database

    for method in (*COMMITS, "drop"):
        setattr(Database, method, wrapped(getattr(Database, method), functools.partial(_commit_of, method)))


def _commit_of(method: str, _: object, table: str = "", *__: Any) -> str:
    if not table:
        return method
    return f"{method} {table.partition('_')[0] if table.startswith('vectors_') else table}"


def small_commits() -> None:
    """A commit of each video and document: more boundaries in less material."""
    from rag.store.layout import Layout

    Layout.commit_seconds = 0.0


def fake_readers() -> None:
    """Text on the screen and speech as numbers, by which equal frames and sounds give equal texts."""
    from indexers.asr import Asr
    from indexers.ocr import Ocr
    from indexers.screen import TextBox
    from rag.indexing import pipeline, stages

    class Colours(Ocr):
        def read_clip(self, images: Iterable[Any]) -> Iterator[tuple[TextBox, ...]]:
            return ((TextBox(0, 0, 9, 9, f"colour {image.mean() // 8:.0f}", 1.0),) for image in images)

    class Loudness(Asr):
        def transcribe(self, chunks: Iterable[Any]) -> Iterator[tuple[float, float, str]]:
            begun = 0.0
            for chunk in chunks:
                end = begun + len(chunk) / 16_000
                yield begun, end, f"loudness {100 * abs(chunk).mean():.0f}"
                begun = end

    vars(pipeline).update(open_ocr=lambda _: Colours(None, "colours", 0.0, "on-screen text: on"))
    vars(stages).update(
        open_asr=lambda *_: Loudness(None, "", "loudness", "speech: on", lambda _: ()),
        asr_line=lambda *_: "speech: on",
    )


def main() -> None:
    """Print the table; the exit status is 1 where a library differed."""
    parser = option_parser(__doc__)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--least", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Two threads that sleep while they wait for each other, and do not spin; forks of what is imported warn.
    os.environ |= {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "PASSIVE", "PYTHONWARNINGS": "ignore"}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        least = given.times // 50 if given.least is None else given.least
        result, stages = kill_runs(Path(name), given.times, seed=given.seed, least=least)
    for line in result.lines():
        print(line)
    if missed := sorted(stages - result.kills.keys()):
        print(f"not hit: {', '.join(missed)}")
    raise SystemExit(1 if result.messages else 0)


if __name__ == "__main__":
    main()
