"""Options and arguments of commands, written as the help prints them."""

from __future__ import annotations

from typing import Any

import typer


def option(usage: str, about: str, **settings: Any) -> Any:
    """An option of a command.

    `usage`: its names, and the name of its value unless it is a flag: `-o --option TEXT`. `about`: its help.
    `settings`: of `typer.Option`.
    """
    names = usage.split()
    metavar = None if names[-1].startswith("-") else names.pop()
    return typer.Option(*names, metavar=metavar, help=about, **settings)  # noqa: TID251 (here alone)


def argument(name: str, about: str, **settings: Any) -> Any:
    """An argument of a command; `about`: its help, `settings`: of `typer.Argument`."""
    return typer.Argument(metavar=name, help=about, **settings)  # noqa: TID251 (here alone)
