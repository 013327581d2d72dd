"""A run of an agent's command: what it opens, the order of events, and what it prints."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rag._cli.output import echo_stderr, line_width, print_json, print_lines, stderr_width, width
from rag._cli.session import Session
from rag.errors import LibraryNotFound, UsageError
from rag.records import window_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.records import Frames
    from rag.agents.runtime.frame_source import FrameSource
    from rag.agents.runtime.trace import Step, Watch
    from rag.library import Library
    from rag.reasoners.protocol import Reasoner
    from rag.reasoners.wrappers import ReasonerWithCounts
    from rag.web import Web
    from rag.web.trace import TraceFile


class Cited(NamedTuple):
    """What a run found, in the web or the library."""

    key: str
    """The key of its object in the JSON result."""
    url: str
    start: float | None
    """Seconds; None: the video as a whole."""
    end: float


@dataclass(frozen=True)
class WebEnvironment:
    """What an agent over a web works with."""

    counted: ReasonerWithCounts
    web: Web
    frame_source: FrameSource
    """Frames of the library, else decoded from the web's files."""
    path_of: Callable[[str], str]
    """An address to the path of its file, empty where there is none."""


@dataclass(frozen=True)
class Shown:
    """How the result of an agent is shown."""

    shape: Callable[[Any], dict[str, Any]]
    """Of `result_json`."""
    lines: Callable[[Any, int], Iterable[str]] | None
    """For people, by columns; None: the answer as `rag ask` prints it."""
    cost: Callable[[Any], str]
    """What the run used, in one line."""
    cited: Callable[[Any], Cited | None] = lambda _: None
    """What the result cites, but for the citations of an answer."""


def open_trace(
    session: Session, trace: Path | None, force: bool, inputs: Iterable[Path | None]
) -> TraceFile | None:
    """The file of `--trace`, checked before any work is done; `inputs`: what the command reads.

    Raises `UsageError`.
    """
    if trace is None:
        return None
    from rag.web.catalogue import PAGES, VIDEOS
    from rag.web.trace import TraceFile

    named = [path for path in inputs if path is not None]
    webs = [folder / name for folder in named if folder.is_dir() for name in (VIDEOS, PAGES)]
    return TraceFile(trace, session.overwrite_policy(force, *named, *webs))


def run_agent(
    session: Session,
    trace: TraceFile | None,
    counting: str,
    status: Iterable[str],
    run: Callable[[Watch], Any],
    settings: Any,
    shown: Shown,
    path_of: Callable[[str], str] = str,
) -> int:
    """The exit code: 0 where there is an answer, 1 where there is none.

    `counting`: how the reasoner counts tokens. `status`: lines before the first step. `settings`: the
    agent's, a dataclass. `path_of`: as of `WebEnvironment`.
    """
    from rag.agents.runtime.trace import result_step, step_lines
    from rag.reasoners.wrappers import token_count_method

    steps: list[Step] = []
    with open_display() as show:

        def watch(step: Step) -> None:
            steps.append(step)
            if trace is not None:
                trace.write(step.line())
            for line in step_lines(step, stderr_width()):
                show(line)

        for line in status:
            show(line)
        found = run(watch)
        if trace is not None:
            trace.write(result_step(steps, shown.shape(found)).line())
    _print(session, path_of, found, settings, shown, token_count_method(counting, found.usage))
    return 0 if found.found else 1


def run_web_agent(
    session: Session,
    outputs: tuple[Path | None, bool],
    web: tuple[Path | None, list[Path] | None],
    agent: Callable[[WebEnvironment], Callable[..., Any]],
    request: Any,
    settings: Any,
    shown: Shown,
) -> int:
    """As `run_agent`, over a web: `--web` and `--corpus`. `outputs`: `--trace` and `--force`.

    `agent`: its function.
    """
    folder, corpus = web
    trace = open_trace(session, *outputs, (folder, *(corpus or ())))
    with open_web_environment(session, folder, corpus) as held:
        reasoner, counting = held.counted

        def run(watch: Watch) -> Any:
            return agent(held)(request, held.web, reasoner, held.frame_source, settings, watch=watch)

        status = (vision_status(reasoner, held.frame_source.library),)
        return run_agent(session, trace, counting, status, run, settings, shown, held.path_of)


def _print(
    session: Session, path_of: Callable[[str], str], run: Any, settings: Any, shown: Shown, counting: str
) -> None:
    """The result on stdout."""
    cited = shown.cited(run)
    path = path_of(cited.url) if cited is not None else ""
    if session.as_json:
        shape = shown.shape(run)
        if cited is not None:
            shape[cited.key]["path"] = path or None
        print_json({**shape, "settings": asdict(settings), "tokens_counted_as": counting})
        return
    if shown.lines is None:
        from rag.rendering.terminal import answer_lines

        lines = [*answer_lines(run.answer, width=width(), libraries=session.libraries)]
    else:
        lines = [*shown.lines(run, line_width())]
    if cited is not None and path:
        # The address of a local file was made up for the web that it was searched in.
        lines = [line for line in lines if line.strip() != cited.url]
        lines.append(path if cited.start is None else window_name(path, cited.start, cited.end))
    print_lines([*lines, f"{shown.cost(run)} ({counting})"])


@contextmanager
def open_display() -> Iterator[Callable[[str], None]]:
    """A function that prints a line on stderr; on a terminal a mark below moves while the agent works."""
    if not sys.stderr.isatty():
        yield echo_stderr
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    with console.status("working"):
        yield lambda line: console.print(Text(line), soft_wrap=True)


@contextmanager
def open_web_environment(
    session: Session, web: Path | None, corpus: list[Path] | None
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
                encoder=session.settings.encoder,
                library=library if made and not corpus else None,
                spoken=made,
            )
            counted, source = open_reasoner(session, library), _frame_source(session, library)
            yield WebEnvironment(counted, opened, source, local_path(opened, made=made))
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


def open_reasoner(session: Session, library: Library | None) -> ReasonerWithCounts:
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
