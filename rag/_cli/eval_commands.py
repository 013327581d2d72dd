"""`rag eval`: list tasks and solvers, report runs; the other commands are in `eval_run` and `eval_show`."""

from __future__ import annotations

from collections.abc import Mapping
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
from rag.rendering.terminal import table_lines

if TYPE_CHECKING:
    from eval.task import Task


@with_session(without=("library",))
def report(
    session: Session,
    runs: Annotated[
        list[Path], argument("RUN...", "Run folders of 'rag eval run', or folders that hold some.")
    ],
    out: Annotated[Path, option("--out DIR", "Where the report goes.", parser=given_path)] = Path("report"),
    force: Force = False,
) -> int:
    """Write report.md, CSV and PNG of each table and figure."""
    from eval.reports.page import write_report

    files = write_report(runs, out, session.overwrite_policy(force, *runs))
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
@with_session(without=("library",))
def list_(
    session: Session,
    benchmark: Annotated[
        str | None, argument("BENCHMARK", "List its systems, each in one line.", show_default=False)
    ] = None,
) -> int:
    """The benchmarks, or the systems of one. Exit 3 if an extension cannot be loaded."""
    from eval.tasks import open_task, task_names

    found: list[Listed] = []
    failed: list[str] = []
    for name in task_names() if benchmark is None else [benchmark]:
        try:
            found.append(_listed(name, open_task(name), failed))
        except UsageError as error:
            if benchmark is not None:
                raise
            failed.append(str(error))
    for line in failed:
        echo_stderr(f"rag: {line}")
    rows = [[each.name, f"{len(each.systems)} systems", each.about] for each in found]
    if benchmark is not None:
        rows = [[name, about] for name, about in found[0].systems.items()]
    session.report("rag.eval.list/1", {"benchmarks": found}, table_lines(rows))
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


app.command("build")(eval_build.build)
app.command("run")(eval_run.run)
app.command("score")(eval_run.score)
app.command("report")(report)
app.command("show")(eval_show.show)
app.command("simulate-model")(eval_simulate.simulate_model)
