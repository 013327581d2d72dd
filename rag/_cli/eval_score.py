"""`rag eval score`: score stored runs again, without running their solvers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag._cli.eval_progress import RunProgress
from rag._cli.eval_run import Data, run_lines
from rag._cli.eval_show import prepare_task
from rag._cli.options import Config, Json, Record, Replay, Verbose
from rag._cli.output import print_json, print_lines
from rag._cli.session import start


def score(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or a folder that holds some.")],
    judge: Annotated[
        str | None, typer.Option("--judge", metavar="NAME", help="Another judge of the benchmark.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", metavar="X", help="Another threshold of the judge.")
    ] = None,
    data: Data = None,
    record: Record = None,
    replay: Replay = None,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
) -> int:
    """Score the samples of complete runs again, with the settings, judge and threshold given now.

    The stored outputs stay; scores, figures and the run's scorer are replaced.
    """
    flags = {"reasoner.record": record, "reasoner.replay": replay}
    session = start(None, config, as_json, verbose, None, flags)
    from eval.runs.folder import read_run_folder
    from eval.runs.paths import run_folders
    from eval.runs.runner import Done, score_again
    from eval.task import ScorerOptions

    options = ScorerOptions(judge, threshold)
    done: list[Done] = []
    for folder in run_folders([run]):
        held = read_run_folder(folder)
        with RunProgress(held.identity["benchmark"]) as progress:
            task, prepared = prepare_task(held, data, session.settings, progress.made)
            made = score_again(task, prepared, folder, options)
        right = sum(sample.correct for sample in made.samples)
        identity = made.identity
        done.append(Done(folder, identity["system"], identity["seed"], 0, len(made.samples), right))
    if session.as_json:
        from rag.rendering.shapes import report_shape

        print_json(report_shape("rag.eval.score/1", {"runs": done}))
    else:
        print_lines(run_lines(task, done))
    return 0
