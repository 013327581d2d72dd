"""`kill -9` at moments spread over every stage of indexing, and the same command again.

    python -m benchmarks.kill_index --times 1000 [--least 20] [--seed 0]

A small corpus (videos with sound, subtitles and texts on the screen, documents, a copy, a file that is cut
off) is indexed, changed (a file goes, one is renamed, subtitles differ) and indexed with `--prune`, then
encoded again by another encoder. A command is killed before, in or after a call of the stage that was hit
least so far, a few times in one life of a library, and then runs to its end. The library must be that of a
run without kills, row for row; no shard may be left; `rag doctor` must find nothing broken.
Prints kills and faults by stage. `--least`: goes on until each stage was hit so often, a fiftieth of
`--times` unless given. Interrupted or terminated, it ends with what was seen until then.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.kill_points import Aim, Run, When
from benchmarks.options import option_parser
from rag.library import Library
from rag.settings import load_settings
from rag.store.layout import open_layout
from tests.fakes.library_dump import dump
from tests.fakes.synthetic import truncate, write_video
from tests.fakes.tiny_models import save_clip
from tests.fakes.tiny_text import write_tiny_text

KILLS_A_LIFE = 4
ENDED = (0, 3)
"""Exit statuses of a command that did what it could: all, or all but bad files."""
STEPS = {"index": (), "change": ("--prune",), "re-embed": ("--reembed",)}
"""Runs of `rag index` after which a library is compared, with their options."""


@dataclass
class Result:
    """What a series of kills showed."""

    kills: Counter[str] = field(default_factory=Counter)
    """How many kills hit each stage; a kill within two nested stages counts for both."""
    faults: Counter[str] = field(default_factory=Counter)
    """How many libraries ended otherwise than undisturbed, by each stage that a kill had hit in them."""
    times: int = 0
    lives: int = 0
    messages: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """A table."""
        yield "| stage | kills | faults |"
        yield "| --- | ---: | ---: |"
        for stage, count in sorted(self.kills.items()):
            yield f"| {stage} | {count} | {self.faults[stage]} |"
        yield f"| all ({self.lives} libraries) | {self.times} | {len(self.messages)} |"


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
        self._folder, self._log = folder, folder / "command.log"
        self.library = folder / "library"
        self._corpora = [folder / "corpus-0", folder / "corpus-1"]
        write_corpora(*self._corpora)
        self._text = write_tiny_text(folder / "tiny-text")
        self._environment = {
            "RAG_ENCODER__IMAGE": f"hf:{save_clip(folder / 'tiny-clip')}",
            "RAG_ENCODER__TEXT": str(self._text),
            "RAG_OCR__MODE": "off",
        }
        self._other_encoder = f"hf:{save_clip(folder / 'other-clip', seed=1)}"
        self.profiles: dict[str, dict[str, list[float]]] = {}
        """Durations of the calls of each stage, by step."""
        self._expected: dict[str, list[str]] = {}
        for step in STEPS:
            self.start(step)
            run = self.run(step)
            if failure := self.failure(run.wait()):
                raise SystemExit(f"{step}: {failure}")
            self.profiles[step] = run.seconds()
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

    def run(self, step: str, aim: Aim | None = None) -> Run:
        """Start the command of a step."""
        words = ["index", str(self._folder / "corpus"), *STEPS[step], "--library", str(self.library)]
        other = {"RAG_ENCODER__IMAGE": self._other_encoder} if step == "re-embed" else {}
        return Run(words, self._log, self._environment | other, aim)

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
        flags = {"library": self.library, "encoder.text": str(self._text)}
        with Library.open(settings=load_settings(flags=flags)) as opened:
            checks = [check for check in opened.doctor() if check.ok is False]
        return "; ".join(f"{check.name}: {check.message}" for check in checks)

    def _rows(self) -> list[str]:
        """The dump of the library, without the place of the corpus and the encoders."""
        place = json.dumps(str(self._folder))[1:-1]
        return [line.replace(place, "FOLDER") for line in dump(self.library)]


class Killer:
    """Kills commands and compares what they leave."""

    def __init__(self, bench: Bench, seed: int) -> None:
        self._bench = bench
        self._random = random.Random(seed)
        self._tries: Counter[str] = Counter()
        self.result = Result()
        self.stages = {stage for profile in bench.profiles.values() for stage in profile}

    def kill(self, times: int, least: int = 0) -> Result:
        """Kill so often, over as many libraries as that takes, and each stage at least `least` times."""
        kills = self.result.kills
        with contextlib.suppress(KeyboardInterrupt):  # what was seen until then is printed
            while self.result.times < times or any(kills[stage] < least for stage in self.stages):
                self._live(max(times - self.result.times, KILLS_A_LIFE if least else 0))
                print(f"{self.result.times} kills, {self.result.lives} libraries", file=sys.stderr)
        return self.result

    def _live(self, times: int) -> None:
        """One library: some kills, the end, the comparison."""
        bench = self._bench
        wanted = self._next(self.stages)
        step = self._random.choice([step for step, profile in bench.profiles.items() if wanted in profile])
        bench.start(step)
        hit: list[str] = []
        for kills in range(min(times, KILLS_A_LIFE) + 1):
            aim = None
            if kills < min(times, KILLS_A_LIFE):
                aim = self._aim(wanted, bench.profiles[step], first=not kills)
                wanted = self._next(set(bench.profiles[step]))
            run = bench.run(step, aim)
            status = run.wait()
            if status != -signal.SIGKILL:
                break
            self.result.times += 1
            hit += run.struck()
            self.result.kills.update(run.struck() or ["between stages"])
        self.result.lives += 1
        if problem := bench.failure(status) or bench.difference(step):
            self.result.faults.update(set(hit))
            self.result.messages.append(f"{step}, killed in {hit}: {problem}")
            print(self.result.messages[-1], flush=True)

    def _next(self, stages: set[str]) -> str:
        """The stage that was hit least; of several that was tried least."""
        stage = min(
            sorted(stages),
            key=lambda s: (self.result.kills[s] + self._tries[s] // 4, self._tries[s], self._random.random()),
        )
        self._tries[stage] += 1
        return stage

    def _aim(self, stage: str, profile: dict[str, list[float]], *, first: bool) -> Aim:
        """A moment of a stage. A run that goes on has fewer calls of it."""
        seconds = profile[stage]
        nth = self._random.randint(1, len(seconds) if first else (len(seconds) + 1) // 2)
        moments: tuple[When, ...] = ("before", "during", "during", "after")
        when = self._random.choice(moments)
        return Aim(stage, nth, when, self._random.uniform(0, sorted(seconds)[len(seconds) // 2]))


def kill_runs(folder: Path, times: int, *, seed: int = 0, least: int = 0) -> tuple[Result, set[str]]:
    """Kill `times` runs in `folder`; the result, and all stages that could be hit."""
    killer = Killer(Bench(folder), seed)
    return killer.kill(times, least), killer.stages


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
