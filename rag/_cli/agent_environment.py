"""What an agent's command opens and writes: web, library, reasoner, frames, and the page."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.errors import os_reason
from corpora.outputs import RECORDING_HEAD, OverwritePolicy, check_outputs, claim_appended, replace_file
from rag._cli.output import echo_stderr
from rag._cli.session import Session
from rag.errors import FileProblem, LibraryNotFound, UsageError, WebError
from rag.records import span_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.records import Frames
    from rag.agents.runtime.frame_source import FrameSource, ReadFrames, ReadSound
    from rag.library import Library
    from rag.reasoners.protocol import Reasoner
    from rag.reasoners.wrappers import ReasonerWithCounts
    from rag.web import Faults, Web


@dataclass(frozen=True)
class Environment:
    """What a run is made with. `path_of`: an address to the path of its file, empty where there is none."""

    reasoner: Reasoner
    counting: str
    """How the reasoner counts tokens, for `token_count_method`."""
    path_of: Callable[[str], str]
    frames: Callable[[str, NDArray[np.float64]], Frames | None]
    """Address or path, and float64 (n,) seconds to decoded frames; None where there are none."""


@dataclass(frozen=True)
class LibraryEnvironment(Environment):
    """What an agent over one library works with."""

    library: Library


@dataclass(frozen=True)
class WebEnvironment(Environment):
    """What an agent over a web works with."""

    web: Web
    library: Library | None
    read_frames: ReadFrames
    read_audio: ReadSound

    @property
    def frame_source(self) -> FrameSource:
        """Frames of the library, else decoded from the web's files."""
        from rag.agents.runtime.frame_source import FrameSource

        return FrameSource(self.library, self.read_frames, self.read_audio)


@contextmanager
def open_library_environment(session: Session) -> Iterator[LibraryEnvironment]:
    """The library of the settings and its reasoner."""
    from rag.store.lookup import whole_file

    with session.open_library() as library:

        def frames(path: str, times: NDArray[np.float64]) -> Frames | None:
            try:
                whole = whole_file(library.engine.reader, library.video_id(path), path)
                return library.engine.read_frames(whole, times)
            except (FileProblem, UsageError):  # several libraries have several videos of that path
                return None

        reasoner, counting = open_reasoner(session, library)
        yield LibraryEnvironment(reasoner, counting, lambda path: path, frames, library)


@contextmanager
def open_web_environment(
    session: Session, web: Path | None, corpus: list[Path] | None, faults: Faults
) -> Iterator[WebEnvironment]:
    """The web of `web_folder`, the library that holds its videos, and the reasoner.

    Where the web is made of the library, its videos are searched by what the library holds of them, too,
    and where it is made of files, by their transcripts; either way a result is shown by what is said in it:
    local files have no titles.
    """
    from rag.web import open_web

    with web_folder(session, web, corpus) as folder:
        library = open_library(session, folder)
        contents = library if web is None and not corpus else None
        try:
            with open_web(
                os.fspath(folder),
                faults=faults,
                encoder=session.settings.encoder,
                library=contents,
                spoken=web is None,
            ) as opened:
                reasoner, counting = open_reasoner(session, library)
                read, hear = media_readers(session, library)
                path_of = local_path(opened, made=web is None)
                yield WebEnvironment(
                    reasoner, counting, path_of, page_frames(opened, read), opened, library, read, hear
                )
        finally:
            if library is not None:
                library.close()


@contextmanager
def web_folder(session: Session, web: Path | None, corpus: list[Path] | None) -> Iterator[Path]:
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


def open_library(session: Session, web: Path) -> Library | None:
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


def open_reasoner(session: Session, library: Library | None) -> ReasonerWithCounts:
    """The reasoner of the settings with token counts of its embedded parts."""
    from rag.reasoners import open_reasoner
    from rag.reasoners.wrappers import with_token_counts

    if library is not None:
        return with_token_counts(library.engine.reasoner)
    from indexers.registry import open_query_encoder

    encoder = session.settings.encoder
    return with_token_counts(open_reasoner(session.settings, open_query_encoder(encoder.text, encoder), None))


def vision_status(reasoner: Reasoner, library: Library | None) -> str:
    """How the reasoner sees frames, or why it sees none and what to do."""
    if reasoner.reads_pixels:
        return "frames: decoded"
    if library is not None and (meta := library.engine.reader.meta) is not None:
        if meta.image_encoder is not None:
            return f"frames: the stored embeddings of {library.engine.reader.folder}"
        from indexers.models.lookup import image_encoder_advice

        return (
            "frames: none are seen. The reasoner reads no pixels and the library has no image embeddings: "
            f"{image_encoder_advice()}; or set a vision model"
        )
    return (
        "frames: none are seen. The reasoner reads no pixels and no library holds embeddings of these "
        "videos: run rag index on their files with an image encoder and pass --library, or set a vision model"
    )


def media_readers(session: Session, library: Library | None) -> tuple[ReadFrames, ReadSound]:
    """What decodes the frames of a file, and what its sound."""
    if library is not None:
        return library.engine.read_frames, library.engine.read_audio
    from corpora.video.reader import MediaReader

    settings = session.settings
    media = MediaReader(settings.video.decoder, settings.video.stall_seconds, settings.storage)

    def read(path: str, times: NDArray[np.float64], *, zoomed: bool = False) -> Frames:
        side = settings.reasoner.short_side(zoomed=zoomed)
        return media.frames_at(path, times.tolist(), short_side=side)

    return read, media.audio_between


def page_frames(web: Web, read: ReadFrames) -> Callable[[str, NDArray[np.float64]], Frames | None]:
    """A function of a URL and times, float64 (n,) seconds, to the n frames on screen then, in time order.

    It returns None where the download or the decoder fails. Its downloads are not in the web's trace.
    """
    untraced = web.session()

    def frames(url: str, times: NDArray[np.float64]) -> Frames | None:
        try:
            return read(untraced.download(url).path, times)
        except (WebError, FileProblem):
            return None

    return frames


def local_path(web: Web, *, made: bool) -> Callable[[str], str]:
    """Address to the path of its file, as the library and `rag show` know it; empty where there is none.

    `made`: the web was made by this command; the files of a named web are not shown.
    """
    catalogue = web.catalogue

    def path_of(url: str) -> str:
        entry = catalogue.video(url) if made else None
        path = catalogue.path(entry) if entry is not None else None
        return os.path.normpath(path) if path is not None else ""

    return path_of


def citation(path: str, start: float, end: float) -> str:
    """What `rag show` takes."""
    return f"{path}@{span_name(start, end)}"


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
    check_outputs(policy, trace, page, taken_up=(record,))
    if record is not None:
        claim_appended(record, RECORDING_HEAD, policy)
    return policy


def write_page(path: Path | None, policy: OverwritePolicy, render: Callable[[], str]) -> int:
    """Render and write the page, where `path` is given; called after the answer is printed.

    The exit code: 0, or, with a line on stderr, 3 where it cannot be written.
    """
    if path is None:
        return 0
    text = render()
    try:
        with replace_file(path, policy) as draft:
            draft.write_text(text, encoding="utf-8", newline="\n")
    except UsageError as error:
        echo_stderr(f"rag: {error}")
        return 3
    except OSError as error:
        echo_stderr(f"rag: {path}: cannot be written: {os_reason(error)}")
        return 3
    return 0
