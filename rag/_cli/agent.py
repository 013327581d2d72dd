"""`rag agent`: one command for each agent."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rag._cli.agent_run import open_trace, run_agent, run_web_agent
from rag._cli.ask import unsearchable_lines
from rag._cli.options import argument, option
from rag._cli.session import Force, IndexedVideo, Options, Session, with_session, words
from rag.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rag.agents.raclo.records import RacloRun
    from rag.agents.shotfinder.records import ShotRun
    from rag.agents.video_browser.records import BrowseRun
    from rag.agents.video_detective.records import DetectiveResult
    from rag.reasoners.protocol import Reasoner
    from rag.records import Question
    from rag.web import Web


def _count(usage: str, most: int | None, about: str) -> Any:
    """An option for a number from 1 to `most`, or without a bound."""
    return option(usage, about, min=1, max=most)


Trace = Annotated[Path | None, option("--trace FILE", "Write every step there, as JSON lines.")]
WebFolder = Annotated[Path | None, option("--web DIR", "A frozen web, made by 'rag web build'.")]
Corpus = Annotated[
    list[Path] | None,
    option(
        "--corpus PATH", "Videos that are the web; repeat for each. Without either, those of the library."
    ),
]
Asked = Annotated[str, argument("QUESTION", "May hold its options: '... (A) ... (B) ...'.")]
MustChoose = Annotated[bool, option("--must-choose", "Take one of the options even without evidence.")]


def _question(text: str, options: list[str] | None) -> Question:
    """The question and its options. Raises `QuestionError`."""
    from rag.questions import parse_distinct_question

    return parse_distinct_question(words(text), tuple(map(words, options or ())))


@with_session()
def investigate(
    session: Session,
    video: IndexedVideo,
    question: Asked,
    preset: Annotated[
        Literal["tuned", "paper"],
        option("--preset", "Settings tuned here, or the paper's equations as printed."),
    ] = "tuned",
    frames: Annotated[int, _count("--frames N", 512, "Frames shown in the end.")] = 32,
    looks: Annotated[int, _count("--looks N", 1000, "Looks at a question of four options.")] = 10,
    option: Options = None,
    must_choose: MustChoose = False,
    trace: Trace = None,
    force: Force = False,
) -> int:
    """Answer a question about one VIDEO (VideoDetective).

    It looks where an answer is likely, and again until it is sure, and shows what it looked at and why.
    Exit code 1 where nothing that was found answers it.
    """
    from rag.agents.video_detective.agent import VideoDetective, result_json
    from rag.agents.video_detective.records import PRESETS

    name, asked = os.fsdecode(video), _question(question, option)
    settings = replace(PRESETS[preset], frames=frames, base_steps=looks)

    def cost(run: DetectiveResult) -> dict[str, int]:
        tokens = run.usage.prompt_tokens + run.usage.completion_tokens
        return {"look": len(run.looks), "frame": len(run.frame_times), "token": tokens}

    opened_trace = open_trace(session, (trace, force), (video,))
    with session.open_library() as library:
        run = partial(VideoDetective(library, settings, must_choose=must_choose).investigate, name, asked)
        status = unsearchable_lines(library, {library.video_id(name)})
        return run_agent(session, opened_trace, status, run, settings, result_json, None, cost)


@with_session()
def browse(
    session: Session,
    question: Asked,
    loops: Annotated[int, _count("--loops T", 50, "Search loops at most.")] = 5,
    videos: Annotated[int, _count("--videos K", 50, "Videos watched in each loop.")] = 3,
    frames: Annotated[int, _count("--frames N", 256, "Frames of the sparse look.")] = 16,
    web: WebFolder = None,
    corpus: Corpus = None,
    option: Options = None,
    must_choose: MustChoose = False,
    trace: Trace = None,
    force: Force = False,
) -> int:
    """Answer a question that takes several videos (Video-Browser).

    It searches, watches what it finds, and searches again. Documents are not read. Exit code 1 where nothing
    that was found answers it, or the run failed; the result says which.
    """
    from rag.agents.video_browser.agent import result_json, run_video_browser
    from rag.agents.video_browser.records import BrowserSettings

    asked = _question(question, option)
    settings = BrowserSettings(max_steps=loops, videos=videos, sparse_frames=frames)

    def cost(run: BrowseRun) -> dict[str, int]:
        return {"loop": run.loops, "search": run.searches, "video": len(run.watched), "token": run.tokens}

    agent, outputs = partial(run_video_browser, must_choose=must_choose), (trace, force)
    return run_web_agent(session, outputs, (web, corpus), agent, asked, settings, result_json, None, cost)


@with_session()
def shots(
    session: Session,
    description: Annotated[str, argument("DESCRIPTION", "What is to be seen in the shot.")],
    color: Annotated[
        Literal["warm", "cold", "neutral"] | None, option("--color --tone", "The tone of the shot.")
    ] = None,
    style: Annotated[
        Literal["live", "2d", "3d", "graphics"] | None,
        option("--style", "Live action, 2D or 3D animation, or pure graphics."),
    ] = None,
    audio: Annotated[
        Literal["speech", "music", "ambient", "silence"] | None,
        option("--audio", "What most of the shot sounds like."),
    ] = None,
    min_height: Annotated[int | None, _count("--min-height N", None, "Vertical resolution at least.")] = None,
    resolution: Annotated[
        int | None, _count("--resolution N", None, "Vertical resolution: 720, 1080, ...")
    ] = None,
    after: Annotated[str | None, option("--after TEXT", "What comes just before the shot.")] = None,
    before: Annotated[str | None, option("--before TEXT", "What comes just after the shot.")] = None,
    queries: Annotated[int, _count("--queries M", 20, "Search queries generated.")] = 2,
    urls: Annotated[int, _count("--urls N", 50, "Videos looked at for each query.")] = 2,
    frames: Annotated[
        int | None, _count("--frames N", 512, "Frames of a video; by default 64, 128 or 192 by its length.")
    ] = None,
    constraints: Annotated[
        Literal["exact", "asked", "off"],
        option(
            "--constraints",
            "The resolution rules out, other measurements choose among what is found; or all is told to the "
            "reasoner alone; or nothing.",
        ),
    ] = "exact",
    web: WebFolder = None,
    corpus: Corpus = None,
    trace: Trace = None,
    force: Force = False,
) -> int:
    """Find one shot by how it looks and sounds (ShotFinder).

    It imagines the shot, searches and localizes. Of the shots found, those of the tone, style and sound asked
    for, as measured, come first; 'rag search' finds no others. Constraints may be combined.
    Exit code 1 where no shot was found (N/A), or nothing could be looked at.
    """
    from rag.agents.runtime.frame_source import fixed_budget
    from rag.agents.shotfinder.agent import find_shot, result_json, result_lines
    from rag.agents.shotfinder.constraints import Constraints
    from rag.agents.shotfinder.records import FRAME_BUDGET, ShotRequest, ShotSettings

    neighbours = _neighbour("--after", after), _neighbour("--before", before)
    wanted = Constraints(color, style, audio, min_height, resolution, *neighbours)
    budget = FRAME_BUDGET if frames is None else fixed_budget(frames)
    settings = ShotSettings(queries=queries, urls=urls, budget=budget, constraint_mode=constraints)

    def cost(run: ShotRun) -> dict[str, int]:
        return {"search": run.searches, "video": len(run.looks), "token": run.tokens}

    request, outputs, where = ShotRequest(words(description), wanted), (trace, force), (web, corpus)
    shown = (result_json, result_lines, cost)
    return run_web_agent(session, outputs, where, find_shot, request, settings, *shown)


def _neighbour(option: str, text: str | None) -> str:
    """What comes before or after; empty where the option was not given."""
    if text is not None and not any(character.isalnum() for character in text):
        raise UsageError(
            f"{option} {text!r}: it holds no word; leave it out, or say what is to be seen there"
        )
    return words(text or "")


@with_session()
def recall(
    session: Session,
    whole: Annotated[str, option("--global TEXT", "The impression of the whole video (G).")] = "",
    moment: Annotated[str, option("--moment TEXT", "One image of the moment (K).")] = "",
    before: Annotated[str, option("--before TEXT", "What was just before the moment (T).")] = "",
    after: Annotated[str, option("--after TEXT", "What was just after the moment (T).")] = "",
    sound: Annotated[str, option("--sound TEXT", "The sound of the moment (A).")] = "",
    queries: Annotated[int, _count("--queries Q", 20, "Search queries generated.")] = 2,
    urls: Annotated[int, _count("--urls U", 50, "Videos taken of each query.")] = 2,
    frames: Annotated[
        int | None, _count("--frames N", 512, "Frames to localize in; by default 32 to 192 by length.")
    ] = None,
    look: Annotated[
        Literal["sampled", "stored"],
        option("--look", "Look at sampled frames, or at stored frame embeddings."),
    ] = "sampled",
    web: WebFolder = None,
    corpus: Corpus = None,
    trace: Trace = None,
    force: Force = False,
) -> int:
    """Find a moment that you remember in part (RACLO).

    It searches, verifies and localizes. Give --global, --moment or both; the others go with a moment. A
    library that holds the videos gives stored embeddings and sound. Exit code 1 where nothing was found.
    """
    from rag.agents.raclo.agent import result_json, result_lines, run_raclo
    from rag.agents.raclo.records import CUE_SETS, FRAME_BUDGET, RacloSettings, cues_of, only_cues
    from rag.agents.raclo.verification import second_judge
    from rag.agents.runtime.frame_source import fixed_budget
    from rag.reasoners.roles.material import Memory

    memory = Memory(words(whole), words(moment), words(before), words(after), words(sound))
    if (cues := cues_of(memory)) not in CUE_SETS:
        raise UsageError("give --global, --moment or both; --before, --after and --sound go with --moment")
    request = only_cues(memory, cues)
    budget = FRAME_BUDGET if frames is None else fixed_budget(frames)
    settings = RacloSettings(queries=queries, urls=urls, budget=budget, frames=look)

    def agent(request: Memory, web: Web, reasoner: Reasoner, *rest: Any, **how: Any) -> RacloRun:
        return run_raclo(request, web, reasoner, *rest, second=second_judge(reasoner), **how)

    def cost(run: RacloRun) -> dict[str, int]:
        return {"search": run.searches, "video": len(run.candidates), "token": run.tokens}

    outputs, where, shown = (trace, force), (web, corpus), (result_json, result_lines, cost)
    return run_web_agent(session, outputs, where, agent, request, settings, *shown)


app = typer.Typer(help="Run an agent on one question, and show its steps.", rich_markup_mode=None)
_AGENTS: dict[tuple[str, str], Callable[..., int]] = {
    ("investigate", "video-detective"): investigate,
    ("browse", "video-browser"): browse,
    ("shots", "shotfinder"): shots,
    ("recall", "raclo"): recall,
}
"""Each agent by what it is for, and by the name of its paper's system."""
for (name, paper), command in _AGENTS.items():
    app.command(name)(command)
    app.command(paper, hidden=True)(command)
