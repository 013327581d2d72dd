"""Options and arguments of commands, written as the help prints them."""

from __future__ import annotations

from typing import Any

import typer


def option(usage: str, about: str, **settings: Any) -> Any:
    """An option of a command.

    `usage`: its names, and the name of its value unless it is a flag: `-o --option TEXT`. `about`: its help.
    `settings`: of `typer.Option`.
    """
    names, metavar = _split(usage)
    return typer.Option(*names, metavar=metavar, help=about, **settings)


def argument(name: str, about: str, **settings: Any) -> Any:
    """An argument of a command; `about`: its help, `settings`: of `typer.Argument`."""
    return typer.Argument(metavar=name, help=about, **settings)


def _split(usage: str) -> tuple[list[str], str | None]:
    *names, last = usage.split()
    return ([*names, last], None) if last.startswith("-") else (names, last)
