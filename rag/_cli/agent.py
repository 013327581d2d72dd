"""`rag agent`: one command for each agent."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rag._cli.agent_command import AgentCommand, Cited, QuestionCommand, WebCommand, command
from rag._cli.agent_environment import LibraryEnvironment, WebEnvironment, open_library_environment
from rag._cli.ask import unsearchable_lines
from rag._cli.options import argument, option
from rag._cli.session import IndexedVideo, words
from rag.errors import UsageError
from rag.rendering.terminal import counted_each

if TYPE_CHECKING:
    from rag.agents.raclo.records import RacloRun, RacloSettings
    from rag.agents.runtime.trace import Watch
    from rag.agents.shotfinder.records import ShotRequest, ShotRun, ShotSettings
    from rag.agents.video_browser.records import BrowserSettings, BrowseRun
    from rag.agents.video_detective.records import DetectiveResult, DetectiveSettings
    from rag.reasoners.roles.material import Memory


def _count(usage: str, most: int | None, about: str) -> Any:
    """An option for a number from 1 to `most`, or without a bound."""
    return option(usage, about, min=1, max=most)


@dataclass(kw_only=True)
class Raclo(WebCommand):
    """Find a moment that you remember in part (RACLO).

    It searches, verifies and localizes. Give --global, --moment or both; the others go with a moment. A
    library that holds the videos gives stored embeddings and sound. Exit code 1 where nothing was found.
    """

    package = "raclo"

    whole: Annotated[str, option("--global TEXT", "The impression of the whole video (G).")] = ""
    moment: Annotated[str, option("--moment TEXT", "One image of the moment (K).")] = ""
    before: Annotated[str, option("--before TEXT", "What was just before the moment (T).")] = ""
    after: Annotated[str, option("--after TEXT", "What was just after the moment (T).")] = ""
    sound: Annotated[str, option("--sound TEXT", "The sound of the moment (A).")] = ""
    queries: Annotated[int, _count("--queries Q", 20, "Search queries generated.")] = 2
    urls: Annotated[int, _count("--urls U", 50, "Videos taken of each query.")] = 2
    frames: Annotated[
        int | None, _count("--frames N", 512, "Frames to localize in; by default 32 to 192 by length.")
    ] = None
    look: Annotated[
        Literal["sampled", "stored"],
        option("--look", "Look at sampled frames, or at stored frame embeddings."),
    ] = "sampled"

    @cached_property
    def request(self) -> Memory:
        """The memory that the flags describe."""
        from rag.agents.raclo.records import cues_of, only_cues
        from rag.reasoners.roles.material import Memory

        memory = Memory(
            global_impression=words(self.whole),
            key_moment=words(self.moment),
            before=words(self.before),
            after=words(self.after),
            auditory_memory=words(self.sound),
        )
        return only_cues(memory, cues_of(memory))

    @cached_property
    def settings(self) -> RacloSettings:
        from rag.agents.raclo.records import FRAME_BUDGET, RacloSettings
        from rag.agents.runtime.frame_source import fixed_budget

        budget = FRAME_BUDGET if self.frames is None else fixed_budget(self.frames)
        return RacloSettings(queries=self.queries, urls=self.urls, budget=budget, frames=self.look)

    def agent(self, environment: WebEnvironment) -> Callable[..., RacloRun]:
        from rag.agents.raclo.agent import run_raclo
        from rag.agents.raclo.verification import second_judge

        return partial(run_raclo, second=second_judge(environment.reasoner))

    def cited(self, run: RacloRun) -> Cited | None:
        if run.answer is None:
            return None
        moment = run.answer.moment
        if moment is None:
            return Cited("answer", run.answer.url, None, 0.0)
        return Cited("answer", run.answer.url, moment.start, moment.end)

    def cost(self, run: RacloRun) -> str:
        return counted_each(search=run.searches, video=len(run.candidates), token=run.tokens)


@dataclass(kw_only=True)
class ShotFinder(WebCommand):
    """Find one shot by how it looks and sounds (ShotFinder).

    It imagines the shot, searches and localizes. A library that holds the web's videos gives the
    measurements.
    Constraints may be combined. Exit code 1 where no shot was found (N/A), or nothing could be looked at.
    """

    package = "shotfinder"

    description: Annotated[str, argument("DESCRIPTION", "What is to be seen in the shot.")]
    color: Annotated[
        Literal["warm", "cold", "neutral"] | None, option("--color --tone", "The tone of the shot.")
    ] = None
    style: Annotated[
        Literal["live", "2d", "3d", "graphics"] | None,
        option("--style", "Live action, 2D or 3D animation, or pure graphics."),
    ] = None
    audio: Annotated[
        Literal["speech", "music", "ambient", "silence"] | None,
        option("--audio", "What most of the shot sounds like."),
    ] = None
    min_height: Annotated[int | None, _count("--min-height N", None, "Vertical resolution at least.")] = None
    resolution: Annotated[
        int | None, _count("--resolution N", None, "Vertical resolution: 720, 1080, ...")
    ] = None
    after: Annotated[str | None, option("--after TEXT", "What comes just before the shot.")] = None
    before: Annotated[str | None, option("--before TEXT", "What comes just after the shot.")] = None
    queries: Annotated[int, _count("--queries M", 20, "Search queries generated.")] = 2
    urls: Annotated[int, _count("--urls N", 50, "Videos looked at for each query.")] = 2
    frames: Annotated[
        int | None, _count("--frames N", 512, "Frames of a video; by default 64, 128 or 192 by its length.")
    ] = None
    constraints: Annotated[
        Literal["exact", "measured", "asked", "off"],
        option(
            "--constraints",
            "The resolution is checked; or tone, style and sound too, as measured; or all are passed to the "
            "reasoner as text only; or ignored.",
        ),
    ] = "exact"

    @cached_property
    def request(self) -> ShotRequest:
        """The request that the flags describe."""
        from rag.agents.shotfinder.constraints import Constraints
        from rag.agents.shotfinder.records import ShotRequest

        constraints = Constraints(
            self.color,
            self.style,
            self.audio,
            self.min_height,
            self.resolution,
            _neighbour("--after", self.after),
            _neighbour("--before", self.before),
        )
        return ShotRequest(words(self.description), constraints)

    @cached_property
    def settings(self) -> ShotSettings:
        from rag.agents.runtime.frame_source import fixed_budget
        from rag.agents.shotfinder.records import FRAME_BUDGET, ShotSettings

        budget = FRAME_BUDGET if self.frames is None else fixed_budget(self.frames)
        return ShotSettings(
            queries=self.queries, urls=self.urls, budget=budget, constraint_mode=self.constraints
        )

    def agent(self, environment: WebEnvironment) -> Callable[..., ShotRun]:  # noqa: ARG002 (needs nothing of it)
        from rag.agents.shotfinder.agent import find_shot

        return find_shot

    def cited(self, run: ShotRun) -> Cited | None:
        shot = run.shot
        return None if shot is None else Cited("shot", shot.url, shot.start, shot.end)

    def cost(self, run: ShotRun) -> str:
        return counted_each(search=run.searches, video=len(run.looks), token=run.tokens)


def _neighbour(option: str, text: str | None) -> str:
    """What comes before or after; empty where the option was not given."""
    if text is not None and not any(character.isalnum() for character in text):
        raise UsageError(
            f"{option} {text!r}: it holds no word; leave it out, or say what is to be seen there"
        )
    return words(text or "")


@dataclass(kw_only=True)
class VideoBrowser(WebCommand, QuestionCommand):
    """Answer a question that takes several videos (Video-Browser).

    It searches, watches what it finds, and searches again. A library that holds the videos gives stored
    embeddings. Documents are not read. Exit code 1 where nothing that was found answers it, or the run
    failed; the result says which.
    """

    package = "video_browser"

    loops: Annotated[int, _count("--loops T", 50, "Search loops at most.")] = 5
    videos: Annotated[int, _count("--videos K", 50, "Videos watched in each loop.")] = 3
    frames: Annotated[int, _count("--frames N", 256, "Frames of the sparse look.")] = 16
    sparse: Annotated[
        Literal["look", "stored"], option("--sparse", "Look at sparse frames, or at stored frame embeddings.")
    ] = "look"

    @cached_property
    def settings(self) -> BrowserSettings:
        from rag.agents.video_browser.records import BrowserSettings

        return BrowserSettings(
            max_steps=self.loops, videos=self.videos, sparse=self.sparse, sparse_frames=self.frames
        )

    def agent(self, environment: WebEnvironment) -> Callable[..., BrowseRun]:  # noqa: ARG002 (as ShotFinder)
        from rag.agents.video_browser.agent import run_video_browser

        return partial(run_video_browser, must_choose=self.must_choose)

    def run(self, environment: WebEnvironment, watch: Watch) -> BrowseRun:
        """With the paths of local files in place of addresses in the citations."""
        run: BrowseRun = super().run(environment, watch)
        citations = tuple(
            replace(citation, path=environment.path_of(citation.path) or citation.path)
            for citation in run.answer.citations
        )
        return replace(run, answer=replace(run.answer, citations=citations))

    def cost(self, run: BrowseRun) -> str:
        return counted_each(loop=run.loops, search=run.searches, video=len(run.watched), token=run.tokens)


@dataclass(kw_only=True)
class VideoDetective(QuestionCommand):
    """Answer QUESTION about one VIDEO, from a few looks at it (VideoDetective).

    It looks where an answer is likely, and again until it is sure, and shows what it looked at and why.
    Exit code 1 where nothing that was found answers it.
    """

    package = "video_detective"

    video: IndexedVideo
    preset: Annotated[
        Literal["tuned", "paper"],
        option("--preset", "Settings tuned here, or the paper's equations as printed."),
    ] = "tuned"
    frames: Annotated[int, _count("--frames N", 512, "Frames shown in the end.")] = 32
    looks: Annotated[int, _count("--looks N", 1000, "Looks at a question of four options.")] = 10

    def inputs(self) -> tuple[Path | None, ...]:
        return (self.video,)

    @cached_property
    def settings(self) -> DetectiveSettings:
        from rag.agents.video_detective.records import PRESETS

        return replace(PRESETS[self.preset], frames=self.frames, base_steps=self.looks)

    def open(self) -> AbstractContextManager[LibraryEnvironment]:
        return open_library_environment(self.session)

    def status(self, environment: LibraryEnvironment) -> Iterable[str]:
        video_id = environment.library.video_id(os.fsdecode(self.video))
        return unsearchable_lines(environment.library, {video_id})

    def run(self, environment: LibraryEnvironment, watch: Watch) -> DetectiveResult:
        from rag.agents.video_detective import agent

        detective = agent.VideoDetective(
            environment.library, self.settings, reasoner=environment.reasoner, must_choose=self.must_choose
        )
        return detective.investigate(os.fsdecode(self.video), self.request, watch)

    def cost(self, run: DetectiveResult) -> str:
        tokens = run.usage.prompt_tokens + run.usage.completion_tokens
        return counted_each(look=len(run.looks), frame=len(run.frame_times), token=tokens)


AGENTS: dict[str, tuple[type[AgentCommand], str]] = {
    "investigate": (VideoDetective, "video-detective"),
    "browse": (VideoBrowser, "video-browser"),
    "shots": (ShotFinder, "shotfinder"),
    "recall": (Raclo, "raclo"),
}
"""Each agent by what it is for: its command, and the name of its paper's system, which works too."""
app = typer.Typer(help="Run an agent on one question, and show its steps.", rich_markup_mode=None)
for name, (kind, paper) in AGENTS.items():
    app.command(name)(command(kind))
    app.command(paper, hidden=True)(command(kind))
