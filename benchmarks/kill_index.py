"""`kill -9` at moments spread over every stage of indexing, and the same command again.

    python -m benchmarks.kill_index --times 1000 [--least 20] [--seed 0] [--way plain|store]

A small corpus (videos with sound, subtitles and texts on the screen, documents, a copy, a file that is cut
off) is indexed, changed (a file goes, one is renamed, subtitles differ) and indexed with `--prune`, then
encoded again by another encoder. A command is killed before, in or after a call of the stage that was hit
least so far, a few times in one life of a library, and then runs to its end. The library must be that of a
plain run without kills, row for row; no shard may be left; `rag doctor` must find nothing broken.
Prints kills and faults by stage. `--least`: goes on until each stage was hit so often, a fiftieth of
`--times` unless given. `plain`: on local disk. `store`: corpus and library on an object store (moto),
which answers one request in ten with an error in every second life. Interrupted or terminated, it ends with
what was seen until then.
"""

from __future__ import annotations

import contextlib
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.kill_bench import Bench, Result, StoreBench
from benchmarks.kill_points import Aim, When, open_server
from benchmarks.options import option_parser

KILLS_A_LIFE = 4


class Killer:
    """Kills commands and compares what they leave."""

    def __init__(self, bench: Bench, expected: Sequence[Sequence[str]], seed: int) -> None:
        self._bench = bench
        self._expected = expected
        self._random = random.Random(seed)
        self._tries: Counter[str] = Counter()
        self.result = Result()

    def stages(self) -> set[str]:
        """All that occur."""
        return {stage for profile in self._bench.profiles.values() for stage in profile}

    def kill(self, times: int, least: int = 0) -> Result:
        """Kill so often, over as many libraries as that takes, and each stage at least `least` times."""
        kills = self.result.kills
        with contextlib.suppress(KeyboardInterrupt):  # what was seen until then is printed
            while self.result.times < times or any(kills[stage] < least for stage in self.stages()):
                self._live(max(times - self.result.times, KILLS_A_LIFE if least else 0))
                print(f"{self.result.times} kills, {self.result.lives} libraries", file=sys.stderr)
        return self.result

    def _live(self, times: int) -> None:
        """One library: some kills, the end, the comparison."""
        bench = self._bench
        wanted = self._next(self.stages())
        places = [place for place, profile in bench.profiles.items() if wanted in profile]
        step, target = self._random.choice(places)
        library = bench.start(step)
        hit: list[str] = []
        kills = 0
        for command in range(len(bench.steps[step].commands)):
            while True:
                aim = None
                if command == target and kills < min(times, KILLS_A_LIFE):
                    aim = self._aim(wanted, bench.profiles[step, command], first=not kills)
                    wanted = self._next(set(bench.profiles[step, command]))
                run = bench.run(step, command, library, aim)
                status = run.wait()
                if status != -signal.SIGKILL:
                    break
                kills += 1
                self.result.times += 1
                hit += run.struck()
                self.result.kills.update(run.struck() or ["between stages"])
            if failure := bench.failure(status):
                self._fault(step, hit, failure)
                return
        self.result.lives += 1
        if problem := bench.difference(step, library, self._expected[step]):
            self._fault(step, hit, problem)

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

    def _fault(self, step: int, hit: list[str], problem: str) -> None:
        self.result.faults.update(set(hit))
        self.result.messages.append(f"{self._bench.steps[step].name}, killed in {hit}: {problem}")
        print(self.result.messages[-1], flush=True)


WAYS: dict[str, type[Bench]] = {"plain": Bench, "store": StoreBench}


def kill_runs(
    folder: Path, times: int, *, seed: int = 0, way: str = "plain", least: int = 0
) -> tuple[Result, set[str]]:
    """Kill `times` runs in `folder`; the result, and all stages that could be hit."""
    with open_server() as server:
        plain = Bench(folder, server)
        plain.undisturbed()
        expected = [plain.rows(step, folder / f"after-{step}") for step in range(len(plain.steps))]
        bench = plain
        if way != "plain":
            bench = WAYS[way](folder / way, server, folder)
            bench.undisturbed()
        killer = Killer(bench, expected, seed)
        return killer.kill(times, least), killer.stages()


def main() -> None:
    """Print the table; the exit status is 1 where a library differed."""
    parser = option_parser(__doc__)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--least", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--way", choices=WAYS, default="plain")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        least = given.times // 50 if given.least is None else given.least
        result, stages = kill_runs(Path(name), given.times, seed=given.seed, way=given.way, least=least)
    for line in result.lines():
        print(line)
    if missed := sorted(stages - result.kills.keys()):
        print(f"not hit: {', '.join(missed)}")
    raise SystemExit(1 if result.messages else 0)


if __name__ == "__main__":
    main()
