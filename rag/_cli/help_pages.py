"""docs/reference/cli.md, made from the commands themselves; a test compares, so the page cannot rot.

Write it anew with `python -m rag._cli.help_pages > docs/reference/cli.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import typer

from rag._cli.main import app

_COLUMNS = 96

_HEAD = """# The command line

Made from the program by `python -m rag._cli.help_pages > docs/reference/cli.md`; a test compares the two.

stdout is data: text for people on a terminal, JSON (docs/reference/json.md) into a pipe or a file. stderr is
talk: progress, and one line for each file that could not be used. Settings come from defaults, then
`rag.toml`, then the environment (`RAG_LIBRARY`, `RAG_SEARCH__TOP_K`, ...), then the flags below.
Exit codes: 0 all done, 1 nothing could be done, 2 wrong usage, 3 done in part, 130 interrupted.
"""


def markdown() -> str:
    """The page: the help of `rag` and of each subcommand, in the order of `rag --help`."""
    command: Any = typer.main.get_command(app)
    parts = [_HEAD]
    for name, text in _helps(command, "rag", None):
        parts.append(f"## {name}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def _helps(command: Any, name: str, parent: Any) -> Iterator[tuple[str, str]]:
    context = command.context_class(
        command, info_name=name, parent=parent, terminal_width=_COLUMNS, **_inherited(command)
    )
    text = command.get_help(context)
    yield context.command_path, "\n".join(line.rstrip() for line in text.splitlines())
    for inner in getattr(command, "commands", {}):
        yield from _helps(command.commands[inner], inner, context)


def _inherited(command: Any) -> dict[str, Any]:
    return {key: value for key, value in command.context_settings.items() if key == "help_option_names"}


if __name__ == "__main__":
    sys.stdout.write(markdown())
