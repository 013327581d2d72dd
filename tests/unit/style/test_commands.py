"""Each `rag` command that a page prints is one that the command line takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest
import typer

from rag._cli.commands import app
from tests.fakes.sources import ROOT

GENERATED = ("reference", "reports")
"""Folders of pages that are written from the code or from runs."""
BLOCK = re.compile(r"^ *```(?:sh|bash|console|)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
PAGES = [
    page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
    if page.relative_to(ROOT).parts[1:2] not in [(name,) for name in GENERATED]
]


def printed(text: str) -> Iterator[list[str]]:
    """The words after `rag` of each command of a page's blocks; lines that a backslash continues are one."""
    for block in BLOCK.findall(text):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            for part in re.split(r"(?<=\s);|;(?=\s)|&&|\|(?=\s)", line):
                try:
                    words = shlex.split(part, comments=True)
                except ValueError:
                    continue  # an output, with a quotation mark
                while words and (re.fullmatch(r"[A-Z_]+=\S*", words[0]) or words[0] in ("$", "time")):
                    words.pop(0)
                if words and words[0] == "rag" and len(words) > 1:
                    yield list(takewhile(lambda word: word not in (">", "&"), words[1:]))


def refusal(words: list[str]) -> str | None:
    """Why the command line refuses these words; None where it takes them. Nothing is run."""
    command, context = typer.main.get_command(app), None
    try:
        while isinstance(command, typer.core.TyperGroup) and words and not words[0].startswith("-"):
            context = typer.Context(command, info_name="rag", parent=context)
            _, found, words = command.resolve_command(context, words)
            assert found is not None
            command = found
        command.make_context("rag", list(words), parent=context)
    except typer.TyperException as error:
        return error.format_message()
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_the_pages_are_taken(page: Path) -> None:
    commands = printed(page.read_text(encoding="utf-8"))
    assert {shlex.join(words): why for words in commands if (why := refusal(words))} == {}


def test_a_command_that_is_none_is_found() -> None:
    text = "```\nrag serach dog\nFOO=1 rag index \\\n    --no-such DIR\nrag search dog  # best first\n```\n"
    found = [refusal(words) for words in printed(text)]
    assert len(found) == 3
    assert "serach" in str(found[0])
    assert "--no-such" in str(found[1])
    assert found[2] is None
