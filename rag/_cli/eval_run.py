"""`rag eval run`: answer a benchmark's queries with one system after another, into run folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corpora.outputs import RECORDING, claim_appended
from rag._cli.eval_progress import RunProgress
from rag._cli.options import Config, Force, Json, Record, Replay, Verbose
from rag._cli.output import print_json, print_lines
from rag._cli.session import start
from rag.errors import UsageError

if TYPE_CHECKING:
    from eval.runs.runner import Done

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
    force: Force = False,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
) -> int:
    """Run systems on a benchmark. What a killed run has answered is kept: the same command goes on."""
    flags = {"reasoner.record": record, "reasoner.replay": replay}
    session = start(None, config, as_json, verbose, None, flags)
    policy = session.overwrite_policy(force, replay)
    if record is not None:
        claim_appended(record, RECORDING, policy)
    from eval.runs.folder import require_run_folder
    from eval.runs.progress import watched
    from eval.runs.runner import run_system
    from eval.tasks import open_benchmark

    opened = open_benchmark(benchmark, data)
    due = _due(opened.name, _systems(system, opened.systems()), _seeds(seed), out, limit)
    for folder, _, _ in due:
        require_run_folder(folder, policy)
    where = None if data is None else os.fsdecode(data)
    done: list[Done] = []
    with _environment(record=record, replay=replay):
        for folder, name, number in due:
            with RunProgress(f"{opened.name}, {name}") as watch, watched(watch.made):
                made = run_system(
                    opened,
                    name,
                    number,
                    folder,
                    limit=limit,
                    factory=benchmark,
                    data=where,
                    watch=watch,
                    policy=policy,
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
    from eval.runs.paths import default_place, folder_name, require_same_run

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
    from eval.reports.labels import words_of
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
