"""`rag agent video-browser`: a question, answered from a frozen web of videos."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rag._cli.agent_command import AgentView, Options, Question, WebCommand
from rag._cli.agent_environment import WebEnvironment
from rag._cli.output import width
from rag._cli.session import words

if TYPE_CHECKING:
    from rag.agents.runtime.trace import Watch
    from rag.agents.video_browser.records import BrowserSettings, BrowseRun
    from rag.records import Question as ParsedQuestion


@dataclass(kw_only=True)
class VideoBrowser(WebCommand["BrowseRun"]):
    """Search, watch and answer on a frozen web. A library that holds its videos gives stored embeddings.

    Exit code 1 where nothing that was found answers it, or the run failed; the result says which.
    """

    question: Question
    option: Options = None
    loops: Annotated[
        int, typer.Option("--loops", metavar="T", min=1, max=50, help="Search loops at most.")
    ] = 5
    videos: Annotated[
        int, typer.Option("--videos", metavar="K", min=1, max=50, help="Videos watched in each loop.")
    ] = 3
    frames: Annotated[
        int, typer.Option("--frames", metavar="N", min=1, max=256, help="Frames of the sparse look.")
    ] = 16
    sparse: Annotated[
        Literal["look", "stored"],
        typer.Option("--sparse", help="Look at sparse frames, or at stored frame embeddings."),
    ] = "look"
    paradigm: Annotated[
        Literal["pyramidal", "direct", "summarization", "text-search", "tool-free"],
        typer.Option("--paradigm", help="The agent itself, or a baseline."),
    ] = "pyramidal"

    def prepare(self) -> None:
        assert self.parsed is not None
        self._faults()

    @cached_property
    def parsed(self) -> ParsedQuestion:
        """The question and its options, parsed."""
        from rag.questions import parse_question

        return parse_question(words(self.question), tuple(map(words, self.option or ())))

    @cached_property
    def settings(self) -> BrowserSettings:
        from rag.agents.video_browser.records import BrowserSettings

        return BrowserSettings(
            paradigm=self.paradigm,
            max_steps=self.loops,
            videos=self.videos,
            sparse=self.sparse,
            sparse_frames=self.frames,
        )

    @property
    def view(self) -> AgentView:
        from rag.agents.video_browser import view

        return view

    def run(self, environment: WebEnvironment, watch: Watch) -> BrowseRun:
        from rag.agents.video_browser.agent import run_video_browser

        run = run_video_browser(
            self.parsed,
            environment.web,
            environment.reasoner,
            environment.frame_source,
            self.settings,
            watch=watch,
            wait=self.wait(environment),
        )
        citations = tuple(
            replace(citation, path=environment.path_of(citation.path) or citation.path)
            for citation in run.answer.citations
        )
        return replace(run, answer=replace(run.answer, citations=citations))

    def text(self, run: BrowseRun) -> Iterable[str]:
        from rag.rendering.terminal import answer_lines

        return answer_lines(run.answer, width=width(), library=self.session.named_library)

    def cost(self, run: BrowseRun) -> str:
        watched = len(run.watched)
        return f"{run.loops} loops, {run.searches} searches, {watched} videos, {run.tokens} tokens"
