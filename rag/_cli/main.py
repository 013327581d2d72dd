"""The command `rag`: its subcommands, and what an error looks like from outside."""

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
    epilog="Exit codes: 0 all done, 1 nothing could be done, 2 wrong usage, 3 done in part.",
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
app.command("shots", short_help="Say what was measured on a video.")(shots.shots)
app.command("show", short_help="Look at a citation.")(show.show)
app.command("stats", short_help="Say what the library holds.")(stats.stats)
app.command("doctor", short_help="Check this machine and the library.")(doctor.doctor)
app.command("remove", short_help="Take files out of the library.")(remove.remove)
app.add_typer(models.app, name="models", short_help="List, fetch and check model weights.")
app.add_typer(eval_app, name="eval", short_help="Try systems on a benchmark.")
app.add_typer(agent_app, name="agent", short_help="Let an agent work on a question.")
app.add_typer(web_commands.app, name="web", short_help="Build and serve a frozen web of videos.")
app.add_typer(workbench.app, name="workbench", short_help="Make videos of a world known exactly.")
app.command("demo", short_help="See it all work on a small corpus.")(demo.demo)


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

    A `RagError` or a wrong word is one line on stderr, an interrupt is one
    line and 130, a closed pipe is silent; anything else is a bug of ours and
    is raised, with its traceback.
    """
    try:
        code = app(list(arguments), prog_name="rag", standalone_mode=False)
    except RagError as error:
        echo_stderr(f"rag: {error}")
        return error.exit_code
    except typer.TyperException as error:
        return _wrong_usage(error)
    except (typer.Abort, SystemExit) as stop:
        # typer turns an EOFError and a BrokenPipeError from anywhere below into these; to us they are bugs.
        bug = stop.__cause__ or stop.__context__
        if isinstance(bug, EOFError | BrokenPipeError):
            raise bug from None
        raise
    if code == 130:
        echo_stderr("rag: interrupted")
    return int(code or 0)


def _wrong_usage(error: typer.TyperException) -> int:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "rag"
    # A word of pydantic's, which typer asks whether a choice is one.
    message = " ".join(error.format_message().replace("Value error, ", "").split()).rstrip(".")
    echo_stderr(f"{command}: {message}. Try '{command} --help'.")
    return error.exit_code


if __name__ == "__main__":
    run()
