"""A run of an agent's command: what it opens, the order of events, and what it prints."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from corpora.outputs import OverwritePolicy, check_output
from rag._cli.output import (
    echo_stderr,
    line_width,
    print_event,
    print_json,
    print_lines,
    run_as_job,
    stderr_width,
    width,
)
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

COLORS = dict.fromkeys(("plan:", "shown:"), "bold cyan") | {
    "look:": "bold",
    "confirmed:": "green",
    "missing:": "yellow",
    "problem:": "red",
}
"""The style of a line, by its first word."""


class Cited(NamedTuple):
    """What a run found, in the web or the library."""

    key: str
    """The key of its object in the JSON result."""
    url: str
    start: float | None
    """Seconds; None: the video as a whole."""
    end: float


@dataclass(frozen=True)
class Environment:
    """What an agent works with."""

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


@dataclass(frozen=True)
class Outputs:
    """The options of every agent that say what is written."""

    session: Session
    trace: Path | None
    force: bool
    events: bool

    def policy(self, inputs: Iterable[Path | None]) -> OverwritePolicy:
        """The policy for the outputs, checked before any work is done; `inputs`: what the command reads.

        Raises `UsageError`.
        """
        from rag.web.catalogue import PAGES, VIDEOS

        named = [path for path in inputs if path is not None]
        webs = [folder / name for folder in named if folder.is_dir() for name in (VIDEOS, PAGES)]
        policy = self.session.overwrite_policy(self.force, *named, *webs)
        if self.trace is not None:
            check_output(self.trace, policy)
        return policy


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


def run_agent(
    outputs: Outputs,
    inputs: Iterable[Path | None],
    opened: AbstractContextManager[Any],
    status: Callable[[Any], Iterable[str]],
    run: Callable[[Any, Watch], Any],
    settings: Any,
    shown: Shown,
) -> int:
    """The exit code: 0 where there is an answer, 1 where there is none.

    `status`: lines before the first step. `settings`: the agent's, a dataclass.
    """
    if outputs.events:
        run_as_job()
    policy = outputs.policy(inputs)
    from rag.agents.runtime.trace import result_step, step_lines
    from rag.reasoners.wrappers import token_count_method
    from rag.web.trace import TraceFile

    steps: list[Step] = []
    with opened as environment:
        trace = None if outputs.trace is None else TraceFile(outputs.trace, policy)
        with open_display() as show:

            def watch(step: Step) -> None:
                steps.append(step)
                if trace is not None:
                    trace.write(step.line())
                if outputs.events:
                    print_event("step", step=step.line())
                    return
                for line in step_lines(step, stderr_width()):
                    show(line)

            for line in () if outputs.events else status(environment):
                show(line)
            found = run(environment, watch)
            if trace is not None:
                trace.write(result_step(steps, shown.shape(found)).line())
        counting = token_count_method(environment.counting, found.usage)
        _print(outputs.session, environment, found, settings, shown, counting)
    return 0 if found.found else 1


def run_web_agent(
    outputs: Outputs,
    web: tuple[Path | None, list[Path] | None],
    agent: Callable[[WebEnvironment], Callable[..., Any]],
    request: Any,
    settings: Any,
    shown: Shown,
) -> int:
    """As `run_agent`, over a web: `--web` and `--corpus`. `agent`: its function."""
    folder, corpus = web

    def run(environment: WebEnvironment, watch: Watch) -> Any:
        source = environment.frame_source
        return agent(environment)(
            request, environment.web, environment.reasoner, source, settings, watch=watch
        )

    def status(environment: WebEnvironment) -> Iterable[str]:
        return (vision_status(environment.reasoner, environment.frame_source.library),)

    opened = open_web_environment(outputs.session, folder, corpus)
    return run_agent(outputs, (folder, *(corpus or ())), opened, status, run, settings, shown)


def _print(
    session: Session, environment: Environment, run: Any, settings: Any, shown: Shown, counting: str
) -> None:
    """The result on stdout."""
    cited = shown.cited(run)
    path = environment.path_of(cited.url) if cited is not None else ""
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
    """A function that prints a line on stderr: on a terminal in colour, with a moving mark while the agent
    works; else plain. Text from files is never markup."""
    if not sys.stderr.isatty():
        yield echo_stderr
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)

    def show(line: str) -> None:
        first = next(iter(line.split()), "")
        console.print(Text(line, style=COLORS.get(first, "")), soft_wrap=True)

    with console.status("working"):
        yield show


@contextmanager
def open_library_environment(session: Session) -> Iterator[LibraryEnvironment]:
    """The library of the settings and its reasoner."""
    with session.open_library() as library:
        yield LibraryEnvironment(*_open_reasoner(session, library), lambda path: path, library)


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
