"""`rag eval report`: tables and figures out of run folders."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from rag._cli.options import Config, Force, Json, Verbose
from rag._cli.output import print_json, print_lines
from rag._cli.session import start


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Run folders of 'rag eval run', or folders that hold some."),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the report goes.")] = Path(
        "report"
    ),
    everything: Annotated[
        bool, typer.Option("--all", help="One page for all benchmarks, beside what the papers printed.")
    ] = False,
    force: Force = False,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
) -> int:
    """Write report.md, and CSV and PNG of each table and figure; with --all, one page in three forms.

    Runs of one system are pooled over seeds.
    """
    session = start(None, config, as_json, verbose, None)
    policy = session.overwrite_policy(force, *runs)
    if everything:
        from eval.reports.overview import write_overview

        files = write_overview(runs, out, policy)
    else:
        from eval.reports.page import write_report

        files = write_report(runs, out, policy)
    if session.as_json:
        from rag.rendering.shapes import report_shape

        print_json(report_shape("rag.eval.report/1", {"files": files}))
    else:
        from rag.rendering.terminal import visible

        print_lines(visible(os.fspath(path)) for path in files)
    return 0
