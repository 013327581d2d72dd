"""What the commands of agents share: options, the library, the mind, frames, and the page with pictures."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corpora.outputs import (
    HTML,
    RECORDING,
    TRACE,
    OverwritePolicy,
    check_outputs,
    claim_appended,
    mark_html,
    replace_file,
)
from rag._cli.output import echo_stderr
from rag._cli.session import Session
from rag.errors import LibraryNotFound, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.records import Frames
    from rag.library import Library as Shelf
    from rag.reasoners.roles import Reasoner
    from rag.web import Faults, MockWeb

    ReadFrames = Callable[[str, NDArray[np.float64]], Frames]
    Pictures = Callable[[str, NDArray[np.float64]], Frames | None]

Asked = Annotated[
    str, typer.Argument(metavar="QUESTION", help="May hold its options: '... (A) ... (B) ...'.")
]
Options = Annotated[
    list[str] | None,
    typer.Option("-o", "--option", metavar="TEXT", help="An option, in order A, B, ...; repeat for each."),
]
WebFolder = Annotated[
    Path, typer.Option("--web", metavar="DIR", help="The frozen web, made by 'rag web build'.")
]
AnyWebFolder = Annotated[
    Path | None, typer.Option("--web", metavar="DIR", help="A frozen web, made by 'rag web build'.")
]
Corpus = Annotated[
    list[Path] | None,
    typer.Option(
        "--corpus",
        metavar="PATH",
        help="Videos that are the web; repeat for each. Without either, those of the library.",
    ),
]
FaultRates = Annotated[
    str,
    typer.Option(
        "--faults",
        metavar="RATES",
        help="How often the web fails: 0.1 for every fault, or slow=0.1,dead_link=0.2 and so on.",
        show_default=False,
    ),
]
TraceFile = Annotated[
    Path | None, typer.Option("--trace", metavar="FILE", help="Write every step there, as JSON lines.")
]
PageFile = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write a page with the pictures, which needs no others."),
]


@contextmanager
def web_folder(session: Session, web: Path | None, corpus: list[Path] | None) -> Iterator[Path]:
    """The web that was named; else one made for the occasion, out of files or of the library."""
    if web is not None and corpus:
        raise UsageError("--web and --corpus name two webs; give one of them")
    if web is not None:
        yield web
        return
    from rag.web.building import build_web

    with tempfile.TemporaryDirectory(prefix="rag-web-") as made:
        if corpus:
            report = build_web(made, corpus)
        else:
            with session.open_library() as shelf:
                report = build_web(made, library=shelf)
        for problem in report.problems:
            echo_stderr(f"{problem.path}: {problem.reason}")
        yield Path(made)


@contextmanager
def open_web_and_library(
    session: Session, web: Path | None, corpus: list[Path] | None, faults: Faults
) -> Iterator[tuple[MockWeb, Shelf | None]]:
    """The web as `web_folder` has it, and the library that its videos are looked up in.

    Where the library itself is the web, its videos are searched by what it holds of them, too: files at
    home have no titles.
    """
    from rag.web import open_web

    with web_folder(session, web, corpus) as place:
        shelf = open_library(session, place)
        known = shelf if web is None and not corpus else None
        try:
            with open_web(
                os.fspath(place), faults=faults, encoder=session.settings.encoder, library=known
            ) as opened:
                yield opened, shelf
        finally:
            if shelf is not None:
                shelf.close()


def open_library(session: Session, web: Path) -> Shelf | None:
    """The library of the settings, else one in the web's folder; a web can be browsed without."""
    from rag.library import Library

    try:
        return session.open_library()
    except LibraryNotFound:
        if session.settings.library is not None:
            raise
    try:
        return Library.open(web / ".rag", settings=session.settings)
    except LibraryNotFound:
        return None


def open_reasoner(session: Session, shelf: Shelf | None) -> tuple[Reasoner, str]:
    """The reasoner of the settings, its embedded parts counted, and how its tokens are to be read.

    `rag.reasoners.token_counting.token_count_method` adds to the latter what a run that is over tells.
    """
    from rag.reasoners import open_reasoner
    from rag.reasoners.token_counting import counted

    if shelf is not None:
        return counted(shelf.engine.reasoner)
    from indexers.registry import open_query_encoder

    encoder = session.settings.encoder
    return counted(open_reasoner(session.settings, open_query_encoder(encoder.text, encoder), None))


def vision_status(reasoner: Reasoner, shelf: Shelf | None) -> str:
    """What pictures are seen by, or why none is and what to do."""
    if reasoner.reads_pixels:
        return "pictures: decoded frames"
    if (
        shelf is not None
        and (meta := shelf.engine.reader.meta) is not None
        and meta.image_encoder is not None
    ):
        return f"pictures: the frame vectors of {shelf.engine.reader.folder}"
    return (
        "pictures: none are seen. The reasoner reads no pixels and no library holds frame vectors of these "
        "videos: 'rag index' their files with an image encoder and pass --library, or set a model that sees"
    )


def frames_reader(session: Session, shelf: Shelf | None) -> ReadFrames:
    """Address of a file and times to decoded frames."""
    if shelf is not None:
        return shelf.engine.read_frames
    from corpora.video.reader import MediaReader

    settings = session.settings
    media = MediaReader(settings.video.decoder, settings.video.stall_seconds)
    side = settings.reasoner.image_short_side
    return lambda path, times: media.frames_at(path, times.tolist(), short_side=side)


def pictures_of(web: MockWeb, read: ReadFrames) -> Pictures:
    """Address and times to decoded frames, None where there are none; no call of it is in the web's trace."""
    from rag.errors import FileProblem, WebError

    quiet = web.session()

    def pictures(url: str, times: NDArray[np.float64]) -> Frames | None:
        try:
            return read(quiet.download(url).path, times)
        except (WebError, FileProblem):
            return None

    return pictures


def citing(web: MockWeb, *, made: bool) -> Callable[[str], str]:
    """Address to the path of its file, as the library and `rag show` know it; empty where there is none.

    `made`: the web was made for the occasion; the files of one that was named are its own affair.
    """
    catalogue = web.catalogue

    def path_of(url: str) -> str:
        entry = catalogue.video(url) if made else None
        path = catalogue.path(entry) if entry is not None else None
        return os.path.normpath(path) if path is not None else ""

    return path_of


def citation(path: str, start: float, end: float) -> str:
    """What `rag show` opens."""
    return f"{path}@{start:g}-{end:g}"


def agent_outputs(
    session: Session,
    force: bool,
    trace: Path | None,
    page: Path | None,
    record: Path | None,
    *inputs: Path | None,
) -> OverwritePolicy:
    """The policy for the outputs of an agent's command, checked before any work is done.

    Raises `UsageError` where one of them must not be written.
    """
    from rag.web.catalogue import PAGES, VIDEOS

    webs = [path / name for path in inputs if path is not None and path.is_dir() for name in (VIDEOS, PAGES)]
    policy = session.overwrite_policy(force, *inputs, *webs)
    check_outputs(policy, (trace, TRACE), (page, HTML), (record, RECORDING))
    if record is not None:
        claim_appended(record, RECORDING, policy)
    return policy


def write_page(path: Path | None, policy: OverwritePolicy, draw: Callable[[], str]) -> int:
    """Draw and write the page, where one is wanted; called when the answer is out, so that nothing is lost.

    The exit code that it calls for: 0, or, with a line on stderr, 3 where it cannot be written.
    """
    if path is None:
        return 0
    text = mark_html(draw())
    try:
        with replace_file(path, HTML, policy) as draft:
            draft.write_text(text, encoding="utf-8", newline="\n")
    except UsageError as error:
        echo_stderr(f"rag: {error}")
        return 3
    except OSError as error:
        echo_stderr(f"rag: {path}: cannot be written: {(error.strerror or str(error)).lower()}")
        return 3
    return 0
