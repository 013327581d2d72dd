"""`rag eval failures`: where the failed samples of a run went wrong, with pictures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag._cli.eval_run import Data
from rag._cli.eval_show import require_same_data
from rag._cli.options import Config, Force, Json, Verbose
from rag._cli.output import echo_stderr, print_json, print_lines
from rag._cli.session import start
from rag.errors import UsageError

if TYPE_CHECKING:
    from corpora.outputs import OverwritePolicy
    from eval.runs.folder import Run


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
    untold: list[UsageError] = []
    for folder in folders:
        held = read_run_folder(folder)
        try:
            files += _write(held, data, out if len(folders) == 1 else out / _own_folder(held), policy)
        except UsageError as error:
            if len(folders) == 1:
                raise
            untold.append(error)
            echo_stderr(str(error))
    if not files:
        raise UsageError(f"{run}: of none of its {len(folders)} runs can failures be told") from untold[0]
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


def _write(run: Run, data: Path | None, out: Path, policy: OverwritePolicy) -> list[Path]:
    """Raises `UsageError` where the run's failures cannot be told."""
    from eval.reports.failures import Failing, write_failures
    from eval.tasks import open_benchmark

    place = data if data is not None else Path(run.manifest["data"]) if run.manifest.get("data") else None
    benchmark = open_benchmark(run.manifest["factory"], place)
    if not isinstance(benchmark, Failing):
        raise UsageError(f"{run.folder}: {benchmark.name} does not say at which stage a sample failed")
    require_same_data(benchmark, run)
    if not run.complete:
        done, due = len(run.samples), len(run.queries)
        echo_stderr(f"{run.folder}: {done} of {due} queries are answered; the others are left out")
    return write_failures(run, benchmark, out, policy)
