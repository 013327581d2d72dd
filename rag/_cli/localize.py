"""`rag localize`: the best windows of one video for a query."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from rag._cli.options import Config, Json, Library, Seed, Verbose
from rag._cli.output import print_json, print_lines
from rag._cli.session import start, words


def localize(
    video: Annotated[
        Path,
        typer.Argument(
            metavar="VIDEO", help="An indexed video: its path or the end of it, its id or the start of it."
        ),
    ],
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to find in it.")],
    count: Annotated[
        int, typer.Option("--count", metavar="N", min=1, max=1000, help="Number of windows.")
    ] = 1,
    window: Annotated[
        float | None,
        typer.Option("--window", metavar="SECONDS", min=0.001, help="Length of a window. Default: 5."),
    ] = None,
    library: Library = None,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
    seed: Seed = None,
) -> int:
    """Find the best windows of a video for QUERY from stored embeddings, under the settings of [localize]."""
    session = start(library, config, as_json, verbose, seed)
    name = os.fsdecode(video)
    with session.open_library() as opened:
        windows = opened.localize(name, words(query), count=count, window_seconds=window)
    if session.as_json:
        from rag.rendering.shapes import windows_shape

        print_json(windows_shape(name, query, windows))
    else:
        from rag.rendering.terminal import window_lines

        print_lines(window_lines(windows))
    return 0
