"""`rag eval failures`: where the failed samples of a run went wrong, with pictures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from rag._cli.eval_run import Data
from rag._cli.eval_show import require_same_data
from rag._cli.options import Config, Json, Verbose
from rag._cli.output import print_json, print_lines
from rag._cli.session import start
from rag.errors import UsageError

__all__ = ["failures"]


def failures(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the page goes.")] = Path(
        "failures"
    ),
    data: Data = None,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
) -> int:
    """Write failures.html and failures.csv: each failed sample by its stage, by rule, with a picture."""
    session = start(None, config, as_json, verbose, None)
    from eval.benchmarks import open_benchmark
    from eval.reports.failures import Failing, write_failures
    from eval.runs.folder import read_run_folder

    held = read_run_folder(run)
    place = data if data is not None else Path(held.manifest["data"]) if held.manifest.get("data") else None
    benchmark = open_benchmark(held.manifest["factory"], place)
    if not isinstance(benchmark, Failing):
        raise UsageError(f"{run}: {benchmark.name} does not say at which stage a sample failed")
    require_same_data(benchmark, held)
    files = write_failures(held, benchmark, out)
    if session.as_json:
        from rag.rendering.shapes import report_shape

        print_json(report_shape("rag.eval.failures/1", {"files": files}))
    else:
        from rag.rendering.terminal import visible

        print_lines(visible(os.fspath(path)) for path in files)
    return 0
