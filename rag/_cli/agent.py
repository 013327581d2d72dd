"""`rag agent`: agents that look, think and look again; one small file each."""

from __future__ import annotations

import typer

from rag._cli import agent_raclo, agent_shotfinder, agent_video_browser, agent_video_detective

app = typer.Typer(help="Let an agent work on one question, and watch it.", rich_markup_mode=None)
app.command("raclo")(agent_raclo.raclo)
app.command("shotfinder")(agent_shotfinder.shotfinder)
app.command("video-browser")(agent_video_browser.video_browser)
app.command("video-detective")(agent_video_detective.video_detective)
