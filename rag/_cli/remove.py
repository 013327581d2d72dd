"""`rag remove`: take files out of the library; the files themselves stay where they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from rag._cli.options import Config, Json, Library, Seed, Verbose
from rag._cli.output import echo_stderr, print_json, print_lines
from rag._cli.session import start


def remove(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH", help="Files, or folders with all that lies below.", show_default=False
        ),
    ],
    library: Library = None,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
    seed: Seed = None,
) -> int:
    """Take files out of the library. Nothing on disk but the library is touched."""
    session = start(library, config, as_json, verbose, seed)
    with session.open_library() as shelf:
        removed = shelf.remove([os.fsdecode(path) for path in paths])
    if session.as_json:
        from rag.rendering.shapes import report_shape

        print_json(report_shape("rag.remove/1", removed))
    else:
        from rag.rendering.terminal import visible

        print_lines(f"removed {visible(path)}" for path in removed.paths)
    if not removed.paths:
        echo_stderr(f"rag: none of these is in the library: {', '.join(map(os.fsdecode, paths))}")
        return 1
    return 0
