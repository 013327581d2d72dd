"""`rag agent video-browser`: one question over a frozen web, with every step told while it is made."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rag._cli.agent_display import StepFile, open_display
from rag._cli.options import Config, Json, Library, Record, Replay, Seed, Verbose
from rag._cli.output import print_json, print_lines, width
from rag._cli.session import Session, start, words
from rag.errors import LibraryNotFound, RagError

if TYPE_CHECKING:
    from rag.agents.video_browser_records import BrowserStep, BrowseRun
    from rag.agents.video_browser_settings import BrowserSettings
    from rag.library import Library as Shelf
    from rag.reasoners.roles import Reasoner
    from rag.web import MockWeb

__all__ = ["video_browser"]

Asked = Annotated[
    str, typer.Argument(metavar="QUESTION", help="May hold its options: '... (A) ... (B) ...'.")
]
WebFolder = Annotated[
    Path, typer.Option("--web", metavar="DIR", help="The frozen web, made by 'rag web build'.")
]
Options = Annotated[
    list[str] | None,
    typer.Option("-o", "--option", metavar="TEXT", help="An option, in order A, B, ...; repeat for each."),
]
Loops = Annotated[int, typer.Option("--loops", metavar="T", min=1, max=50, help="Search loops at most.")]
Videos = Annotated[
    int, typer.Option("--videos", metavar="K", min=1, max=50, help="Videos watched in each loop.")
]
SparseFrames = Annotated[
    int, typer.Option("--frames", metavar="N", min=1, max=256, help="Frames of the sparse look.")
]
SparseLook = Annotated[
    Literal["look", "stored"],
    typer.Option("--sparse", help="Look at sparse frames, or let stored frame vectors stand in."),
]
WhichParadigm = Annotated[
    Literal["pyramidal", "direct", "summarization", "text-search", "tool-free"],
    typer.Option("--paradigm", help="The agent itself, or what it is compared with."),
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


def video_browser(
    question: Asked,
    web: WebFolder,
    option: Options = None,
    loops: Loops = 5,
    videos: Videos = 3,
    frames: SparseFrames = 16,
    sparse: SparseLook = "look",
    paradigm: WhichParadigm = "pyramidal",
    faults: FaultRates = "",
    trace: TraceFile = None,
    html: PageFile = None,
    record: Record = None,
    replay: Replay = None,
    library: Library = None,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
    seed: Seed = None,
) -> int:
    """Search, watch and answer on a frozen web. A library that holds its videos gives the stored vectors.

    Exit code 1 where the run ended without an answer; the reason is in the result.
    """
    flags = {"reasoner.record": record, "reasoner.replay": replay}
    session = start(library, config, as_json, verbose, seed, flags)
    from rag.agents.video_browser import browse
    from rag.agents.video_browser_settings import BrowserSettings
    from rag.agents.video_browser_sight import Eyes
    from rag.questions import parse_question
    from rag.web import Faults, open_web

    asked = parse_question(words(question), tuple(map(words, option or ())))
    chosen = BrowserSettings(
        paradigm=paradigm, max_steps=loops, videos=videos, sparse=sparse, sparse_frames=frames
    )
    planted = Faults.parse(faults, session.settings.seed)
    with open_web(os.fspath(web), faults=planted, encoder=session.settings.encoder) as opened:
        shelf = _shelf(session, web)
        mind, counted_as = _mind(session, shelf)
        read = _frames_reader(session, shelf)
        with StepFile(trace) as steps, open_display() as display:
            run = browse(
                asked,
                opened,
                mind,
                Eyes(mind.reads_pixels, shelf, read),
                chosen,
                watch=_watch(steps, display.say),
                wait=time.sleep if opened.real_time else None,
            )
            steps.write(_end(run))
        if html is not None:
            _write_page(html, run, opened, read, counted_as)
        if shelf is not None:
            shelf.close()
    _print(session, run, chosen, counted_as)
    return 1 if run.failure else 0


def _shelf(session: Session, web: Path) -> Shelf | None:
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


def _mind(session: Session, shelf: Shelf | None) -> tuple[Reasoner, str]:
    """The reasoner of the settings, and how its tokens are counted."""
    from rag.reasoners import open_reasoner
    from rag.reasoners.counting import COUNTED_AS, CountedReasoner

    if shelf is not None:
        mind = shelf.reasoner
    else:
        from indexers.registry import open_query_encoder

        encoder = session.settings.encoder
        mind = open_reasoner(session.settings, open_query_encoder(encoder.text, encoder), None)
    if session.settings.reasoner.kind == "embedded":
        return CountedReasoner(mind), COUNTED_AS
    return mind, ""


def _frames_reader(session: Session, shelf: Shelf | None) -> Any:
    """Address of a file and times to decoded frames."""
    if shelf is not None:
        return shelf.read_frames
    from corpora.video.reader import MediaReader

    settings = session.settings
    media = MediaReader(settings.video.decoder, settings.video.stall_seconds)
    side = settings.reasoner.image_short_side
    return lambda path, times: media.frames_at(path, times.tolist(), short_side=side)


def _watch(steps: StepFile, say: Callable[[str], None]) -> Callable[[BrowserStep], None]:
    from rag.agents.video_browser_telling import step_lines

    def watch(step: BrowserStep) -> None:
        steps.write(step.line())
        for line in step_lines(step, width()):
            say(line)

    return watch


def _end(run: BrowseRun) -> dict[str, Any]:
    """The last line of a trace: the result, without clock times."""
    from rag.agents.video_browser_telling import run_json

    shape = run_json(run)
    shape.pop("timings", None)
    shape.get("usage", {}).pop("seconds", None)
    return {"number": len(run.steps) + 1, "loop": 0, "kind": "result", "text": run.answer.text, "data": shape}


def _write_page(path: Path, run: BrowseRun, web: MockWeb, read: Any, counted_as: str) -> None:
    from rag.agents.video_browser_page import page
    from rag.errors import FileProblem, WebError

    quiet = web.session()

    def pictures(url, times):  # type: ignore[no-untyped-def]  # its types are numpy's, which is imported late
        try:
            return read(quiet.download(url).path, times)
        except (WebError, FileProblem):
            return None

    try:
        path.write_text(page(run, pictures, counted_as), encoding="utf-8", newline="\n")
    except OSError as error:
        raise RagError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from error


def _print(session: Session, run: BrowseRun, chosen: BrowserSettings, counted_as: str) -> None:
    if session.as_json:
        from dataclasses import asdict

        from rag.agents.video_browser_telling import run_json

        print_json({**run_json(run), "settings": asdict(chosen), "tokens_counted_as": counted_as})
        return
    from rag.rendering.terminal import answer_lines

    print_lines(answer_lines(run.answer, width=width(), library=session.named_library))
    cost = f"{run.loops} loops, {run.searches} searches, {len(run.watched)} videos, {run.tokens} tokens"
    print_lines([cost + (f" ({counted_as})" if counted_as else "")])
