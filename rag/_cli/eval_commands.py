"""`rag eval`: list tasks and solvers, report runs; the other commands are in `eval_run` and `eval_show`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag._cli import eval_build, eval_run, eval_show, eval_simulate
from rag._cli.eval_show import print_files
from rag._cli.options import argument, option
from rag._cli.output import echo_stderr
from rag._cli.session import Force, Session, given_path, with_session
from rag.errors import SettingsError, UsageError

if TYPE_CHECKING:
    from eval.task import Task


@with_session(without=("library", "seed"))
def report(
    session: Session,
    runs: Annotated[
        list[Path], argument("RUN...", "Run folders of 'rag eval run', or folders that hold some.")
    ],
    out: Annotated[Path, option("--out DIR", "Where the report goes.", parser=given_path)] = Path("report"),
    everything: Annotated[
        bool, option("--all", "One page for all benchmarks, beside what the papers printed.")
    ] = False,
    force: Force = False,
) -> int:
    """Write report.md, CSV and PNG of each table and figure.

    With --all, one page in three forms. Runs of one system are pooled over seeds.
    """
    policy = session.overwrite_policy(force, *runs)
    if everything:
        from eval.reports.page import write_overview

        files = write_overview(runs, out, policy)
    else:
        from eval.reports.page import write_report

        files = write_report(runs, out, policy)
    print_files(session, "rag.eval.report/1", files)
    return 0


app = typer.Typer(help="Run evaluations and report them.", rich_markup_mode=None)


@dataclass(frozen=True, slots=True)
class Listed:
    """A benchmark, and each of its systems in one line."""

    name: str
    about: str
    systems: Mapping[str, str]


@app.command("list")
@with_session(without=("library", "seed"))
def list_(session: Session) -> int:
    """The benchmarks, and the systems that can be tried on each. Exit 3 if an extension cannot be loaded."""
    from eval.tasks import open_task, task_names

    found: list[Listed] = []
    failed: list[str] = []
    for name in task_names():
        try:
            found.append(_listed(name, open_task(name), failed))
        except UsageError as error:
            failed.append(str(error))
    for line in failed:
        echo_stderr(f"rag: {line}")
    session.report("rag.eval.list/1", {"benchmarks": found}, _lines(found))
    return 3 if failed else 0


def _listed(name: str, task: Task[Any], failed: list[str]) -> Listed:
    """Appends to `failed` a line for each solver that cannot be loaded."""
    from eval.tasks import find_solver, solver_names

    about: dict[str, str] = {}
    for solver in solver_names(task):
        try:
            about[solver] = find_solver(task, solver).about
        except SettingsError as error:
            failed.append(str(error))
    return Listed(name, task.about, about)


def _lines(found: Sequence[Listed]) -> Iterator[str]:
    """What an earlier benchmark has listed is not listed once more; `localized@1`, `@2`, ... are one line."""
    from rag.rendering.terminal import table_lines

    listed: dict[tuple[str, ...], str] = {}
    for benchmark in found:
        yield f"{benchmark.name}: {benchmark.about}"
        first = listed.setdefault(tuple(benchmark.systems), benchmark.name)
        if benchmark.systems and first != benchmark.name:
            yield f"     the systems of {first}"
            continue
        yield from table_lines([["   ", name, about] for name, about in _folded(benchmark.systems).items()])


def _folded(systems: Mapping[str, str]) -> Mapping[str, str]:
    """`localized@1`, `localized@2`, ... as `localized@N`, said once for all values of N."""
    values: dict[str, list[str]] = {}
    for name in systems:
        stem, at, value = name.partition("@")
        if at:
            values.setdefault(stem, []).append(value)
    folded: dict[str, str] = {}
    for name, about in systems.items():
        stem, at, value = name.partition("@")
        if not at or len(values[stem]) == 1:
            folded[name] = about
        else:
            before, _, after = about.rpartition(value)
            folded.setdefault(f"{stem}@N", f"{before}N{after}, N = {', '.join(values[stem])}")
    return folded


app.command("build")(eval_build.build)
app.command("run")(eval_run.run)
app.command("score")(eval_run.score)
app.command("report")(report)
app.command("show")(eval_show.show)
app.command("failures")(eval_show.failures)
app.command("simulate-model")(eval_simulate.simulate_model)
