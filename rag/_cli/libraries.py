"""`rag library`: merge libraries into one, export a part of one, copy one from or to an object store."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corpora.escaping import visible
from rag._cli.options import argument, option
from rag._cli.output import echo_stderr
from rag._cli.session import PathGlobs, Session, given_path, with_session
from rag.errors import UsageError
from rag.rendering.terminal import byte_count, counted, duration, problem_line

if TYPE_CHECKING:
    from rag.indexing.merging import MergeReport

app = typer.Typer(
    help="Merge, export and copy libraries. Nothing is decoded or encoded.", rich_markup_mode=None
)
Into = Annotated[
    Path,
    option(
        "--into DIR",
        "Folder or address: new, empty, or a library made with the same encoders; what it has is kept.",
        parser=given_path,
        show_default=False,
    ),
]


@app.command("merge")
@with_session(without=("library",))
def merge(
    session: Session,
    libraries: Annotated[
        list[Path],
        argument(
            "LIBRARY",
            "Library folders, or addresses like s3://bucket/library.",
            show_default=False,
            parser=given_path,
        ),
    ],
    into: Into,
) -> int:
    """Copy libraries into one, each content once.

    They have to be made with the same encoders. Interrupted, the same command continues where it was.
    """
    return _run(session, libraries, into, ())


@app.command("export")
@with_session()
def export(session: Session, into: Into, path: PathGlobs = None) -> int:
    """Copy files that match GLOB into a library of their own.

    With all that was indexed of them.
    """
    from rag.store.finding import find_library

    if not path:
        raise UsageError("--path GLOB is missing: which files to export")
    library = find_library(library=session.settings.library, storage=session.settings.storage)
    return _run(session, [library], into, tuple(os.fsdecode(glob) for glob in path))


@app.command("pull")
@with_session(without=("library",))
def pull(
    session: Session,
    address: Annotated[
        str, argument("LIBRARY", "Address of a library, as s3://bucket/library.", show_default=False)
    ],
    folder: Annotated[
        Path,
        argument(
            "DIR", "New or empty folder, or that of an earlier pull.", show_default=False, parser=given_path
        ),
    ],
) -> int:
    """Copy a library on an object store into a folder, or what is new in it since the last pull.

    What changed takes the place of what is there; what was removed stays there until rag remove. Interrupted,
    the same command continues where it was.
    """
    _require_folder_and_address(session, folder, address)
    return _run(session, [address], folder, (), newer=True)


@app.command("push")
@with_session(without=("library",))
def push(
    session: Session,
    folder: Annotated[Path, argument("DIR", "Folder of a library.", show_default=False, parser=given_path)],
    address: Annotated[
        Path,
        argument(
            "LIBRARY",
            "Address as s3://bucket/library: of nothing yet, or of an earlier push.",
            show_default=False,
            parser=given_path,
        ),
    ],
) -> int:
    """Copy a library into an object store, or what is new in it since the last push.

    What changed takes the place of what is there; what was removed stays there until rag remove. Interrupted,
    the same command continues where it was.
    """
    _require_folder_and_address(session, folder, address)
    return _run(session, [folder], address, (), newer=True)


def _require_folder_and_address(session: Session, folder: Path, address: Path | str) -> None:
    from rag.store.finding import library_location

    if isinstance(store := library_location(address, session.settings.storage), Path):
        raise UsageError(f"{store}: a folder, not the address of a store; copy the library with: cp -r")
    if not isinstance(held := library_location(folder, session.settings.storage), Path):
        raise UsageError(f"{held}: not a folder; copy one address to another with: rag library merge")


def _run(
    session: Session,
    libraries: Sequence[str | os.PathLike[str]],
    into: Path,
    globs: tuple[str, ...],
    *,
    newer: bool = False,
) -> int:
    from rag._cli.progress import open_progress
    from rag.indexing.merging import merge_libraries

    with open_progress() as progress:
        report = merge_libraries(
            libraries, into, settings=session.settings, paths=globs, newer=newer, progress=progress
        )
    for problem in report.problems:
        echo_stderr(problem_line(problem))
    if report.left_out:
        left = f"left out {counted(report.left_out, 'video')} that no library has completely"
        echo_stderr(f"rag: {left}; finish with rag index FOLDER, then run this again")
    elif report.nothing:
        which = f"matches {', '.join(globs)}" if globs else "is indexed"
        echo_stderr(f"rag: no file {which} in {', '.join(map(os.fsdecode, libraries))}; nothing was written")
    lines = () if report.nothing else _lines(report)
    session.report("rag.library/1", report, lines)
    return report.exit_code


def _lines(report: MergeReport) -> Iterator[str]:
    repeated = report.files - report.videos - report.sources
    yield (
        f"copied {counted(report.files, 'file')} in {duration(report.seconds)}: "
        f"{counted(report.videos, 'video')} of {duration(report.video_seconds)}, "
        f"{counted(report.sources, 'text file')}"
        + (f", {counted(repeated, 'file')} with the content of another" if repeated > 0 else "")
        + f"; the library has {byte_count(report.bytes)}"
    )
    if report.known:
        yield f"already in the library: {counted(report.known, 'content')}"
    for line in report.stages:
        yield visible(line)
