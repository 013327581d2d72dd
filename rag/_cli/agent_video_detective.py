"""`rag agent video-detective`: one question about one long video, with every step told while it is made."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag._cli.agent_display import StepFile, open_display
from rag._cli.agent_web import Asked, Options, PageFile, TraceFile, agent_outputs, open_reasoner, write_page
from rag._cli.options import Config, Force, Json, Library, Record, Replay, Seed, Verbose
from rag._cli.output import print_json, print_lines, width
from rag._cli.session import Session, start, words
from rag._cli.unread import unread_lines

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.records import Frames
    from rag.agents.video_detective.agent import VideoDetective
    from rag.agents.video_detective.records import DetectiveResult, Look, Planned, Selected

    Watch = Callable[[Planned | Look | Selected], None]


def video_detective(
    video: Annotated[
        Path,
        typer.Argument(
            metavar="VIDEO", help="An indexed video: its path or the end of it, its id or the start of that."
        ),
    ],
    question: Asked,
    option: Options = None,
    must_choose: Annotated[
        bool, typer.Option("--must-choose", help="Take one of the options even without evidence.")
    ] = False,
    frames: Annotated[
        int, typer.Option("--frames", metavar="N", min=1, max=512, help="Frames shown in the end.")
    ] = 32,
    looks: Annotated[
        int,
        typer.Option("--looks", metavar="N", min=1, max=1000, help="Looks at a question of four options."),
    ] = 10,
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
    """Answer QUESTION from a few looks at VIDEO, and say what was looked at and why.

    Exit code 1 where nothing that was found answers it.
    """
    flags = {"reasoner.record": record, "reasoner.replay": replay}
    session = start(library, config, as_json, verbose, seed, flags)
    policy = agent_outputs(session, force, trace, html, record, video, replay)
    from rag.questions import parse_question
    from rag.reasoners.token_counting import token_count_method

    asked = parse_question(words(question), tuple(map(words, option or ())))
    with session.open_library() as shelf:
        from rag.agents.video_detective.agent import VideoDetective
        from rag.agents.video_detective.settings import DetectiveSettings

        settings = DetectiveSettings(frames=frames, base_steps=looks)
        reasoner, label = open_reasoner(session, shelf)
        agent = VideoDetective(shelf, settings, reasoner=reasoner, must_choose=must_choose)
        video_id = shelf.video_id(os.fsdecode(video))
        with StepFile(trace, policy) as steps, open_display() as display:
            for line in unread_lines(session, shelf, {video_id}):
                display.say(line)
            found = agent.investigate(video_id, asked, _watch(steps, display.say))
            _finish_trace(steps, found)
        told = token_count_method(label, found.answer.usage)
        _print(session, found, told)
        written = write_page(html, policy, lambda: _page(found, agent, told))
    return written if found.answer.matched else 1


def _watch(steps: StepFile, say: Callable[[str], None]) -> Watch:
    from rag.agents.video_detective.console import (
        look_lines,
        plan_lines,
        selected_lines,
        step_json,
    )
    from rag.agents.video_detective.records import Look, Planned, Selected

    plans: list[Planned] = []

    def watch(step: Planned | Look | Selected) -> None:
        steps.write(step_json(step))
        if isinstance(step, Planned):
            plans.append(step)
            lines = plan_lines(step, width())
        elif isinstance(step, Look):
            lines = look_lines(plans[0], step, width())
        else:
            assert isinstance(step, Selected)
            lines = selected_lines(step, width())
        for line in lines:
            say(line)

    return watch


def _finish_trace(steps: StepFile, found: DetectiveResult) -> None:
    from rag.rendering.shapes import answer_shape

    answer = answer_shape(found.answer)
    steps.write(
        {"step": "answer", **{key: answer[key] for key in ("answer", "citations", "options", "usage")}}
    )


def _page(found: DetectiveResult, agent: VideoDetective, told: str) -> str:
    from rag.agents.video_detective.page import page
    from rag.errors import FileProblem

    def pictures(times: NDArray[np.float64]) -> Frames | None:
        try:
            return agent.library.engine.read_frames(found.path, times)
        except FileProblem:
            return None

    return page(found, pictures, told)


def _print(session: Session, found: DetectiveResult, told: str) -> None:
    if session.as_json:
        from rag.agents.video_detective.console import answer_json

        print_json(answer_json(found, told))
        return
    from rag.rendering.terminal import answer_lines

    print_lines(answer_lines(found.answer, width=width(), library=session.named_library))
