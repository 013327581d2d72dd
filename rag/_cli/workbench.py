"""`rag workbench make`: any amount of the Workbench world, with all that happens in it written down."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rag._cli.options import Force, Json
from rag._cli.output import echo_stderr, is_json, print_json, print_lines

if TYPE_CHECKING:
    from eval.workbench.corpus import CorpusReport

app = typer.Typer(
    help="Make videos of a drawn world in which every event is known exactly.", rich_markup_mode=None
)

# Spelt out once more, so that the command line starts without the world.
Split = Literal["train", "dev", "test"]
Height = Literal["360", "720", "1080"]
Style = Literal["live", "flat", "shaded", "graphics"]


@app.callback()
def _group() -> None:
    """Keeps `make` a word of its own, though it is the only one."""


@app.command("make")
def make(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where the corpus goes; new, or begun before.")
    ],
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="The same seed gives the same corpus.")
    ] = 0,
    clips: Annotated[int, typer.Option("--clips", metavar="K", min=0, help="Bare clips of 30 seconds.")] = 12,
    split: Annotated[
        Split, typer.Option("--split", help="No two splits share a look or a phrase.")
    ] = "train",
    height: Annotated[Height, typer.Option("--height", help="Of the picture, which is 16:9.")] = "360",
    fps: Annotated[int, typer.Option("--fps", metavar="N", min=5, max=60, help="Frames a second.")] = 15,
    style: Annotated[Style, typer.Option("--style", help="How things are drawn.")] = "live",
    long: Annotated[
        list[float] | None,
        typer.Option(
            "--long",
            metavar="MINUTES",
            min=1.0,
            max=180.0,
            help="Also a film of so many minutes with title, subtitles and on-screen text; may be repeated.",
        ),
    ] = None,
    near_duplicates: Annotated[
        bool, typer.Option("--copies", help="Also a cropped, graded and re-timed copy of every film.")
    ] = False,
    force: Force = False,
    as_json: Json = None,
) -> int:
    """Write videos, passages and, hidden, the exact events. An interrupted run is taken up again."""
    from corpora.outputs import OverwritePolicy
    from eval.workbench.corpus import make_corpus, recorded_fields
    from eval.workbench.jobs import CorpusPlan
    from eval.workbench.video import Render
    from rag._cli.progress import open_progress
    from rag.errors import UsageError

    if not clips and not long:
        raise UsageError("--clips 0 without --long leaves nothing to make")
    render = Render(height=int(height), fps=fps)
    plan = CorpusPlan(seed, split, clips, render, style, tuple(long or ()), near_duplicates)
    with open_progress() as progress:
        report = make_corpus(folder, plan, progress=progress, policy=OverwritePolicy(force))
    if long and not report.voiced:
        echo_stderr(
            "the spoken lines are subtitles only: the program flite, which would voice them, is not installed"
        )
    if is_json(as_json):
        from rag.rendering.shapes import report_shape

        print_json(report_shape("rag.workbench/1", recorded_fields(report)))
    else:
        print_lines(_lines(report))
    return 0


def _lines(report: CorpusReport) -> Iterator[str]:
    from rag.rendering.terminal import byte_count, counted, duration

    kept = report.videos - report.made
    there = f" ({kept} of them were there already)" if kept else ""
    yield (
        f"{counted(report.videos, 'film')}{there} with {duration(report.seconds)} of media, "
        f"{byte_count(report.bytes)}, and {counted(report.passages, 'passage')}"
    )
    yield f"index them with: rag index {os.fspath(report.folder)}"
