"""`rag eval run`: answer a benchmark's queries with one system after another, into run folders."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from rag._cli.options import Config, Json, Record, Replay, Verbose
from rag._cli.output import print_json, print_lines, talk
from rag._cli.session import start
from rag.errors import UsageError

if TYPE_CHECKING:
    from eval.runs.drive import Done

__all__ = ["Benchmark", "Data", "run"]

Benchmark = Annotated[
    str, typer.Argument(metavar="BENCHMARK", help="A name of 'rag eval list', or MODULE:FACTORY of your own.")
]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="Where the benchmark's data lie. Default: its own place."),
]


def run(
    benchmark: Benchmark,
    system: Annotated[
        str,
        typer.Option("--system", metavar="NAME[,NAME]", help="Which systems, or 'all'.", show_default=False),
    ] = "all",
    seed: Annotated[
        str, typer.Option("--seed", metavar="N[,N]", help="Seeds; several are pooled in reports.")
    ] = "0",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Where the run folders go: DIR/NAME-seedN. Default: runs/BENCHMARK."
        ),
    ] = None,
    data: Data = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Only the first N queries.")
    ] = None,
    record: Record = None,
    replay: Replay = None,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
) -> int:
    """Run systems on a benchmark. What a killed run has answered is kept: the same command goes on."""
    flags = {"reasoner.record": record, "reasoner.replay": replay}
    session = start(None, config, as_json, verbose, None, flags)
    from eval.benchmarks import open_benchmark
    from eval.runs.drive import run_system

    opened = open_benchmark(benchmark, data)
    due = _due(opened.name, _systems(system, opened.systems()), _seeds(seed), out, limit)
    where = None if data is None else os.fsdecode(data)
    done: list[Done] = []
    with _environment(record=record, replay=replay):
        for folder, name, number in due:
            with _Progress(f"{opened.name}, {name}") as watch:
                made = run_system(
                    opened, name, number, folder, limit=limit, factory=benchmark, data=where, watch=watch
                )
            done.append(made)
    if session.as_json:
        from rag.rendering.shapes import report_shape

        print_json(report_shape("rag.eval.run/1", {"benchmark": opened.name, "runs": done}))
    else:
        print_lines(_lines(opened.name, done))
    return 0


@contextmanager
def _environment(**files: Path | None) -> Iterator[None]:
    """Benchmarks resolve settings of their own; what the flags say reaches them by the environment."""
    named = {f"RAG_REASONER__{name.upper()}": path for name, path in files.items() if path is not None}
    before = {name: os.environ.get(name) for name in named}
    os.environ.update({name: os.fspath(path) for name, path in named.items()})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _due(
    benchmark: str, names: Sequence[str], seeds: Sequence[int], out: Path | None, limit: int | None
) -> list[tuple[Path, str, int]]:
    """Folder, system and seed of every run, each folder looked into before any work is done."""
    from eval.runs.places import default_place, folder_name, require_same_run

    place = default_place(benchmark) if out is None else out
    due = [(place / folder_name(name, seed), name, seed) for name in names for seed in seeds]
    for folder, name, seed in due:
        require_same_run(folder, benchmark, name, seed, limit)
    return due


def _systems(wanted: str, known: Mapping[str, str]) -> list[str]:
    names = list(known) if wanted == "all" else [name.strip() for name in wanted.split(",")]
    for name in names:
        if name not in known:
            raise UsageError(f"no system {name!r}; there are {', '.join(known)}")
    return list(dict.fromkeys(names))


def _seeds(wanted: str) -> list[int]:
    try:
        return list(dict.fromkeys(int(part) for part in wanted.split(",")))
    except ValueError as error:
        raise UsageError(f"--seed {wanted}: not whole numbers between commas") from error


def _lines(benchmark: str, done: Sequence[Done]) -> Iterator[str]:
    from eval.reports.words import words_of
    from rag.rendering.terminal import table_lines, visible

    rows = [["system", "seed", "right", "queries", "folder"]]
    for each in done:
        total = each.asked + each.kept
        share = f"{each.right / total:.1%}"
        rows.append([each.system, str(each.seed), share, str(total), visible(os.fspath(each.folder))])
    yield from table_lines(rows)
    yield f"right: {words_of(benchmark).right}"
    yield ""
    folders = [each.folder for each in done]
    place = folders[0] if len(folders) == 1 else folders[0].parent
    yield f"tables and figures, each with its interval: rag eval report {visible(os.fspath(place))}"


class _Progress:
    """A bar with the time left where a person watches, else a line every ten seconds.

    Until the first query is asked a line says that the data are being made: nobody knows for how long.
    """

    def __init__(self, preparing: str = "", interval: float = 10.0) -> None:
        self._preparing = preparing
        self._asking = threading.Event()
        self._interval = interval
        self._bar: Any = None
        self._task: Any = None
        self._label = ""
        self._total = self._done = 0
        self._begun = self._said = time.monotonic()

    def __enter__(self) -> Self:
        threading.Thread(target=self._say_preparing, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._asking.set()
        if self._bar is not None:
            self._bar.stop()

    def _say_preparing(self) -> None:
        from rag.rendering.terminal import duration

        pause, begun = self._interval, time.monotonic()
        while not self._asking.wait(pause):
            pause = min(2 * pause, 60.0)
            took = duration(time.monotonic() - begun)
            talk(f"{self._preparing}: the first use draws and indexes its data; {took} so far")

    def start(self, label: str, total: int) -> None:
        self._asking.set()
        self._label, self._total = label, total
        self._begun = self._said = time.monotonic()
        if total and sys.stderr.isatty():
            self._bar = _rich_bar()
            self._task = self._bar.add_task(label, total=total)
            self._bar.start()

    def advance(self) -> None:
        self._done += 1
        if self._bar is not None:
            self._bar.advance(self._task)
        elif time.monotonic() - self._said >= self._interval:
            self._said = time.monotonic()
            talk(self.line())

    def line(self) -> str:
        """`localized, seed 0: 120 of 396, about 40 s left`."""
        from rag.rendering.terminal import duration

        took = time.monotonic() - self._begun
        left = took * (self._total - self._done) / max(1, self._done)
        return f"{self._label}: {self._done} of {self._total}, about {duration(left)} left"


def _rich_bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
