"""The subcommands of `rag`, as a typer application."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from rag._cli.options import option

_COMMANDS = {
    "index": ("index", "index", "Index videos and documents."),
    "ask": ("ask", "ask", "Answer a question, with citations."),
    "search": ("search", "search", "Find windows of videos, and passages."),
    "localize": ("library", "localize", "Find the best windows of one video."),
    "highlights": ("search", "highlights", "Find the moments least like the rest of the library."),
    "serve": ("serve", "serve", "Serve a page, a REST API and MCP."),
    "mcp": ("mcp", "mcp", "Give an agent the library, over MCP."),
    "shots": ("library", "shots", "List the shots of a video, as measured."),
    "show": ("show", "show", "Show a citation."),
    "export": ("export", "export", "Export windows to an editing program."),
    "stats": ("library", "stats", "Show library statistics."),
    "doctor": ("doctor", "doctor", "Check the environment and the library."),
    "remove": ("library", "remove", "Remove files from the library."),
    "library": ("libraries", "app", "Merge, export and copy libraries."),
    "demo": ("demo", "demo", "Try everything on clips of photographs."),
    "models": ("models", "app", "List and download model weights."),
    "eval": ("eval_commands", "app", "Run evaluations."),
    "agent": ("agent", "app", "Run an agent on a question."),
    "web": ("web", "app", "Build and serve a frozen web of videos."),
}
"""Subcommand to its module below `rag._cli`, the function or app there, and its line in `rag --help`."""
# Plain help: the same at every width that documentation compares, and read without rich.
_PLAIN: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 96},
}


class LazyGroup(TyperGroup):
    """Imports the module of a subcommand only when that subcommand runs: `rag --help` needs none of them."""

    def __init__(self, **attributes: Any) -> None:
        """With the names alone, by which typer lists and suggests."""
        super().__init__(**attributes)
        self.commands = dict.fromkeys(_COMMANDS)  # type: ignore[assignment]  # `get_command` makes them

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 (typer's signature)
        """The subcommand of that name; None where there is none."""
        if cmd_name not in _COMMANDS:
            return None
        module, attribute, short_help = _COMMANDS[cmd_name]
        found = getattr(import_module(f"rag._cli.{module}"), attribute)
        if isinstance(found, typer.Typer):
            command: Any = typer.main.get_group(found)
        else:
            single = typer.Typer(**_PLAIN)
            single.command(cmd_name, short_help=short_help)(found)
            command = typer.main.get_command(single)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 (typer's signature)
        """Write the list of subcommands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, row[2]) for name, row in _COMMANDS.items()])


app = typer.Typer(
    name="rag",
    cls=LazyGroup,
    help="Ask questions of your own videos and documents, offline.",
    epilog="Exit codes: 0 success, 1 failure, 2 usage error, 3 partial success.",
    **_PLAIN,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from rag import __version__

        print(f"rag {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    _version: Annotated[
        bool, option("--version", "Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        sys.stderr.write(context.get_help() + "\n")
        raise typer.Exit(2)
