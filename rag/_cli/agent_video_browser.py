"""`rag agent video-browser`: one question over a frozen web, with every step told while it is made."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rag._cli.agent_display import StepFile, open_display, telling, without_clock
from rag._cli.agent_web import (
    Asked,
    FaultRates,
    Options,
    PageFile,
    TraceFile,
    WebFolder,
    agent_outputs,
    frames_reader,
    open_library,
    open_reasoner,
    pictures_of,
    vision_status,
    write_page,
)
from rag._cli.options import Config, Force, Json, Library, Record, Replay, Seed, Verbose
from rag._cli.output import print_json, print_lines, width
from rag._cli.session import Session, start, words

if TYPE_CHECKING:
    from rag.agents.video_browser.records import BrowseRun
    from rag.agents.video_browser.settings import BrowserSettings

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
    force: Force = False,
    library: Library = None,
    config: Config = None,
    as_json: Json = None,
    verbose: Verbose = 0,
    seed: Seed = None,
) -> int:
    """Search, watch and answer on a frozen web. A library that holds its videos gives the stored vectors.

    Exit code 1 where nothing that was found answers it, or the run failed; the result says which.
    """
    flags = {"reasoner.record": record, "reasoner.replay": replay}
    session = start(library, config, as_json, verbose, seed, flags)
    policy = agent_outputs(session, force, trace, html, record, web, replay)
    from rag.agents.runtime.frame_source import FrameSource
    from rag.agents.video_browser.agent import browse
    from rag.agents.video_browser.console import step_lines
    from rag.agents.video_browser.page import page
    from rag.agents.video_browser.settings import BrowserSettings
    from rag.questions import parse_question
    from rag.reasoners.token_counting import token_count_method
    from rag.web import Faults, open_web

    asked = parse_question(words(question), tuple(map(words, option or ())))
    chosen = BrowserSettings(
        paradigm=paradigm, max_steps=loops, videos=videos, sparse=sparse, sparse_frames=frames
    )
    planted = Faults.parse(faults, session.settings.seed)
    with open_web(os.fspath(web), faults=planted, encoder=session.settings.encoder) as opened:
        shelf = open_library(session, web)
        reasoner, label = open_reasoner(session, shelf)
        read = frames_reader(session, shelf)
        with StepFile(trace, policy) as steps, open_display() as display:
            display.say(vision_status(reasoner, shelf))
            frame_source = FrameSource.of(reasoner, shelf, read)
            run = browse(
                asked, opened, reasoner, frame_source, chosen, watch=telling(steps, display.say, step_lines)
            )
            steps.write(_end(run))
        told = token_count_method(label, run.answer.usage)
        _print(session, run, chosen, told)
        written = write_page(html, policy, lambda: page(run, pictures_of(opened, read), told))
        if shelf is not None:
            shelf.close()
    return written if run.answer.matched else 1


def _end(run: BrowseRun) -> dict[str, Any]:
    """The last line of a trace: the result, without clock times."""
    from rag.agents.video_browser.console import run_json

    shape = without_clock(run_json(run))
    return {"number": len(run.steps) + 1, "loop": 0, "kind": "result", "text": run.answer.text, "data": shape}


def _print(session: Session, run: BrowseRun, chosen: BrowserSettings, told: str) -> None:
    if session.as_json:
        from dataclasses import asdict

        from rag.agents.video_browser.console import run_json

        print_json({**run_json(run), "settings": asdict(chosen), "tokens_counted_as": told})
        return
    from rag.rendering.terminal import answer_lines

    print_lines(answer_lines(run.answer, width=width(), library=session.named_library))
    cost = f"{run.loops} loops, {run.searches} searches, {len(run.watched)} videos, {run.tokens} tokens"
    print_lines([f"{cost} ({told})"])
