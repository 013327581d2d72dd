"""`rag agent raclo`: a video and a moment of it, by what one remembers."""

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

if TYPE_CHECKING:
    from rag.agents.raclo.records import RacloRun
    from rag.agents.raclo.settings import RacloSettings

Whole = Annotated[str, typer.Option("--global", metavar="TEXT", help="G: the impression of the whole.")]
KeyMoment = Annotated[str, typer.Option("--moment", metavar="TEXT", help="K: one image of it.")]
Before = Annotated[str, typer.Option("--before", metavar="TEXT", help="T: what was just before the moment.")]
After = Annotated[str, typer.Option("--after", metavar="TEXT", help="T: what was just after it.")]
Sound = Annotated[str, typer.Option("--sound", metavar="TEXT", help="A: what was heard at the moment.")]
Searches = Annotated[int, typer.Option("--queries", metavar="Q", min=1, max=20, help="Searches imagined.")]
Videos = Annotated[int, typer.Option("--urls", metavar="U", min=1, max=50, help="Videos taken of each.")]
FrameCount = Annotated[
    int | None,
    typer.Option(
        "--frames", metavar="N", min=1, max=512, help="Frames to localize in; by default 32 to 192 by length."
    ),
]
FramesHow = Annotated[
    Literal["sampled", "stored"],
    typer.Option("--look", help="Look at sampled frames, or let stored frame vectors stand in."),
]


def raclo(
    whole: Whole = "",
    moment: KeyMoment = "",
    before: Before = "",
    after: After = "",
    sound: Sound = "",
    web: AnyWebFolder = None,
    corpus: Corpus = None,
    queries: Searches = 2,
    urls: Videos = 2,
    frames: FrameCount = None,
    look: FramesHow = "sampled",
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
    """Recall, search, verify and localize. Give --global, --moment or both; the others go with a moment.

    A library that holds the videos gives stored vectors and sound. Exit code 1 where nothing was found.
    """
    flags = {"reasoner.record": record, "reasoner.replay": replay}
    session = start(library, config, as_json, verbose, seed, flags)
    policy = agent_outputs(session, force, trace, html, record, web, *(corpus or ()), replay)
    from rag.agents.raclo.agent import run_raclo
    from rag.agents.raclo.console import step_lines
    from rag.agents.raclo.page import page
    from rag.agents.raclo.records import cues_of, only_cues
    from rag.agents.raclo.settings import RacloSettings
    from rag.agents.raclo.verification import second_judge
    from rag.agents.runtime.frame_budget import RACLO, fixed_budget
    from rag.agents.runtime.frame_source import FrameSource
    from rag.reasoners.roles import Memory
    from rag.reasoners.token_counting import token_count_method
    from rag.web import Faults

    told = Memory(words(whole), words(moment), words(before), words(after), words(sound))
    memory = only_cues(told, cues_of(told))
    budget = RACLO if frames is None else fixed_budget(frames)
    chosen = RacloSettings(queries=queries, urls=urls, budget=budget, frames=look)
    planted = Faults.parse(faults, session.settings.seed)
    with open_web_and_library(session, web, corpus, planted) as (opened, shelf):
        reasoner, label = open_reasoner(session, shelf)
        read = frames_reader(session, shelf)
        with StepFile(trace, policy) as steps, open_display() as display:
            display.say(vision_status(reasoner, shelf))
            run = run_raclo(
                memory,
                opened,
                reasoner,
                FrameSource.of(reasoner, shelf, read),
                chosen,
                second=second_judge(reasoner),
                watch=telling(steps, display.say, step_lines),
                wait=time.sleep if opened.real_time else None,
            )
            steps.write(_end(run))
        told_as = token_count_method(label, run.usage)
        answer = run.answer
        path = citing(opened, made=web is None)(answer.url) if answer is not None else ""
        _print(session, run, chosen, told_as, path)
        written = write_page(html, policy, lambda: page(run, pictures_of(opened, read), told_as))
    return written if run.matched else 1


def _end(run: RacloRun) -> dict[str, Any]:
    """The last line of a trace: the result, without clock times."""
    from rag.agents.raclo.console import run_json

    text = "nothing found" if run.answer is None else run.answer.title
    told = without_clock(run_json(run))
    return {"number": len(run.steps) + 1, "turn": 0, "kind": "result", "text": text, "data": told}


def _print(session: Session, run: RacloRun, chosen: RacloSettings, told_as: str, path: str) -> None:
    from rag.agents.raclo.console import result_lines, run_json
    from rag.rendering.terminal import visible

    answer = run.answer

    if session.as_json:
        from dataclasses import asdict

        shape = run_json(run)
        if answer is not None:
            shape["answer"]["path"] = path or None
        print_json({**shape, "settings": asdict(chosen), "tokens_counted_as": told_as})
        return
    print_lines(result_lines(run, line_width()))
    if answer is not None and path:
        moment = answer.moment
        print_lines([visible(path if moment is None else citation(path, moment.start, moment.end))])
    cost = f"{run.searches} searches, {len(run.candidates)} videos, {run.tokens} tokens"
    print_lines([cost + (f" ({told_as})" if told_as else "")])
