"""The pages of the documentation: their blocks, and the `rag` commands that they print."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes.sources import ROOT

BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SHELL = ("", "sh", "bash", "console")
SEPARATORS = {"|", ";", "&&", "&"}
GENERATED = ("reference", "reports")
"""Folders of pages that are written from the code or from runs."""
PAGES = [
    page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
    if page.relative_to(ROOT).parts[1:2] not in [(name,) for name in GENERATED]
]


@dataclass
class Command:
    """One `rag` command of a page."""

    words: list[str] = field(default_factory=list)
    """What stands after `rag`, without quotation marks."""
    environment: dict[str, str] = field(default_factory=dict)
    """The settings that stand before `rag`."""
    piped: bool = False
    """Whether it reads what the command before it prints."""
    into: str = ""
    """The file that stdout goes to."""

    def __str__(self) -> str:
        return shlex.join(self.words)


def blocks(page: Path, *languages: str) -> list[str]:
    """The blocks of a page whose fences name one of these languages."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [text for language, text in found if language in languages]


def commands(text: str) -> Iterator[Command]:
    """The `rag` commands of a block; lines that a backslash continues are one."""
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&>")
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:
            continue  # an output, with a quotation mark
        before = ""
        while words:
            end = next((at for at, word in enumerate(words) if word in SEPARATORS), len(words))
            if (command := _command(words[:end])) is not None:
                command.piped = before == "|"
                yield command
            before, words = "".join(words[end : end + 1]), words[end + 1 :]


def _command(words: list[str]) -> Command | None:
    environment = {}
    while words and (match := re.fullmatch(r"([A-Z_]+)=(.*)", words[0])):
        environment[match[1]] = match[2]
        words = words[1:]
    if words[:1] in (["$"], ["time"]):
        words = words[1:]
    if words[:1] != ["rag"] or len(words) < 2:
        return None
    into = ""
    if ">" in words:
        at = words.index(">")
        words, into = words[:at], words[at + 1]
    return Command(words[1:], environment, into=into)


def printed(page: Path) -> list[Command]:
    """The `rag` commands of a page, in order."""
    return [command for block in blocks(page, *SHELL) for command in commands(block)]
