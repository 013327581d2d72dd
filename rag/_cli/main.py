"""The command `rag`: its subcommands, and how errors are reported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from rag._cli import ask, demo, doctor, index, localize, models, remove, search, shots, show, stats, workbench
from rag._cli import web as web_commands
from rag._cli.agent import app as agent_app
from rag._cli.eval_commands import app as eval_app
from rag._cli.output import echo_stderr, open_standard_streams
from rag.errors import RagError

app = typer.Typer(
    name="rag",
    help="Ask questions of your own videos and documents, offline.",
    epilog="Exit codes: 0 success, 1 failure, 2 usage error, 3 partial success.",
    add_completion=False,
    # Plain help: the same at every width that documentation compares, and read without rich.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)
app.command("index", cls=index.IndexCommand, short_help="Index videos and documents.")(index.index)
app.command("ask", short_help="Answer a question, with citations.")(ask.ask)
app.command("search", short_help="Find windows of videos, and passages.")(search.search)
app.command("localize", short_help="Find the best windows of one video.")(localize.localize)
app.command("shots", short_help="List the shots of a video, as measured.")(shots.shots)
app.command("show", short_help="Show a citation.")(show.show)
app.command("stats", short_help="Show library statistics.")(stats.stats)
app.command("doctor", short_help="Check the environment and the library.")(doctor.doctor)
app.command("remove", short_help="Remove files from the library.")(remove.remove)
app.add_typer(models.app, name="models", short_help="List, download and verify model weights.")
app.add_typer(eval_app, name="eval", short_help="Run evaluations.")
app.add_typer(agent_app, name="agent", short_help="Run an agent on a question.")
app.add_typer(web_commands.app, name="web", short_help="Build and serve a frozen web of videos.")
app.add_typer(workbench.app, name="workbench", short_help="Make synthetic videos with exact annotations.")
app.command("demo", short_help="Try everything on a small synthetic corpus.")(demo.demo)


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
    """The entry point: `main`, and the process ends with its exit code."""
    open_standard_streams()
    sys.exit(main(sys.argv[1:]))


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
    echo_stderr(f"{command}: {message}. Try '{command} --help'.")
    return error.exit_code


if __name__ == "__main__":
    run()
