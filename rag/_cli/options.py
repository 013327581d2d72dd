"""The options that subcommands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def given_path(text: str) -> Path:
    """A path of the command line. An empty one is refused: it would stand for the working folder."""
    if not text:
        raise typer.BadParameter("a path is empty; a shell variable may be unset")
    return Path(text)


Library = Annotated[
    Path | None,
    typer.Option(
        "--library",
        metavar="DIR",
        parser=given_path,
        help="Library folder. Default: $RAG_LIBRARY, else .rag in the current folder or the nearest parent.",
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Settings file. Default: rag.toml in the current folder, if it exists.",
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Replace an output even if it is an input, is indexed, or was not written by this program.",
    ),
]
Json = Annotated[
    bool | None,
    typer.Option(
        "--json/--text",
        help="Output format. Default: text on a terminal, JSON into a pipe or a file.",
        show_default=False,
    ),
]
Verbose = Annotated[
    int,
    typer.Option(
        "-v", "--verbose", count=True, help="Log more on stderr; twice for debug output.", show_default=False
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="Random seed. Default: 0.")]
TopK = Annotated[
    int | None,
    typer.Option("--top-k", metavar="N", min=1, max=1000, help="Number of results to retrieve. Default: 5."),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        metavar="X",
        min=0.0,
        max=1.0,
        help="Confidence below which nothing matches. Default: 0.3.",
    ),
]
PathGlobs = Annotated[
    list[Path] | None,
    typer.Option(
        "--path",
        metavar="GLOB",
        help="Only files and folders that match, by the last parts of their path; may be repeated.",
    ),
]
Start = Annotated[
    float | None, typer.Option("--start", metavar="SECONDS", min=0.0, help="Search videos from this time on.")
]
End = Annotated[
    float | None, typer.Option("--end", metavar="SECONDS", min=0.0, help="Search videos up to this time.")
]
Record = Annotated[
    Path | None,
    typer.Option("--record", metavar="FILE", help="Record every call to a language model in this file."),
]
Replay = Annotated[
    Path | None,
    typer.Option(
        "--replay", metavar="FILE", help="Replay the calls recorded in this file; no model is contacted."
    ),
]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="The benchmark's data. Default: a folder of its name here."),
]
