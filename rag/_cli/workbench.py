"""`rag workbench make`: a synthetic corpus of any size, with ground truth."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from corpora.outputs import OverwritePolicy
from rag._cli.options import argument, option
from rag._cli.session import Force, Session, given_path, with_session
from rag.errors import UsageError
from rag.rendering.terminal import byte_count, counted, duration

if TYPE_CHECKING:
    from eval.workbench.corpus import CorpusReport

app = typer.Typer(help="Make synthetic videos with exact ground truth.", rich_markup_mode=None)

# Repeated here, so that the command line starts without importing the world.
Split = Literal["train", "dev", "test"]
Height = Literal["360", "720", "1080"]
Style = Literal["live", "flat", "shaded", "graphics"]


@app.callback()
def _group() -> None:
    """Keeps `make` a subcommand, though it is the only one."""


@app.command("make")
@with_session(without=("library", "config", "verbose", "seed"))
def make(
    session: Session,
    folder: Annotated[
        Path, argument("DIR", "Folder for the corpus: new, empty or interrupted.", parser=given_path)
    ],
    seed: Annotated[int, option("--seed N", "The same seed gives the same corpus.")] = 0,
    clips: Annotated[int, option("--clips K", "Clips of 30 seconds, without text or metadata.", min=0)] = 12,
    split: Annotated[
        Split, option("--split", "Appearances and phrases are disjoint between splits.")
    ] = "train",
    height: Annotated[
        Height, option("--height", "Frame height in pixels; the aspect ratio is 16:9.")
    ] = "360",
    fps: Annotated[int, option("--fps N", "Frames per second.", min=5, max=60)] = 15,
    style: Annotated[Style, option("--style", "Rendering style.")] = "live",
    long: Annotated[
        list[float] | None,
        option(
            "--long MINUTES",
            "Also a video of this length with title, subtitles and on-screen text; repeatable.",
            min=1.0,
            max=180.0,
        ),
    ] = None,
    near_duplicates: Annotated[
        bool, option("--copies", "Also a near-duplicate of every video: cropped, regraded, at another speed.")
    ] = False,
    families: Annotated[
        int | None,
        option(
            "--families N",
            "Clips of 30 to 120 seconds in families of N that share scene and people and differ in what "
            "is done; shaken, blurred and partly hidden.",
            min=1,
        ),
    ] = None,
    kilobits: Annotated[
        int | None, option("--kilobits K", "Kilobits of video a second. Default: by quality.", min=50)
    ] = None,
    force: Force = False,
) -> int:
    """Write videos, passages and, in a hidden folder, the ground truth. An interrupted run resumes."""
    from eval.workbench.corpus import make_corpus
    from eval.workbench.families import Families
    from eval.workbench.jobs import CorpusPlan
    from eval.workbench.recording import recorded_fields
    from eval.workbench.video import Render
    from rag._cli.progress import open_progress

    if not clips and not long:
        raise UsageError("--clips 0 needs --long: nothing else would be made")
    render = Render(height=int(height), fps=fps, kilobits=kilobits)
    shared = Families(size=families) if families else None
    plan = CorpusPlan(seed, split, clips, render, style, tuple(long or ()), near_duplicates, shared)
    with open_progress() as progress:
        report = make_corpus(folder, plan, progress=progress, policy=OverwritePolicy(force))
    session.report("rag.workbench/1", recorded_fields(report), _lines(report))
    return 0


def _lines(report: CorpusReport) -> Iterator[str]:
    kept = report.videos - report.made
    existing = f" ({kept} existed already)" if kept else ""
    yield (
        f"{counted(report.videos, 'video')}{existing} with {duration(report.seconds)} of media, "
        f"{byte_count(report.bytes)}, and {counted(report.passages, 'passage')}"
    )
    # No other encoder knows these videos.
    yield f"index them with: RAG_ENCODER__IMAGE=bundled rag index {shlex.quote(os.fspath(report.folder))}"
