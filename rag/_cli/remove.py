"""`rag remove`: remove files from the library; the files themselves are not touched."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from rag._cli.options import Config, Json, Library, Seed, Verbose, given_path
from rag._cli.output import echo_stderr, print_json, print_lines
from rag._cli.session import start
from rag.errors import UsageError


def remove(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="Files, or folders with everything below them.",
            show_default=False,
            parser=given_path,
        ),
    ],
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before more than half of the library is removed.")
    ] = False,
    library: Library = None,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
    seed: Seed = None,
) -> int:
    """Remove files from the library. Nothing else on disk is changed.

    Removing more than half of the library asks first; without a terminal it needs --yes.
    """
    session = start(library, config, as_json, verbose, seed)
    named = [os.fsdecode(path) for path in paths]
    with session.open_library() as opened:
        going, held = opened.share_of(named)
        if 2 * going > held and not yes and not _is_confirmed(going, held):
            echo_stderr("rag: nothing was removed")
            return 1
        removed = opened.remove(named)
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


def _is_confirmed(going: int, held: int) -> bool:
    """Ask on the terminal. Raises `UsageError` where there is none."""
    share = f"{going} of {held} files of the library"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"this removes {share}; nothing was removed; add --yes to remove them")
    sys.stderr.write(f"This removes {share}. Continue? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
