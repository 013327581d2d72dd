"""`rag agent raclo`: a video and a moment of it, by what a person remembers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rag._cli.agent_command import AgentView, Cited, WebCommand
from rag._cli.agent_environment import WebEnvironment
from rag._cli.output import line_width
from rag._cli.session import words

if TYPE_CHECKING:
    from rag.agents.raclo.records import RacloRun, RacloSettings
    from rag.agents.runtime.trace import Watch
    from rag.reasoners.roles import Memory


@dataclass(kw_only=True)
class Raclo(WebCommand["RacloRun"]):
    """Recall, search, verify and localize. Give --global, --moment or both; the others go with a moment.

    A library that holds the videos gives stored embeddings and sound. Exit code 1 where nothing was found.
    """

    whole: Annotated[
        str, typer.Option("--global", metavar="TEXT", help="G: the impression of the whole.")
    ] = ""
    moment: Annotated[str, typer.Option("--moment", metavar="TEXT", help="K: one image of it.")] = ""
    before: Annotated[
        str, typer.Option("--before", metavar="TEXT", help="T: what was just before the moment.")
    ] = ""
    after: Annotated[str, typer.Option("--after", metavar="TEXT", help="T: what was just after it.")] = ""
    sound: Annotated[
        str, typer.Option("--sound", metavar="TEXT", help="A: what was heard at the moment.")
    ] = ""
    queries: Annotated[
        int, typer.Option("--queries", metavar="Q", min=1, max=20, help="Search queries generated.")
    ] = 2
    urls: Annotated[
        int, typer.Option("--urls", metavar="U", min=1, max=50, help="Videos taken of each query.")
    ] = 2
    frames: Annotated[
        int | None,
        typer.Option(
            "--frames",
            metavar="N",
            min=1,
            max=512,
            help="Frames to localize in; by default 32 to 192 by length.",
        ),
    ] = None
    look: Annotated[
        Literal["sampled", "stored"],
        typer.Option("--look", help="Look at sampled frames, or at stored frame embeddings."),
    ] = "sampled"

    def prepare(self) -> None:
        assert self.memory is not None
        self._faults()

    @cached_property
    def memory(self) -> Memory:
        """The memory that the flags describe."""
        from rag.agents.raclo.records import cues_of, only_cues
        from rag.reasoners.roles import Memory

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
        from rag.agents.raclo.records import RacloSettings
        from rag.agents.runtime.frame_source import RACLO, fixed_budget

        budget = RACLO if self.frames is None else fixed_budget(self.frames)
        return RacloSettings(queries=self.queries, urls=self.urls, budget=budget, frames=self.look)

    @property
    def view(self) -> AgentView:
        from rag.agents.raclo import view

        return view

    def run(self, environment: WebEnvironment, watch: Watch) -> RacloRun:
        from rag.agents.raclo.agent import run_raclo
        from rag.agents.raclo.verification import second_judge

        return run_raclo(
            self.memory,
            environment.web,
            environment.reasoner,
            environment.frame_source,
            self.settings,
            second=second_judge(environment.reasoner),
            watch=watch,
            wait=self.wait(environment),
        )

    def text(self, run: RacloRun) -> Iterable[str]:
        from rag.agents.raclo.view import result_lines

        return result_lines(run, line_width())

    def cited(self, run: RacloRun) -> Cited | None:
        if run.answer is None:
            return None
        moment = run.answer.moment
        interval = (None, 0.0) if moment is None else (moment.start, moment.end)
        return Cited("answer", run.answer.url, *interval)

    def cost(self, run: RacloRun) -> str:
        return f"{run.searches} searches, {len(run.candidates)} videos, {run.tokens} tokens"
