"""`rag eval run` and `rag eval score`: solvers run on a task, and stored runs scored again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rag._cli.eval_show import prepare_task
from rag._cli.options import argument, option
from rag._cli.output import echo_stderr
from rag._cli.progress import CountProgress
from rag._cli.session import Data, Force, Session, given_path, with_session
from rag.errors import Unanswered

if TYPE_CHECKING:
    from eval.runs.runner import Done
    from eval.task import Prepared, Task


Benchmark = Annotated[
    str,
    argument(
        "BENCHMARK",
        "A name of 'rag eval list', or MODULE:FACTORY of your own. Options come behind: NAME:OPTION=VALUE.",
    ),
]

Systems = Annotated[
    list[str] | None,
    option("--system --solver NAME[,NAME]", "Which systems; may be repeated. Default: all of them."),
]
Out = Annotated[
    Path | None,
    option(
        "--out DIR", "Where the run folders go: DIR/NAME-seedN. Default: runs/BENCHMARK.", parser=given_path
    ),
]
Limit = Annotated[
    int | None, option("--limit N", "Only the first N queries; a larger N goes on with the run.", min=1)
]
Concurrency = Annotated[
    int,
    option(
        "--concurrency N",
        "Queries in flight, while others wait for a language model; the files are the same.",
        min=1,
        max=256,
    ),
]


@with_session(without=("library",))
def run(
    session: Session,
    benchmark: Benchmark,
    system: Systems = None,
    seed: Annotated[int, option("--seed N", "Seed of what is by chance.")] = 0,
    out: Out = None,
    data: Data = None,
    limit: Limit = None,
    concurrency: Concurrency = 1,
    force: Force = False,
) -> int:
    """Run systems on a benchmark. What a killed run has answered is kept: the same command goes on."""
    policy = session.overwrite_policy(force)
    from eval.runs.folder import require_run_folder
    from eval.runs.runner import run_solver
    from eval.tasks import open_task

    task = open_task(benchmark, data)
    wanted = ",".join(system or ["all"])
    names = _systems(wanted, task)
    due = _due(task.name, names, seed, out, limit)
    for folder, _ in due:
        require_run_folder(folder, policy)
    where = None if data is None else os.fsdecode(data)
    with CountProgress(f"{task.name}: preparing its data") as progress:
        prepared = task.prepare(session.settings, progress.update)
    _say_unusable(task.name, prepared)
    if wanted == "all" and len(names) > 1:
        echo_stderr(
            f"{task.name}: all {len(names)} systems run; --system {','.join(names[:2])} runs these two, "
            f"and 'rag eval list {benchmark}' names all"
        )
    how: Any = {"limit": limit, "factory": benchmark, "data": where}
    how |= {"policy": policy, "concurrency": concurrency}
    done: list[Done] = []
    for folder, name in due:
        with CountProgress(f"{task.name}, {name}") as progress:
            done.append(run_solver(task, prepared, name, seed, folder, progress=progress.update, **how))
        _say_unanswered(done[-1])
    session.report("rag.eval.run/1", {"benchmark": task.name, "runs": done}, run_lines(task, done))
    return 0


def _say_unusable(name: str, prepared: Prepared[Any]) -> None:
    """Say on stderr how many rows of the data are no query, and the first of each reason."""
    from eval.runs.records import reason_counts, split_reason

    rows = prepared.unusable
    first = {split_reason(row.reason)[0]: row for row in reversed(rows)}
    for kind, count in reason_counts(row.reason for row in rows).items():
        echo_stderr(
            f"{name}: unusable rows: {count} ({kind}); the first: {first[kind].place}: {first[kind].reason}"
        )


def _say_unanswered(done: Done) -> None:
    """Say on stderr how many queries were skipped, or got no usable answer or verdict, and why the first."""
    from eval.runs.folder import read_run_folder
    from eval.runs.records import reason_counts, skip_reason, without_gold

    lost = {kind.__name__ for kind in Unanswered.__subclasses__()}
    samples = read_run_folder(done.folder).samples
    if skipped := list(filter(None, map(skip_reason, samples))):
        kinds = ", ".join(f"{count} {kind}" for kind, count in reason_counts(skipped).items())
        echo_stderr(
            f"{done.system}, seed {done.seed}: {len(skipped)} of {len(samples)} queries are "
            f"skipped ({kinds}); the first: {skipped[0]}; the same command asks them once they can be"
        )
    reasons = [
        str(held.get("unjudged") or held.get("explanation") or held["failure"])
        for sample in samples
        if (held := sample.evidence).get("failure") in lost
        or (held.get("unjudged") and not without_gold(sample))
    ]
    if reasons:
        echo_stderr(
            f"{done.system}, seed {done.seed}: {len(reasons)} of {len(samples)} queries got no usable "
            f"answer or verdict; the first: {reasons[0]}; to ask them again, delete {done.folder}"
        )


def _due(
    benchmark: str, names: Sequence[str], seed: int, out: Path | None, limit: int | None
) -> list[tuple[Path, str]]:
    """Folder and system of every run, each folder looked into before any work is done."""
    from eval.runs.folder import default_place, folder_name, require_same_run

    place = default_place(benchmark) if out is None else out
    due = [(place / folder_name(name, seed), name) for name in names]
    for folder, name in due:
        require_same_run(folder, benchmark, name, seed, limit)
    return due


def _systems(wanted: str, task: Task[Any]) -> list[str]:
    """Raises `UsageError` for a name that the task does not know."""
    from eval.tasks import find_solver, solver_names

    names = solver_names(task) if wanted == "all" else [name.strip() for name in wanted.split(",")]
    for name in names:
        find_solver(task, name)
    return list(dict.fromkeys(names))


def run_lines(task: Task[Any], done: Sequence[Done]) -> Iterator[str]:
    """Lines that summarize finished runs."""
    from corpora.escaping import visible
    from rag.rendering.terminal import table_lines

    rows = [["system", "seed", "right", "queries", "folder"]]
    for each in done:
        total = each.asked + each.kept - each.skipped
        scored = total - each.without_gold
        share = f"{each.right / scored:.1%}" if scored else "none"
        rows.append([each.system, str(each.seed), share, str(total), visible(os.fspath(each.folder))])
    yield from table_lines(rows)
    yield f"right: {task.report.data.labels.right}"
    yield ""
    folders = [each.folder for each in done]
    place = folders[0] if len(folders) == 1 else folders[0].parent
    yield f"tables and figures, each with its interval: rag eval report {visible(os.fspath(place))}"


@with_session(without=("library",))
def score(
    session: Session,
    run: Annotated[Path, argument("RUN", "A run folder, or a folder that holds some.")],
    judge: Annotated[str | None, option("--judge NAME", "Another judge of the benchmark.")] = None,
    data: Data = None,
) -> int:
    """Score the samples of complete runs again.

    With the settings and judge given now. The stored outputs stay;
    scores, figures and the run's scorer are replaced.
    """
    from eval.runs.folder import read_run_folder, run_folders
    from eval.runs.runner import done_of, score_again

    done: list[Done] = []
    for folder in run_folders([run]):
        held = read_run_folder(folder)
        with CountProgress(f"{held.identity['benchmark']}: preparing its data") as progress:
            task, prepared = prepare_task(held, data, session.settings, progress.update)
            made = score_again(task, prepared, folder, judge)
        done.append(done_of(made, 0))
    session.report("rag.eval.score/1", {"runs": done}, run_lines(task, done))
    return 0
