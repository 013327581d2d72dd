"""`rag agent shotfinder`: a shot out of a frozen web, by its description and constraints."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rag._cli.agent_display import StepFile, open_display, telling, without_clock
from rag._cli.agent_web import (
    AnyWebFolder,
    Corpus,
    FaultRates,
    PageFile,
    TraceFile,
    agent_outputs,
    citation,
    citing,
    frames_reader,
    open_reasoner,
    open_web_and_library,
    pictures_of,
    vision_status,
    write_page,
)
from rag._cli.options import Config, Force, Json, Library, Record, Replay, Seed, Verbose
from rag._cli.output import line_width, print_json, print_lines
from rag._cli.session import Session, start, words
from rag.errors import UsageError

if TYPE_CHECKING:
    from rag.agents.shotfinder.records import ShotRun
    from rag.agents.shotfinder.settings import ShotSettings

Described = Annotated[str, typer.Argument(metavar="DESCRIPTION", help="What is to be seen in the shot.")]
Color = Annotated[
    Literal["warm", "cold", "neutral"] | None,
    typer.Option("--color", "--tone", help="The tone of the shot."),
]
Style = Annotated[
    Literal["live", "2d", "3d", "graphics"] | None,
    typer.Option("--style", help="Live action, 2D or 3D animation, or pure graphics."),
]
Audio = Annotated[
    Literal["speech", "music", "ambient", "silence"] | None,
    typer.Option("--audio", help="What most of the shot sounds like."),
]
MinHeight = Annotated[
    int | None, typer.Option("--min-height", metavar="N", min=1, help="Lines of the picture at least.")
]
Resolution = Annotated[
    int | None, typer.Option("--resolution", metavar="N", min=1, help="Lines of the picture: 720, 1080, ...")
]
After = Annotated[
    str | None, typer.Option("--after", metavar="TEXT", help="What comes just before the shot.")
]
Before = Annotated[
    str | None, typer.Option("--before", metavar="TEXT", help="What comes just after the shot.")
]
Searches = Annotated[int, typer.Option("--queries", metavar="M", min=1, max=20, help="Searches imagined.")]
Videos = Annotated[
    int, typer.Option("--urls", metavar="N", min=1, max=50, help="Videos looked at for each search.")
]
Frames = Annotated[
    int | None,
    typer.Option(
        "--frames",
        metavar="N",
        min=1,
        max=512,
        help="Frames of a video; by default 64, 128 or 192 by its length.",
    ),
]
HeedHow = Annotated[
    Literal["measured", "asked", "off"],
    typer.Option("--constraints", help="Held against measurements, words for the mind alone, or ignored."),
]


def shotfinder(
    description: Described,
    web: AnyWebFolder = None,
    corpus: Corpus = None,
    color: Color = None,
    style: Style = None,
    audio: Audio = None,
    min_height: MinHeight = None,
    resolution: Resolution = None,
    after: After = None,
    before: Before = None,
    queries: Searches = 2,
    urls: Videos = 2,
    frames: Frames = None,
    constraints: HeedHow = "measured",
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
    """Imagine, search and localize one shot. A library that holds the web's videos gives the measurements.

    Constraints may be combined. Exit code 1 where no shot was found (N/A), or nothing could be looked at.
    """
    flags = {"reasoner.record": record, "reasoner.replay": replay}
    session = start(library, config, as_json, verbose, seed, flags)
    policy = agent_outputs(session, force, trace, html, record, web, *(corpus or ()), replay)
    from rag.agents.runtime.frame_budget import SHOTFINDER, fixed_budget
    from rag.agents.runtime.frame_source import FrameSource
    from rag.agents.shotfinder.agent import find_shot
    from rag.agents.shotfinder.console import step_lines
    from rag.agents.shotfinder.constraints import Constraints
    from rag.agents.shotfinder.page import page
    from rag.agents.shotfinder.records import ShotRequest
    from rag.agents.shotfinder.settings import ShotSettings
    from rag.reasoners.token_counting import token_count_method
    from rag.web import Faults

    asked = ShotRequest(
        words(description),
        Constraints(
            color, style, audio, min_height, resolution, _side("--after", after), _side("--before", before)
        ),
    )
    budget = SHOTFINDER if frames is None else fixed_budget(frames)
    chosen = ShotSettings(queries=queries, urls=urls, budget=budget, constraint_mode=constraints)
    planted = Faults.parse(faults, session.settings.seed)
    with open_web_and_library(session, web, corpus, planted) as (opened, shelf):
        reasoner, label = open_reasoner(session, shelf)
        read = frames_reader(session, shelf)
        with StepFile(trace, policy) as steps, open_display() as display:
            display.say(vision_status(reasoner, shelf))
            run = find_shot(
                asked,
                opened,
                reasoner,
                FrameSource.of(reasoner, shelf, read),
                chosen,
                watch=telling(steps, display.say, step_lines),
                wait=time.sleep if opened.real_time else None,
            )
            steps.write(_end(run))
        told = token_count_method(label, run.usage)
        shot = run.shot
        path = citing(opened, made=web is None)(shot.url) if shot is not None else ""
        _print(session, run, chosen, told, path)
        written = write_page(html, policy, lambda: page(run, pictures_of(opened, read), told))
    return written if run.shot is not None else 1


def _side(option: str, text: str | None) -> str:
    if text is not None and not any(character.isalnum() for character in text):
        raise UsageError(
            f"{option} {text!r}: it holds no word; leave it out, or say what is to be seen there"
        )
    return words(text or "")


def _end(run: ShotRun) -> dict[str, Any]:
    """The last line of a trace: the result, without clock times."""
    from rag.agents.shotfinder.console import run_json

    text = "N/A" if run.shot is None else run.shot.title
    return {
        "number": len(run.steps) + 1,
        "kind": "result",
        "text": text,
        "data": without_clock(run_json(run)),
    }


def _print(session: Session, run: ShotRun, chosen: ShotSettings, told: str, path: str) -> None:
    shot = run.shot
    if session.as_json:
        from dataclasses import asdict

        from rag.agents.shotfinder.console import run_json

        shape = run_json(run)
        if shot is not None:
            shape["shot"]["path"] = path or None
        print_json({**shape, "settings": asdict(chosen), "tokens_counted_as": told})
        return
    from rag.agents.shotfinder.console import result_lines
    from rag.rendering.terminal import visible

    print_lines(result_lines(run, line_width()))
    if shot is not None and path:
        print_lines([f"  {visible(citation(path, shot.start, shot.end))}"])
    cost = f"{run.searches} searches, {len(run.looks)} videos, {run.tokens} tokens"
    print_lines([cost + (f" ({told})" if told else "")])
