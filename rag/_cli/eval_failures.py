"""`rag eval failures`: where the failed samples of a run went wrong, with pictures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag._cli.eval_run import Data
from rag._cli.eval_show import prepare_task
from rag._cli.options import Config, Force, Json, Verbose
from rag._cli.output import echo_stderr, print_json, print_lines
from rag._cli.session import start
from rag.errors import UsageError

if TYPE_CHECKING:
    from corpora.outputs import OverwritePolicy
    from eval.runs.folder import Run
    from rag.settings import Settings


def failures(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or a folder that holds some.")],
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", help="Where the page goes; of several runs, each in a folder of its own."
        ),
    ] = Path("failures"),
    data: Data = None,
    force: Force = False,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
) -> int:
    """Write failures.html and failures.csv: each failed sample by its stage, by rule, with a picture."""
    session = start(None, config, as_json, verbose, None)
    from eval.runs.folder import read_run_folder
    from eval.runs.paths import run_folders

    folders = run_folders([run])
    policy = session.overwrite_policy(force, run)
    files: list[Path] = []
    unsupported: list[UsageError] = []
    for folder in folders:
        held = read_run_folder(folder)
        try:
            files += _write(
                held, data, session.settings, out if len(folders) == 1 else out / _own_folder(held), policy
            )
        except UsageError as error:
            if len(folders) == 1:
                raise
            unsupported.append(error)
            echo_stderr(str(error))
    if not files:
        raise UsageError(f"no run in {run} supports failure analysis") from unsupported[0]
    if session.as_json:
        from rag.rendering.shapes import report_shape

        print_json(report_shape("rag.eval.failures/1", {"files": files}))
    else:
        from rag.rendering.terminal import visible

        print_lines(visible(os.fspath(path)) for path in files)
    return 0


def _own_folder(run: Run) -> Path:
    from eval.runs.paths import folder_name, plain_name

    identity = run.identity
    return Path(plain_name(identity["benchmark"])) / folder_name(identity["system"], identity["seed"])


def _write(run: Run, data: Path | None, settings: Settings, out: Path, policy: OverwritePolicy) -> list[Path]:
    """Raises `UsageError` where the task has no failure analysis."""
    from functools import partial

    from eval.reports.failures import write_failures

    task, prepared = prepare_task(run, data, settings)
    if not run.complete:
        done, due = len(run.samples), len(run.queries)
        echo_stderr(f"{run.folder}: {done} of {due} queries are answered; the others are left out")
    return write_failures(run, partial(task.failure, prepared), task.frame_reader(prepared), out, policy)
