"""`rag agent video-detective`: a question about one long video of the library."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag._cli.agent_command import AgentCommand, AgentView, Options, Question
from rag._cli.agent_environment import LibraryEnvironment, open_library_environment
from rag._cli.output import width
from rag._cli.session import words
from rag._cli.unread import unread_lines

if TYPE_CHECKING:
    from rag.agents.runtime.trace import Watch
    from rag.agents.video_detective.records import DetectiveResult, DetectiveSettings
    from rag.records import Question as ParsedQuestion


@dataclass(kw_only=True)
class VideoDetective(AgentCommand["DetectiveResult", LibraryEnvironment]):
    """Answer QUESTION from a few looks at VIDEO, and say what was looked at and why.

    Exit code 1 where nothing that was found answers it.
    """

    video: Annotated[
        Path,
        typer.Argument(
            metavar="VIDEO", help="An indexed video: its path or the end of it, its id or the start of that."
        ),
    ]
    question: Question
    option: Options = None
    must_choose: Annotated[
        bool, typer.Option("--must-choose", help="Take one of the options even without evidence.")
    ] = False
    frames: Annotated[
        int, typer.Option("--frames", metavar="N", min=1, max=512, help="Frames shown in the end.")
    ] = 32
    looks: Annotated[
        int,
        typer.Option("--looks", metavar="N", min=1, max=1000, help="Looks at a question of four options."),
    ] = 10

    @property
    def input(self) -> tuple[Path | None, ...]:
        return (self.video,)

    def prepare(self) -> None:
        assert self.parsed is not None

    @cached_property
    def parsed(self) -> ParsedQuestion:
        """The question and its options, parsed."""
        from rag.questions import parse_question

        return parse_question(words(self.question), tuple(map(words, self.option or ())))

    @cached_property
    def settings(self) -> DetectiveSettings:
        from rag.agents.video_detective.records import DetectiveSettings

        return DetectiveSettings(frames=self.frames, base_steps=self.looks)

    @cached_property
    def view(self) -> AgentView:
        from rag.agents.video_detective.view import DetectiveView

        return DetectiveView()

    def open(self) -> AbstractContextManager[LibraryEnvironment]:
        return open_library_environment(self.session)

    def status(self, environment: LibraryEnvironment) -> Iterable[str]:
        video_id = environment.library.video_id(os.fsdecode(self.video))
        return unread_lines(self.session, environment.library, {video_id})

    def run(self, environment: LibraryEnvironment, watch: Watch) -> DetectiveResult:
        from rag.agents.video_detective import agent

        detective = agent.VideoDetective(
            environment.library, self.settings, reasoner=environment.reasoner, must_choose=self.must_choose
        )
        return detective.investigate(os.fsdecode(self.video), self.parsed, watch)

    def text(self, run: DetectiveResult) -> Iterable[str]:
        from rag.rendering.terminal import answer_lines

        return answer_lines(run.answer, width=width(), library=self.session.named_library)
