"""`rag agent shotfinder`: a shot of a web's videos, by its description and constraints."""

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
from rag.errors import UsageError

if TYPE_CHECKING:
    from rag.agents.runtime.trace import Watch
    from rag.agents.shotfinder.records import ShotRequest, ShotRun, ShotSettings


@dataclass(kw_only=True)
class ShotFinder(WebCommand["ShotRun"]):
    """Imagine, search and localize one shot. A library that holds the web's videos gives the measurements.

    Constraints may be combined. Exit code 1 where no shot was found (N/A), or nothing could be looked at.
    """

    description: Annotated[str, typer.Argument(metavar="DESCRIPTION", help="What is to be seen in the shot.")]
    color: Annotated[
        Literal["warm", "cold", "neutral"] | None,
        typer.Option("--color", "--tone", help="The tone of the shot."),
    ] = None
    style: Annotated[
        Literal["live", "2d", "3d", "graphics"] | None,
        typer.Option("--style", help="Live action, 2D or 3D animation, or pure graphics."),
    ] = None
    audio: Annotated[
        Literal["speech", "music", "ambient", "silence"] | None,
        typer.Option("--audio", help="What most of the shot sounds like."),
    ] = None
    min_height: Annotated[
        int | None, typer.Option("--min-height", metavar="N", min=1, help="Vertical resolution at least.")
    ] = None
    resolution: Annotated[
        int | None,
        typer.Option("--resolution", metavar="N", min=1, help="Vertical resolution: 720, 1080, ..."),
    ] = None
    after: Annotated[
        str | None, typer.Option("--after", metavar="TEXT", help="What comes just before the shot.")
    ] = None
    before: Annotated[
        str | None, typer.Option("--before", metavar="TEXT", help="What comes just after the shot.")
    ] = None
    queries: Annotated[
        int, typer.Option("--queries", metavar="M", min=1, max=20, help="Search queries generated.")
    ] = 2
    urls: Annotated[
        int, typer.Option("--urls", metavar="N", min=1, max=50, help="Videos looked at for each query.")
    ] = 2
    frames: Annotated[
        int | None,
        typer.Option(
            "--frames",
            metavar="N",
            min=1,
            max=512,
            help="Frames of a video; by default 64, 128 or 192 by its length.",
        ),
    ] = None
    constraints: Annotated[
        Literal["measured", "asked", "off"],
        typer.Option(
            "--constraints", help="Checked by measurements, passed to the reasoner as text only, or ignored."
        ),
    ] = "measured"

    def prepare(self) -> None:
        assert self.request is not None
        self._faults()

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
        from rag.agents.runtime.frame_source import SHOTFINDER, fixed_budget
        from rag.agents.shotfinder.records import ShotSettings

        budget = SHOTFINDER if self.frames is None else fixed_budget(self.frames)
        return ShotSettings(
            queries=self.queries, urls=self.urls, budget=budget, constraint_mode=self.constraints
        )

    @property
    def view(self) -> AgentView:
        from rag.agents.shotfinder import view

        return view

    def run(self, environment: WebEnvironment, watch: Watch) -> ShotRun:
        from rag.agents.shotfinder.agent import find_shot

        return find_shot(
            self.request,
            environment.web,
            environment.reasoner,
            environment.frame_source,
            self.settings,
            watch=watch,
            wait=self.wait(environment),
        )

    def text(self, run: ShotRun) -> Iterable[str]:
        from rag.agents.shotfinder.view import result_lines

        return result_lines(run, line_width())

    def cited(self, run: ShotRun) -> Cited | None:
        shot = run.shot
        return None if shot is None else Cited("shot", shot.url, shot.start, shot.end)

    def cost(self, run: ShotRun) -> str:
        return f"{run.searches} searches, {len(run.looks)} videos, {run.tokens} tokens"


def _neighbour(option: str, text: str | None) -> str:
    """What comes before or after; empty where the option was not given."""
    if text is not None and not any(character.isalnum() for character in text):
        raise UsageError(
            f"{option} {text!r}: it holds no word; leave it out, or say what is to be seen there"
        )
    return words(text or "")
