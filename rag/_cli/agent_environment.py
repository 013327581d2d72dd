"""What an agent's command opens: web, library, reasoner and frames."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rag._cli.output import echo_stderr
from rag._cli.session import Session
from rag.errors import LibraryNotFound, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.records import Frames
    from rag.agents.runtime.frame_source import FrameSource
    from rag.library import Library
    from rag.reasoners.protocol import Reasoner
    from rag.reasoners.wrappers import ReasonerWithCounts
    from rag.web import Faults, Web


@dataclass(frozen=True)
class Environment:
    """What a run is made with."""

    reasoner: Reasoner
    counting: str
    """How the reasoner counts tokens, for `token_count_method`."""
    path_of: Callable[[str], str]
    """An address to the path of its file, empty where there is none."""


@dataclass(frozen=True)
class LibraryEnvironment(Environment):
    """What an agent over one library works with."""

    library: Library


@dataclass(frozen=True)
class WebEnvironment(Environment):
    """What an agent over a web works with."""

    web: Web
    frame_source: FrameSource
    """Frames of the library, else decoded from the web's files."""


@contextmanager
def open_library_environment(session: Session) -> Iterator[LibraryEnvironment]:
    """The library of the settings and its reasoner."""
    with session.open_library() as library:
        yield LibraryEnvironment(*_open_reasoner(session, library), lambda path: path, library)


@contextmanager
def open_web_environment(
    session: Session, web: Path | None, corpus: list[Path] | None, faults: Faults
) -> Iterator[WebEnvironment]:
    """The web that is named or made, the library that holds its videos, and the reasoner.

    Where the web is made of the library, its videos are searched by what the library holds of them,
    and where it is made of files, by their transcripts; either way a result is shown by what is said in it:
    local files have no titles.
    """
    from rag.web import open_web

    made = web is None
    with _web_folder(session, web, corpus) as folder:
        library = _open_library(session, folder)
        try:
            opened = open_web(
                os.fspath(folder),
                faults=faults,
                encoder=session.settings.encoder,
                library=library if made and not corpus else None,
                spoken=made,
            )
            reasoner, counting = _open_reasoner(session, library)
            source = _frame_source(session, library)
            yield WebEnvironment(reasoner, counting, local_path(opened, made=made), opened, source)
        finally:
            if library is not None:
                library.close()


@contextmanager
def _web_folder(session: Session, web: Path | None, corpus: list[Path] | None) -> Iterator[Path]:
    """The folder of the named web; else a temporary one, made of files or of the library."""
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
            with session.open_library() as library:
                report = build_web(made, library=library)
        for problem in report.problems:
            echo_stderr(f"{problem.path}: {problem.reason}")
        yield Path(made)


def _open_library(session: Session, web: Path) -> Library | None:
    """The library of the settings, else one in the web's folder; None where neither exists."""
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


def _open_reasoner(session: Session, library: Library | None) -> ReasonerWithCounts:
    """The reasoner of the settings with token counts of its embedded parts."""
    from indexers.registry import open_query_encoder
    from rag.reasoners import open_reasoner
    from rag.reasoners.wrappers import with_token_counts

    if library is not None:
        return with_token_counts(library.engine.reasoner)
    encoder = session.settings.encoder
    return with_token_counts(open_reasoner(session.settings, open_query_encoder(encoder.text, encoder), None))


def vision_status(reasoner: Reasoner, library: Library | None) -> str:
    """How the reasoner sees frames, or why it sees none and what to do."""
    if reasoner.reads_pixels:
        return "frames: decoded"
    meta = None if library is None else library.engine.reader.meta
    if library is not None and meta is not None and meta.image_encoder is not None:
        tower = library.engine.tower
        # An encoder of class names ranks what it has no name for, too.
        unsure = "; scores compare frames, and do not tell whether anything is there: look at what is found"
        known = unsure if tower is not None and tower.names_images else ""
        return f"frames: the stored embeddings of {library.engine.reader.folder}{known}"
    why = "no library holds embeddings of these videos: run rag index on their files and pass --library"
    if meta is not None:
        from indexers.models.lookup import image_encoder_advice

        why = f"the library has no image embeddings: {image_encoder_advice()}"
    return f"frames: none are seen. The reasoner reads no pixels and {why}; or set a vision model"


def _frame_source(session: Session, library: Library | None) -> FrameSource:
    from corpora.video.reader import MediaReader
    from rag.agents.runtime.frame_source import FrameSource

    if library is not None:
        return FrameSource(library, library.engine.read_frames, library.engine.read_audio)
    settings = session.settings
    media = MediaReader(settings.video.decoder, settings.video.stall_seconds, settings.storage)

    def read(path: str, times: NDArray[np.float64], *, zoomed: bool = False) -> Frames:
        side = settings.reasoner.short_side(zoomed=zoomed)
        return media.frames_at(path, times.tolist(), short_side=side)

    return FrameSource(None, read, media.audio_between)


def local_path(web: Web, *, made: bool) -> Callable[[str], str]:
    """Address to the path of its file, as the library and `rag show` know it; empty where there is none.

    `made`: the web was made by this command; the files of a named web are not shown.
    """

    def path_of(url: str) -> str:
        entry = web.catalogue.video(url) if made else None
        path = web.catalogue.path(entry) if entry is not None else None
        return os.path.normpath(path) if path is not None else ""

    return path_of
