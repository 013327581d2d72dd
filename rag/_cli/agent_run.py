"""A run of an agent's command: what it opens, the order of events, and what it prints."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.errors import file_error
from corpora.outputs import OverwritePolicy, check_output, replace_file
from rag._cli.output import echo_stderr, line_width, print_json, print_lines, stderr_width, width
from rag._cli.session import Session
from rag.errors import LibraryNotFound, UsageError
from rag.records import Answer
from rag.rendering.terminal import counted_each

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.records import Frames
    from rag.agents.runtime.frame_source import FrameSource
    from rag.agents.runtime.trace import Step, Watch
    from rag.library import Library
    from rag.reasoners.protocol import Reasoner
    from rag.web import Web

Outputs = tuple[Path | None, bool]
"""`--trace` and `--force`."""
Shape = Callable[[Any], dict[str, Any]]
"""The JSON of a run: `result_json` of its agent."""
Lines = Callable[[Any, int], Iterable[str]]
"""What a run found, for people, by columns."""
Cost = Callable[[Any], Mapping[str, int]]
"""What a run used: numbers by their nouns."""


class TraceFile:
    """The JSON Lines of `--trace`, which grow while a run goes on; the first line has the schema as well.

    Made with the first line: a run that is refused before leaves an old trace as it is. Raises `UsageError`
    for a file that no trace may replace (`corpora.outputs`), `RagError` where it cannot be written.
    """

    def __init__(self, path: Path, policy: OverwritePolicy) -> None:
        self._path, self._policy, self._begun = path, policy, False
        check_output(path, policy)

    def write(self, line: Mapping[str, Any]) -> None:
        """Add one line."""
        head = {} if self._begun else {"schema": "rag.trace/1"}
        try:
            if not self._begun:
                with replace_file(self._path, self._policy):
                    self._begun = True
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**line, **head}, allow_nan=False) + "\n")
        except OSError as error:
            raise file_error(self._path, error) from error


def open_trace(session: Session, outputs: Outputs, inputs: Iterable[Path | None]) -> TraceFile | None:
    """The file of `--trace`, checked before any work is done; `inputs`: what the command reads.

    Raises `UsageError`.
    """
    trace, force = outputs
    if trace is None:
        return None
    from rag.web.catalogue import PAGES, VIDEOS

    named = [path for path in inputs if path is not None]
    webs = [folder / name for folder in named if folder.is_dir() for name in (VIDEOS, PAGES)]
    return TraceFile(trace, session.overwrite_policy(force, *named, *webs))


def run_agent(
    session: Session,
    trace: TraceFile | None,
    status: Iterable[str],
    run: Callable[[Watch], Any],
    settings: Any,
    shape: Shape,
    lines: Lines | None,
    cost: Cost,
) -> int:
    """The exit code: 0 where there is an answer, 1 where there is none.

    `status`: lines before the first step. `settings`: the agent's, a dataclass. `lines`: None for an agent
    whose answer is shown as `rag ask` shows it.
    """
    from rag.agents.runtime.trace import result_step, step_lines

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
            trace.write(result_step(steps, shape(found)).line())
    if session.as_json:
        print_json({**shape(found), "settings": asdict(settings)})
    else:
        shown = _answer_lines(session, found.answer) if lines is None else lines(found, line_width())
        print_lines([*shown, counted_each(**cost(found))])
    return 0 if found.found else 1


def run_web_agent(
    session: Session,
    outputs: Outputs,
    where: tuple[Path | None, list[Path] | None],
    agent: Callable[..., Any],
    request: Any,
    settings: Any,
    shape: Shape,
    lines: Lines | None,
    cost: Cost,
) -> int:
    """Run an agent over a web, as `run_agent`. `where`: `--web`, `--corpus`. `agent`: its function."""
    folder, corpus = where
    trace = open_trace(session, outputs, (folder, *(corpus or ())))
    with open_web_environment(session, folder, corpus) as (reasoner, web, source):

        def run(watch: Watch) -> Any:
            return agent(request, web, reasoner, source, settings, watch=watch)

        status = (vision_status(reasoner, source.library),)
        return run_agent(session, trace, status, run, settings, shape, lines, cost)


def _answer_lines(session: Session, answer: Answer) -> Iterable[str]:
    from rag.rendering.terminal import answer_lines

    return answer_lines(answer, width=width(), libraries=session.libraries)


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
) -> Iterator[tuple[Reasoner, Web, FrameSource]]:
    """The reasoner, the web that is named or made, and frames of the library that holds its videos.

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
            yield open_reasoner(session, library), opened, _frame_source(session, library)
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
            report = build_web(made, corpus, paths=True)
        else:
            with session.open_library() as library:
                report = build_web(made, library=library, paths=True)
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


def open_reasoner(session: Session, library: Library | None) -> Reasoner:
    """The reasoner of the library, else of the settings."""
    from indexers.registry import open_query_encoder
    from rag.reasoners import open_reasoner

    if library is not None:
        return library.engine.reasoner
    encoder = session.settings.encoder
    return open_reasoner(session.settings, open_query_encoder(encoder.text, encoder), None)


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
