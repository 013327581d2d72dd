"""`rag agent`: one command for each agent."""

from __future__ import annotations

import typer

from rag._cli.agent_command import command
from rag._cli.agent_raclo import Raclo
from rag._cli.agent_shotfinder import ShotFinder
from rag._cli.agent_video_browser import VideoBrowser
from rag._cli.agent_video_detective import VideoDetective

app = typer.Typer(help="Run an agent on one question, and show its steps.", rich_markup_mode=None)
app.command("raclo")(command(Raclo))
app.command("shotfinder")(command(ShotFinder))
app.command("video-browser")(command(VideoBrowser))
app.command("video-detective")(command(VideoDetective))
