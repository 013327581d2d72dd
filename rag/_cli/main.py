"""The command `rag`: its subcommands, and how errors are reported."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from corpora import UNSUPPORTED_PLATFORM
from rag._cli.output import echo_stderr, open_standard_streams
from rag.errors import RagError

_COMMANDS = {
    "index": ("index", "index", "Index videos and documents."),
    "ask": ("ask", "ask", "Answer a question, with citations."),
    "search": ("search", "search", "Find windows of videos, and passages."),
    "localize": ("library", "localize", "Find the best windows of one video."),
    "serve": ("serve", "serve", "Serve a page, a REST API and MCP."),
    "mcp": ("mcp", "mcp", "Give an agent the library, over MCP."),
    "shots": ("library", "shots", "List the shots of a video, as measured."),
    "show": ("show", "show", "Show a citation."),
    "export": ("export", "export", "Export windows to an editing program."),
    "stats": ("library", "stats", "Show library statistics."),
    "calibrate": ("calibrate", "calibrate", "Calibrate measurements on labelled videos."),
    "doctor": ("doctor", "doctor", "Check the environment and the library."),
    "remove": ("library", "remove", "Remove files from the library."),
    "demo": ("demo", "demo", "Try everything on a small synthetic corpus."),
    "models": ("models", "app", "List, download and verify model weights."),
    "eval": ("eval_commands", "app", "Run evaluations."),
    "agent": ("agent", "app", "Run an agent on a question."),
    "web": ("web", "app", "Build and serve a frozen web of videos."),
    "workbench": ("workbench", "app", "Make synthetic videos with exact annotations."),
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

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 (typer's signature)
        """The subcommands, in the order of the help."""
        return list(_COMMANDS)

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
            kind = getattr(found, "command_class", None)
            single.command(cmd_name, cls=kind, short_help=short_help)(found)
            command = typer.main.get_command(single)
        command.name = cmd_name
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The subcommand that is named. Raises a usage error, with the nearest names, where there is none."""
        try:
            return super().resolve_command(ctx, args)
        except typer.TyperException as error:
            if near := get_close_matches(args[0], _COMMANDS):
                error.message = f"{error.message.rstrip('.')}. Did you mean {', '.join(map(repr, near))}?"
            raise

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
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        sys.stderr.write(context.get_help() + "\n")
        raise typer.Exit(2)


def run() -> NoReturn:
    """The entry point: `main`, and the process ends with its exit code; on Windows one line and 2."""
    open_standard_streams()
    if sys.platform == "win32":
        sys.stderr.write(f"rag: {UNSUPPORTED_PLATFORM}\n")
        sys.exit(2)
    # What is imported lives to the end. Looking through it for garbage, twice over when all is done, took a
    # sixth of the CPU of a small `rag index`.
    gc.set_threshold(10_000)
    code = main(sys.argv[1:])
    gc.freeze()
    sys.exit(code)


def main(arguments: Sequence[str]) -> int:
    """Run one command; returns its exit code.

    A `RagError` or a usage error is one line on stderr, an interrupt is one line and 130, a closed pipe is
    silent; anything else is a bug and is raised, with its traceback.
    """
    try:
        code = app(list(arguments), prog_name="rag", standalone_mode=False)
    except RagError as error:
        echo_stderr(f"rag: {error}")
        return error.exit_code
    except typer.TyperException as error:
        return _usage_error(error)
    except (typer.Abort, SystemExit) as stop:
        # typer turns an EOFError and a BrokenPipeError from anywhere below into these; here they are bugs.
        bug = stop.__cause__ or stop.__context__
        if isinstance(bug, EOFError | BrokenPipeError):
            raise bug from None
        raise
    if code == 130:
        echo_stderr("rag: interrupted")
    return int(code or 0)


def _usage_error(error: typer.TyperException) -> int:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "rag"
    # pydantic, by which typer checks choices, puts this before its message.
    message = " ".join(error.format_message().replace("Value error, ", "").split()).rstrip(".")
    stop = "" if message.endswith("?") else "."
    echo_stderr(f"{command}: {message}{stop} Try '{command} --help'.")
    return error.exit_code


if __name__ == "__main__":
    run()
