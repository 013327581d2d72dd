"""`rag eval run`: answer a task's queries with one solver after another, into run folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corpora.outputs import RECORDING, claim_appended
from rag._cli.eval_progress import RunProgress
from rag._cli.options import Config, Force, Json, Record, Replay, Verbose
from rag._cli.output import print_json, print_lines
from rag._cli.session import start
from rag.errors import UsageError

if TYPE_CHECKING:
    from eval.runs.runner import Done
    from eval.task import Task

Benchmark = Annotated[
    str, typer.Argument(metavar="BENCHMARK", help="A name of 'rag eval list', or MODULE:FACTORY of your own.")
]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="The benchmark's data. Default: a folder of its name here."),
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
    from eval.runs.runner import run_solver
    from eval.tasks import open_task

    task = open_task(benchmark, data)
    due = _due(task.name, _systems(system, task), _seeds(seed), out, limit)
    for folder, _, _ in due:
        require_run_folder(folder, policy)
    where = None if data is None else os.fsdecode(data)
    done: list[Done] = []
    with RunProgress(task.name) as progress:
        prepared = task.prepare(session.settings, progress.made)
    for folder, name, number in due:
        with RunProgress(f"{task.name}, {name}") as progress:
            made = run_solver(
                task,
                prepared,
                name,
                number,
                folder,
                limit=limit,
                factory=benchmark,
                data=where,
                observer=progress,
                policy=policy,
            )
        done.append(made)
    if session.as_json:
        from rag.rendering.shapes import report_shape

        print_json(report_shape("rag.eval.run/1", {"benchmark": task.name, "runs": done}))
    else:
        print_lines(run_lines(task, done))
    return 0


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


def _systems(wanted: str, task: Task[Any]) -> list[str]:
    """Raises `UsageError` for a name that the task does not know."""
    from eval.tasks import find_solver, solvers_of

    names = list(solvers_of(task)) if wanted == "all" else [name.strip() for name in wanted.split(",")]
    for name in names:
        find_solver(task, name)
    return list(dict.fromkeys(names))


def _seeds(wanted: str) -> list[int]:
    try:
        return list(dict.fromkeys(int(part) for part in wanted.split(",")))
    except ValueError as error:
        raise UsageError(f"--seed {wanted}: not whole numbers between commas") from error


def run_lines(task: Task[Any], done: Sequence[Done]) -> Iterator[str]:
    """Lines that summarize finished runs."""
    from rag.rendering.terminal import table_lines, visible

    rows = [["system", "seed", "right", "queries", "folder"]]
    for each in done:
        total = each.asked + each.kept
        share = f"{each.right / total:.1%}"
        rows.append([each.system, str(each.seed), share, str(total), visible(os.fspath(each.folder))])
    yield from table_lines(rows)
    yield f"right: {task.report.labels.right}"
    yield ""
    folders = [each.folder for each in done]
    place = folders[0] if len(folders) == 1 else folders[0].parent
    yield f"tables and figures, each with its interval: rag eval report {visible(os.fspath(place))}"
